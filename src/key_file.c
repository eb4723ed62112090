/*
 * key_file.c
 *	  Named secret keys from the file that idgen.key_file specifies.
 *
 * Each line of the file contains a name, a 32-digit hexadecimal key, and
 * optionally the names of the databases that can use the key.  If databases
 * are named, sessions in other databases ignore the line.  A "#" begins a
 * comment.  An unquoted word with "=" after the key is an attribute.  This
 * version supports no attributes; a later version may.
 *
 * A session reads the file when it first needs a key, and again when it needs
 * one after the server has reloaded its configuration.  (If the reload finds a
 * syntax error or an unknown parameter, PgReloadTime does not change, and
 * sessions do not read the file again.)  A parallel worker would read the file
 * itself and might find different keys than its leader.  Therefore, functions
 * that use a key are PARALLEL RESTRICTED.
 *
 * Keys must not leak.  A message contains no part of a line, except for a key
 * name that the caller has given.  Memory that contained keys is overwritten
 * before it is freed.  The file is read with read(), because a stdio buffer
 * would retain a copy.
 */
#include "postgres.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "commands/dbcommands.h"
#include "miscadmin.h"
#include "storage/fd.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "arguments.h"
#include "key_file.h"
#include "radix.h"
#include "settings.h"

StaticAssertDecl(sizeof(SecretKey) == UUID_LEN, "radix.c reads a key as a uuid");

#define MAX_FILE_BYTES	(1024 * 1024)

#define WHITESPACE		KEY_FILE_WHITESPACE

/* the UTF-8 byte order mark, which some editors write at the beginning of a file */
#define BYTE_ORDER_MARK	"\xef\xbb\xbf"

typedef struct NamedKey
{
	struct NamedKey *next;
	const char *problem;		/* why it cannot be used, or NULL */
	int			line;			/* number of the line, for messages */
	SecretKey	key;
	char		name[MAX_KEY_NAME_BYTES + 1];
} NamedKey;

static NamedKey *keys = NULL;
static bool loaded = false;
static TimestampTz loaded_after;	/* PgReloadTime when the file was read */

static void
forget_keys(void)
{
	while (keys != NULL)
	{
		NamedKey   *next = keys->next;

		explicit_bzero(keys, sizeof(NamedKey));
		pfree(keys);
		keys = next;
	}
	loaded = false;
}

/* Reject a file that other users could read or replace, as the server does for an SSL key file. */
static void
require_private(const char *path, const struct stat *file)
{
	mode_t		forbidden = S_IRWXG | S_IRWXO;

	if (!S_ISREG(file->st_mode))
		ereport(ERROR,
				(errcode(ERRCODE_CONFIG_FILE_ERROR),
				 errmsg("key file \"%s\" is not a regular file", path)));
	if (file->st_uid != geteuid() && file->st_uid != 0)
		ereport(ERROR,
				(errcode(ERRCODE_CONFIG_FILE_ERROR),
				 errmsg("key file \"%s\" must be owned by the database user or root", path)));

	/* a file owned by root may be readable by the server's group */
	if (file->st_uid == 0)
		forbidden = S_IWGRP | S_IXGRP | S_IRWXO;
	if (file->st_mode & forbidden)
		ereport(ERROR,
				(errcode(ERRCODE_CONFIG_FILE_ERROR),
				 errmsg("key file \"%s\" has group or world access", path),
				 errdetail("The file must have permissions u=rw (0600) or less if owned by the database user, or permissions u=rw,g=r (0640) "
						   "or less if owned by root.")));
}

