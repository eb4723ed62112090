/*
 * key_file.c
 *	  Secret keys by name, from the file that idgen.key_file names.
 *
 * Each line of the file is a name and a key of 32 hexadecimal digits; a "#"
 * begins a comment.  A session reads the file when it first needs a key, and
 * again after the server has reloaded its configuration.
 *
 * Keys must not leak.  No message contains a part of a line, and memory that
 * contained keys is overwritten before it is freed.  The file is read with
 * read(), because a buffer of stdio would keep a copy.
 */
#include "postgres.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "storage/fd.h"
#include "utils/memutils.h"

#include "arguments.h"
#include "key_file.h"
#include "radix.h"
#include "siphash.h"

#define MAX_FILE_BYTES	(1024 * 1024)
#define MAX_NAME_BYTES	63

#define WHITESPACE		" \t\r\v\f"

/* some editors write it at the beginning of a file in UTF-8 */
#define BYTE_ORDER_MARK	"\xef\xbb\xbf"

typedef struct NamedKey
{
	char		name[MAX_NAME_BYTES + 1];
	uint8		bytes[SIPHASH_KEY_BYTES];
} NamedKey;

char	   *key_file_setting = NULL;

static NamedKey *keys = NULL;
static int	key_count = 0;
static bool loaded = false;
static TimestampTz loaded_after;	/* the last reload before the file was
									 * read */

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
 * Read one line, without its end, and append its key if it has one.  Returns
 * the reason why it cannot be read, or NULL.
 */
static const char *
parse_line(const char *line)
{
	size_t		name_length;
	size_t		digits;
	NamedKey    *key;

	line += strspn(line, WHITESPACE);
	if (*line == '\0' || *line == '#')
		return NULL;

	name_length = strcspn(line, WHITESPACE "#");
	if (name_length > MAX_NAME_BYTES)
		return "The name is longer than " CppAsString2(MAX_NAME_BYTES) " bytes.";
	if (find_key(line, name_length) != NULL)
		return "The name occurs twice.";

	key = &keys[key_count];
	memcpy(key->name, line, name_length);
	line += name_length;
	line += strspn(line, WHITESPACE);
	digits = strcspn(line, WHITESPACE "#");
	/* a key has the size of a uuid */
	if (digits != 2 * SIPHASH_KEY_BYTES ||
		!radix_decode(&radix_16, line, digits, (pg_uuid_t *) key->bytes))
		return "The key is not 32 hexadecimal digits.";
	key_count++;

	line += digits;
	line += strspn(line, WHITESPACE);
	return *line == '\0' || *line == '#' ? NULL : "There is text after the key.";
}

/* Read all lines.  If one cannot be read, there are no keys. */
static void
parse_key_file(const char *path, char *content, size_t size)
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
		problem = parse_line(line);
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
	content = read_key_file(path, &size);
	PG_TRY();
	{
		parse_key_file(path, content, size);
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
 * The key of this name, SIPHASH_KEY_BYTES bytes, which stay valid until the
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

	key = length > MAX_NAME_BYTES ? NULL : find_key(name, length);
	if (key == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("key \"%s\" does not exist", shown_text(name, length, 96)),
				 errhint("Add it to the file that idgen.key_file names, and reload the configuration.")));
	return key->bytes;
}
