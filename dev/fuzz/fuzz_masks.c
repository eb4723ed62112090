/*
 * fuzz_masks.c
 *	  The key file of masks, which has the content of the input.
 */
#include "fuzz.h"

#include <sys/mman.h>

#include "mask_keys.c"

static char content[8192];
static size_t content_length;

int
OpenTransientFile(const char *fileName, int fileFlags)
{
	int			fd = memfd_create("keys", 0);

	CHECK(fd >= 0 && fchmod(fd, 0600) == 0);
	CHECK(pwrite(fd, content, content_length, 0) == (ssize_t) content_length);
	return fd;
}

/* The keys of a second reading of the file. */
static MaskKey expected[sizeof(content) / 32];
static int	expected_count;

static const uint8 *
expected_key(const char *name)
{
	for (int i = 0; i < expected_count; i++)
	{
		if (strcmp(expected[i].name, name) == 0)
			return expected[i].bytes;
	}
	return NULL;
}

/* Can the file be read? */
static bool
read_slowly(void)
{
	char	   *rest = memcpy(palloc0(content_length + 1), content, content_length);
	char	   *line;

	expected_count = 0;
	if (strlen(rest) < content_length)
		return false;
	if (strncmp(rest, "\xef\xbb\xbf", 3) == 0)
		rest += 3;
	while ((line = strsep(&rest, "\n")) != NULL)
	{
		static char name[sizeof(content)];
		static char digits[sizeof(content)];
		char		more;
		int			fields;

		line[strcspn(line, "#")] = '\0';
		fields = sscanf(line, "%s %s %c", name, digits, &more);
		if (fields <= 0)
			continue;
		if (fields != 2 || strlen(name) > 63 || expected_key(name) != NULL ||
			strlen(digits) != 32 || strspn(digits, "0123456789abcdefABCDEF") != 32)
			return false;
		strcpy(expected[expected_count].name, name);
		for (int i = 0; i < SIPHASH_KEY_BYTES; i++)
			(void) sscanf(digits + 2 * i, "%2hhx", &expected[expected_count].bytes[i]);
		expected_count++;
	}
	return true;
}

static Datum
key_of_name(PG_FUNCTION_ARGS)
{
	text	   *name = PG_GETARG_TEXT_PP(0);

	PG_RETURN_POINTER(mask_key(VARDATA_ANY(name), VARSIZE_ANY_EXHDR(name)));
}

static void
check_key(const char *name, size_t length, const uint8 *key, int error)
{
	Outcome		asked = CALL(key_of_name, text_arg(name, length, true));

	CHECK(asked.sqlstate == (key == NULL ? error : 0));
	CHECK(key == NULL || memcmp(DatumGetPointer(asked.value), key, SIPHASH_KEY_BYTES) == 0);
}

/*
 * The file is read as its documentation says, or refused without leaving keys.
 * The name that is asked for first is any, often the beginning of the file.
 */
static void
check_file(size_t name_length)
{
	bool		valid = read_slowly();
	size_t		length = Min(name_length, content_length);

	check_key(content, length, valid ? expected_key(pnstrdup(content, length)) : NULL,
			  valid ? ERRCODE_UNDEFINED_OBJECT : ERRCODE_CONFIG_FILE_ERROR);
	CHECK(loaded == valid && (keys != NULL) == valid);
	CHECK(key_count == (valid ? expected_count : 0));
	for (int i = 0; i < key_count; i++)
		check_key(expected[i].name, strlen(expected[i].name), expected[i].bytes, 0);
	forget_keys();
}

/* Pieces of a file, one of which a byte of the input chooses. */
static const char *const pieces[] = {
	"default", "a", "b", "\303\274", "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", " ", "\t", "\v\f", "\r\n",
	"\n", "#", "\xef\xbb\xbf", "000102030405060708090a0b0c0d0e0f", "EFCDAB89674523011032547698BADCFE", "0", "F"
};

/* Any file, of any bytes or of pieces. */
void
fuzz_masks(Input *input)
{
	bool		has_pieces = take(input) & 1;
	size_t		name_length = take(input) % 80;

	mask_key_file_setting = "keys";
	content_length = 0;
	while (input->left > 0 && content_length < sizeof(content) - 40)
	{
		uint8		byte = take(input);

		if (has_pieces)
			content_length += sprintf(content + content_length, "%s",
									  pieces[byte % lengthof(pieces)]);
		else
			content[content_length++] = byte;
	}
	check_file(name_length);
}
