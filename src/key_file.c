/*
 * key_file.c
 *	  Secret keys by name, from the file that idgen.key_file names.
 *
 * Each line of the file is a name and a key of 32 hexadecimal digits, and may
 * end with names of databases: for sessions of other databases, the line is not
 * there.  A "#" begins a comment.  A session reads the file when it first needs
 * a key, and again after the server has reloaded its configuration.
 *
 * Keys must not leak.  No message contains a part of a line, and memory that
 * contained keys is overwritten before it is freed.  The file is read with
 * read(), because a buffer of stdio would keep a copy.
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

#define MAX_FILE_BYTES	(1024 * 1024)

#define WHITESPACE		" \t\r\v\f"

/* some editors write it at the beginning of a file in UTF-8 */
#define BYTE_ORDER_MARK	"\xef\xbb\xbf"

typedef struct NamedKey
{
	char		name[MAX_KEY_NAME_BYTES + 1];
	uint8		bytes[NAMED_KEY_BYTES];
} NamedKey;

char	   *key_file_setting = NULL;

static NamedKey *keys = NULL;
static int	key_count = 0;
static bool loaded = false;
static TimestampTz loaded_after;	/* time of the last configuration reload
									 * before the file was read */

static void
forget_keys(void)
{
	if (keys != NULL)
	{
		/* key_count does not include a key that was read in part */
		explicit_bzero(keys, sizeof(NamedKey) * (key_count + 1));
		pfree(keys);
	}
	keys = NULL;
	key_count = 0;
	loaded = false;
}

/* Refuse a file that other users could read or replace, as for an SSL key file. */
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

	/* root may let the server's group read it */
	if (file->st_uid == 0)
		forbidden = S_IWGRP | S_IXGRP | S_IRWXO;
	if (file->st_mode & forbidden)
		ereport(ERROR,
				(errcode(ERRCODE_CONFIG_FILE_ERROR),
				 errmsg("key file \"%s\" has group or world access", path),
				 errdetail("The file must have permissions u=rw (0600) or less if owned by the database user, or permissions u=rw,g=r (0640) "
						   "or less if owned by root.")));
}

/* The file's content, with a zero byte at its end.  The caller erases it. */
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

	/* one byte more than expected, in case the file grows */
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
	for (int i = 0; i < key_count; i++)
	{
		if (memcmp(keys[i].name, name, length) == 0 && keys[i].name[length] == '\0')
			return &keys[i];
	}
	return NULL;
}

/*
 * The next name of a database in a line, after which *line points; NULL at the
 * end of the line.  As in pg_hba.conf, a name in double quotes may contain white
 * space and "#", and two double quotes stand for one.  *problem is set if the
 * last quote is missing.
 */
static char *
next_database_name(const char **line, const char **problem)
{
	const char *p = *line + strspn(*line, WHITESPACE);
	char	   *name;
	char	   *end;

	if (*p == '\0' || *p == '#')
		return NULL;

	if (*p != '"')
	{
		size_t		length = strcspn(p, WHITESPACE "#");

		*line = p + length;
		return pnstrdup(p, length);
	}

	name = end = palloc(strlen(p));
	for (p++; *p != '\0'; p++)
	{
		if (*p == '"' && *++p != '"')
		{
			*end = '\0';
			*line = p;
			return name;
		}
		*end++ = *p;
	}
	*problem = "The name of a database has no closing quotation mark.";
	return NULL;
}

/* May this database use the key of a line, which may end with names of databases? */
static bool
is_for_database(const char *line, const char *database, const char **problem)
{
	const char *name = next_database_name(&line, problem);
	bool		found = name == NULL;

	for (; name != NULL; name = next_database_name(&line, problem))
		found |= database != NULL && strcmp(name, database) == 0;
	return found;
}

/*
 * Read one line, without its end, and append its key if it has one for this
 * database.  Returns the reason why it cannot be read, or NULL.
 */
static const char *
parse_line(const char *line, const char *database)
{
	size_t		name_length;
	size_t		digits;
	NamedKey   *key;
	const char *problem = NULL;

	line += strspn(line, WHITESPACE);
	if (*line == '\0' || *line == '#')
		return NULL;

	name_length = strcspn(line, WHITESPACE "#");
	if (name_length > MAX_KEY_NAME_BYTES)
		return "The name is longer than " CppAsString2(MAX_KEY_NAME_BYTES) " bytes.";

	key = &keys[key_count];
	memset(key->name, 0, sizeof(key->name));
	memcpy(key->name, line, name_length);
	line += name_length;
	line += strspn(line, WHITESPACE);
	digits = strcspn(line, WHITESPACE "#");
	/* a key has the size of a uuid */
	if (digits != 2 * NAMED_KEY_BYTES ||
		!radix_decode(&radix_16, line, digits, (pg_uuid_t *) key->bytes))
		return "The key is not 32 hexadecimal digits.";

	if (!is_for_database(line + digits, database, &problem))
		explicit_bzero(key, sizeof(*key));
	else if (find_key(key->name, name_length) != NULL)
		return "The name occurs twice.";
	else
		key_count++;
	return problem;
}

/* Read all lines.  If one cannot be read, there are no keys. */
static void
parse_key_file(const char *path, char *content, size_t size, const char *database)
{
	int			lines = 1;
	char	   *next = content;

	if (strlen(content) + 1 < size)
		ereport(ERROR,
				(errcode(ERRCODE_CONFIG_FILE_ERROR),
				 errmsg("key file \"%s\" contains a zero byte", path)));

	for (const char *p = content; (p = strchr(p, '\n')) != NULL; p++)
		lines++;
	/* all at once, because a reallocation would leave a copy */
	keys = MemoryContextAllocZero(TopMemoryContext, sizeof(NamedKey) * (lines + 1));

	if (strncmp(next, BYTE_ORDER_MARK, strlen(BYTE_ORDER_MARK)) == 0)
		next += strlen(BYTE_ORDER_MARK);

	for (int number = 1; next != NULL; number++)
	{
		char	   *line = next;
		const char *problem;

		next = strchr(line, '\n');
		if (next != NULL)
			*next++ = '\0';
		problem = parse_line(line, database);
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
 * The key of this name, NAMED_KEY_BYTES bytes, which stay valid until the
 * next reload.  An unknown name is an error (42704).
 */
const uint8 *
named_key(const char *name, int length)
{
	const NamedKey *key;

	/*
	 * an assign hook would not learn of a reload if the command line sets the
	 * file
	 */
	if (unlikely(!loaded || loaded_after != PgReloadTime))
	{
		forget_keys();
		load_keys();
	}

	key = length > MAX_KEY_NAME_BYTES ? NULL : find_key(name, length);
	if (key == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("key \"%s\" does not exist", shown_text(name, length, 96)),
				 errhint("Add it to the file that idgen.key_file names, and reload the configuration.")));
	return key->bytes;
}