/* Return the content of the file, followed by a zero byte.  The caller must erase it. */
static char *
read_key_file(const char *path, size_t *size)
{
	struct stat file;
	char	   *content;
	ssize_t		got;
	off_t		length = 0;

	/* O_NONBLOCK, so that a named pipe does not make open() wait */
	int			fd = OpenTransientFile(path, O_RDONLY | O_NONBLOCK);

	if (fd < 0)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not open key file \"%s\": %m", path)));
	if (fstat(fd, &file) != 0)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not stat key file \"%s\": %m", path)));
	require_private(path, &file);
	if (file.st_size > MAX_FILE_BYTES)
		ereport(ERROR,
				(errcode(ERRCODE_CONFIG_FILE_ERROR),
				 errmsg("key file \"%s\" is too large", path),
				 errdetail("At most %d bytes are allowed.", MAX_FILE_BYTES)));

	/* one byte more than expected, to detect that the file has grown */
	*size = file.st_size + 1;
	content = palloc0(*size);
	while ((got = read(fd, content + length, *size - length)) > 0)
		length += got;
	if (length != file.st_size)
	{
		int			save_errno = errno;

		explicit_bzero(content, *size);
		errno = save_errno;
		if (got < 0)
			ereport(ERROR,
					(errcode_for_file_access(),
					 errmsg("could not read key file \"%s\": %m", path)));
		ereport(ERROR,
				(errcode(ERRCODE_CONFIG_FILE_ERROR),
				 errmsg("key file \"%s\" changed while it was read", path)));
	}
	CloseTransientFile(fd);
	return content;
}

static NamedKey *
find_key(const char *name, int length)
{
	Assert(length >= 0 && length <= MAX_KEY_NAME_BYTES);
	for (NamedKey *key = keys; key != NULL; key = key->next)
	{
		if (strncmp(key->name, name, length) == 0 && key->name[length] == '\0')
			return key;
	}
	return NULL;
}

/*
 * Read a database name at *line, and advance *line past it.  As in
 * pg_hba.conf, a name in double quotes may contain white space and "#", and a
 * double quote in it is written twice.  Sets *problem if the quotes are
 * invalid.
 */
static char *
read_database_name(const char **line, const char **problem)
{
	const char *p = *line;
	char	   *name;
	char	   *end;

	if (*p != '"')
	{
		*line += strcspn(p, WHITESPACE "#");
		return pnstrdup(p, *line - p);
	}

	name = end = palloc0(strlen(p));
	for (p++; *p != '\0'; p++)
	{
		if (*p == '"' && *++p != '"')
		{
			if (*p != '\0' && strchr(WHITESPACE "#", *p) == NULL)
				*problem = "White space must follow a closing quotation mark.";
			*line = p;
			return name;
		}
		*end++ = *p;
	}
	*problem = "The name of a database has no closing quotation mark.";
	*line = p;
	return name;
}

/*
 * Parse the rest of a line after the key: database names and attributes.
 * Returns whether this database may use the key.  If there are no names, every
 * database may use it.
 */
static bool
is_for_database(const char *line, const char *database, bool *has_attribute,
				const char **problem)
{
	bool		restricted = false;
	bool		found = false;

	while (*problem == NULL)
	{
		const char *word = line += strspn(line, WHITESPACE);
		char	   *name;

		if (*word == '\0' || *word == '#')
			break;
		name = read_database_name(&line, problem);
		if (*word != '"' && strchr(name, '=') != NULL)
			*has_attribute = true;
		else
		{
			restricted = true;
			found |= database != NULL && strcmp(name, database) == 0;
		}
		/* in a line "name = key", this word is the key */
		explicit_bzero(name, strlen(name));
		pfree(name);
	}
	return found || !restricted;
}

/*
 * Parse one line, without its newline, and store its key if this database may
 * use it.  If the line makes the whole file invalid, returns the reason;
 * otherwise, returns NULL.
 */
