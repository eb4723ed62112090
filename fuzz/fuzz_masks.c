/*
 * fuzz_masks.c
 *	  Masked keys.  The opened key file has the content of the input.
 */
#include "fuzz.h"

#include <sys/mman.h>

#include "mask_keys.c"

#define DEFAULT_NAME	text_arg("default", strlen("default"), true)

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

/* --- The key file --- */

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

/* --- Masks and permutations --- */

/* SipHash-2-4 of 8 to 15 bytes. */
static uint64
siphash(const uint8 *key, const uint8 *message, size_t length)
{
	SipHash		hash = siphash_start(key);
	uint8		padded[16] = {0};

	memcpy(padded, message, length);
	siphash_absorb(&hash, siphash_word(padded));
	siphash_absorb(&hash, siphash_last_word(length) | siphash_word(padded + 8));
	return siphash_finish(hash);
}

/* The mask has the time that its definition gives, and can be undone. */
static void
check_mask(PGFunction function, PGFunction inverse, int from, int to, const uint8 *key,
		   const pg_uuid_t *id)
{
	Outcome		made = CALL(function, uuid_arg(id), DEFAULT_NAME);
	pg_uuid_t	masked = *id;
	uint8		message[10];
	uint64		mask;

	if (!is_version(id, from))
	{
		CHECK(made.sqlstate == ERRCODE_INVALID_PARAMETER_VALUE);
		return;
	}
	memcpy(message, id->data + 6, 10);
	message[0] &= 0x0F;
	message[2] &= 0x3F;
	mask = siphash(key, message, 10);
	for (int i = 0; i < 6; i++)
		masked.data[i] ^= mask >> (40 - 8 * i);
	masked.data[6] ^= (from ^ to) << 4;
	CHECK(uuid_is(value_of(made), &masked));
	CHECK(uuid_is(CALL_VALUE(inverse, uuid_arg(&masked), DEFAULT_NAME), id));
}

static void
check_permutation(PGFunction function, PGFunction inverse, int64 id, int64 max_value)
{
	Outcome		made = CALL(function, int64_arg(id), int64_arg(max_value), DEFAULT_NAME);
	int64		permuted;

	if (max_value < 2 || id < 1 || id > max_value)
	{
		CHECK(made.sqlstate == (max_value < 2 ? ERRCODE_INVALID_PARAMETER_VALUE :
								ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE));
		return;
	}
	permuted = DatumGetInt64(value_of(made));
	CHECK(permuted >= 1 && permuted <= max_value);
	CHECK(DatumGetInt64(CALL_VALUE(inverse, value_arg(made.value), int64_arg(max_value),
								   DEFAULT_NAME)) == id);
}
/* Pieces of a file, one of which a byte of the input chooses. */
static const char *const pieces[] = {
	"default", "a", "b", "\303\274", "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", " ", "\t", "\v\f", "\r\n",
	"\n", "#", "g", "000102030405060708090a0b0c0d0e0f", "EFCDAB89674523011032547698BADCFE", "0", "F"
};

/*
 * Masks and permutations can be undone, with any key; SipHash has the value of
 * the example in the appendix of its paper.  t/009_masks.pl compares it with a
 * second implementation.
 */
void
fuzz_masks(Input *input)
{
	static const uint8 example[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
	uint8		way = take(input, 1);
	size_t		name_length = take(input, 1) % 80;
	pg_uuid_t	key = take_uuid(input);
	pg_uuid_t	id = take_uuid(input);
	int64		max_value = take(input, 8) >> take(input, 1) % 64;
	int64		number = take(input, 8);

	CHECK(siphash(example, example, 15) == UINT64CONST(0xa129ca6149be45e5));
	mask_key_file_setting = "keys";

	/* mostly valid arguments */
	if (way & 1)
	{
		id.data[6] = (id.data[6] & 0x0F) | (way & 2 ? 0x40 : 0x70);
		id.data[8] = (id.data[8] & 0x3F) | 0x80;
	}
	if (way & 4 && max_value > 1)
		number = 1 + (uint64) number % max_value;

	content_length = sprintf(content, "default %016" INT64_MODIFIER "x%016" INT64_MODIFIER "x",
							 uuid_half(&key, 0), uuid_half(&key, 1));
	check_mask(idgen_mask_uuid_v7, idgen_unmask_uuid_v7, 7, 4, key.data, &id);
	check_mask(idgen_unmask_uuid_v7, idgen_mask_uuid_v7, 4, 7, key.data, &id);
	check_permutation(idgen_permute, idgen_unpermute, number, max_value);
	check_permutation(idgen_unpermute, idgen_permute, number, max_value);
	forget_keys();

	/* any file */
	content_length = 0;
	while (input->left > 0 && content_length < sizeof(content) - 40)
	{
		uint8		byte = take(input, 1);

		if (way & 8)
			content_length += sprintf(content + content_length, "%s",
									  pieces[byte % lengthof(pieces)]);
		else
			content[content_length++] = byte;
	}
	check_file(name_length);
}