static const char *
parse_line(const char *line, int number, const char *database)
{
	const char *name = line + strspn(line, WHITESPACE);
	size_t		name_length = strcspn(name, WHITESPACE "#");
	const char *digits = name + name_length + strspn(name + name_length, WHITESPACE);
	size_t		digit_count = strcspn(digits, WHITESPACE "#");
	bool		has_attribute = false;
	const char *problem = NULL;
	NamedKey   *key;

	if (name_length == 0)
		return NULL;
	if (name_length > MAX_KEY_NAME_BYTES)
		return "The name is longer than " CppAsString2(MAX_KEY_NAME_BYTES) " bytes.";
	if (!is_for_database(digits + digit_count, database, &has_attribute, &problem) || problem != NULL)
		return problem;
	if (find_key(name, name_length) != NULL)
		return "The name occurs twice.";

	key = MemoryContextAllocZero(TopMemoryContext, sizeof(NamedKey));
	key->next = keys;
	keys = key;
	key->line = number;
	memcpy(key->name, name, name_length);
	/* a key has the size of a uuid */
	if (digit_count != 2 * SECRET_KEY_BYTES ||
		!radix_decode(&radix_16, digits, digit_count, (pg_uuid_t *) key->key.bytes))
		key->problem = "The key is not 32 hexadecimal digits.";
	else if (has_attribute)
		key->problem = "The line has an attribute that this version does not know.";
	return NULL;
}

/* Parse all lines.  If one is invalid, raises F0000, and no key can be used. */
static void
parse_key_file(const char *path, char *content, size_t size, const char *database)
{
	char	   *next = content;

	if (strlen(content) + 1 < size)
		ereport(ERROR,
				(errcode(ERRCODE_CONFIG_FILE_ERROR),
				 errmsg("key file \"%s\" contains a zero byte", path)));

	if (strncmp(next, BYTE_ORDER_MARK, strlen(BYTE_ORDER_MARK)) == 0)
		next += strlen(BYTE_ORDER_MARK);

	for (int number = 1; next != NULL; number++)
	{
		char	   *line = next;
		const char *problem;

		CHECK_FOR_INTERRUPTS();
		next = strchr(line, '\n');
		if (next != NULL)
			*next++ = '\0';
		problem = parse_line(line, number, database);
		if (problem != NULL)
			ereport(ERROR,
					(errcode(ERRCODE_CONFIG_FILE_ERROR),
					 errmsg("invalid line %d in key file \"%s\"", number, path),
					 errdetail_internal("%s", problem)));
	}
	loaded = true;
}

static void
load_keys(void)
{
	const char *path = key_file_setting;
	const char *database;
	char	   *content;
	size_t		size;

	if (path == NULL || path[0] == '\0')
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("idgen.key_file is not set"),
				 errdetail("Only the server's configuration can set it. "
						   "A value of ALTER DATABASE, ALTER ROLE or the connection hides that of the configuration, and is ignored."),
				 errhint("Set it in postgresql.conf to the name of a file that only the database user can read, and reload the configuration.")));

	loaded_after = PgReloadTime;
	database = get_database_name(MyDatabaseId);
	content = read_key_file(path, &size);
	PG_TRY();
	{
		parse_key_file(path, content, size, database);
	}
	PG_FINALLY();
	{
		explicit_bzero(content, size);
		if (!loaded)
			forget_keys();
	}
	PG_END_TRY();
	pfree(content);
}

/*
 * Return the key with this name.  The pointer stays valid until the next
 * reload.  Raises 42704 for an unknown name, and F0000 for an unusable key.
 */
const SecretKey *
named_key(const text *name)
{
	int			length = VARSIZE_ANY_EXHDR(name);
	const NamedKey *key;

	/* an assign hook would miss a value set on the command line */
	if (unlikely(!loaded || loaded_after != PgReloadTime))
	{
		forget_keys();
		load_keys();
	}

	key = length > MAX_KEY_NAME_BYTES ? NULL : find_key(VARDATA_ANY(name), length);
	if (key == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("key \"%s\" does not exist", shown_text(VARDATA_ANY(name), length, 96)),
				 errhint("Add it to the file that idgen.key_file names, and reload the configuration.")));
	if (key->problem != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_CONFIG_FILE_ERROR),
				 errmsg("key \"%s\" in line %d of the key file cannot be used", key->name, key->line),
				 errdetail_internal("%s", key->problem)));
	return &key->key;
}
