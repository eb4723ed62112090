/*
 * fuzz_masks.c
 *	  Masked keys: a key file is read as its documentation says, or refused
 *	  without leaving keys; SipHash agrees with a second implementation; a mask
 *	  has the time that its definition gives; and masks and permutations can be
 *	  undone, with any key.
 */
#include "server.h"

#include <ctype.h>
#include <sys/mman.h>

#include "mask_keys.c"

#define MAX_CONTENT	8192
#define DEFAULT_NAME	text_arg("default", strlen("default"), true)

/* --- The parts of the server that mask_keys.c calls --- */

TimestampTz PgReloadTime = 0;

MemoryContext TopMemoryContext;

static char file_content[MAX_CONTENT];
static size_t file_length;

void *
MemoryContextAllocZero(MemoryContext context pg_attribute_unused(), Size size)
{
	return palloc0(size);
}

int
OpenTransientFile(const char *fileName pg_attribute_unused(), int fileFlags pg_attribute_unused())
{
	int			fd = memfd_create("keys", 0);

	CHECK(fd >= 0 && fchmod(fd, 0600) == 0);
	CHECK(pwrite(fd, file_content, file_length, 0) == (ssize_t) file_length);
	return fd;
}

int
CloseTransientFile(int fd)
{
	return close(fd);
}

/* --- A second reading of the file: lines, then fields --- */

typedef struct Field
{
	const char *bytes;
	size_t		length;
} Field;

static struct
{
	Field		name;
	uint8		key[SIPHASH_KEY_BYTES];
}			expected[MAX_CONTENT];
static int	expected_count;

static const uint8 *
expected_key(Field name)
{
	for (int i = 0; i < expected_count; i++)
	{
		if (expected[i].name.length == name.length &&
			memcmp(expected[i].name.bytes, name.bytes, name.length) == 0)
			return expected[i].key;
	}
	return NULL;
}

static bool
read_line_slowly(const char *line, const char *end)
{
	Field		fields[3];
	int			count = 0;

	for (const char *p = line; p < end && *p != '#'; p++)
	{
		if (isspace((unsigned char) *p))
			continue;
		if (p == line || isspace((unsigned char) p[-1]))
		{
			if (count == 2)
				return false;
			fields[count++] = (Field) {p, 0};
		}
		fields[count - 1].length++;
	}
	if (count == 0)
		return true;
	if (count != 2 || fields[0].length > 63 || fields[1].length != 32 || expected_key(fields[0]) != NULL)
		return false;

	expected[expected_count].name = fields[0];
	for (int i = 0; i < 32; i++)
	{
		const char	digit[2] = {fields[1].bytes[i], '\0'};

		if (!isxdigit((unsigned char) digit[0]))
			return false;
		expected[expected_count].key[i / 2] = expected[expected_count].key[i / 2] << 4 | strtol(digit, NULL, 16);
	}
	expected_count++;
	return true;
}

static bool
read_file_slowly(void)
{
	const char *end = file_content + file_length;

	expected_count = 0;
	if (memchr(file_content, '\0', file_length) != NULL)
		return false;
	for (const char *line = file_content, *next; line < end; line = next + 1)
	{
		next = memchr(line, '\n', end - line);
		if (next == NULL)
			next = end;
		if (!read_line_slowly(line, next))
			return false;
	}
	return true;
}

/* --- SipHash-2-4, from its definition --- */

static void
slow_rounds(uint64 *v, int count)
{
	static const int rotations[2][2] = {{13, 16}, {17, 21}};

	for (int half = 0; half < 2 * count; half++)
	{
		int			one = half % 2 == 0 ? 0 : 2;
		uint64		sum = v[one] + v[1];
		uint64		other = v[2 - one] + v[3];

		v[1] = __builtin_rotateleft64(v[1], rotations[half % 2][0]) ^ sum;
		v[3] = __builtin_rotateleft64(v[3], rotations[half % 2][1]) ^ other;
		v[one] = __builtin_rotateleft64(sum, 32);
		v[2 - one] = other;
	}
}

static uint64
slow_siphash(const uint8 *key, const uint8 *message, size_t length)
{
	const char *constants = "somepseudorandomlygeneratedbytes";
	uint64		v[4] = {0};

	for (int i = 0; i < 32; i++)
	{
		v[i / 8] ^= (uint64) constants[i] << (56 - i % 8 * 8);
		v[i / 8] ^= (uint64) key[i % 16] << i % 8 * 8;
	}
	for (size_t i = 0; i <= length; i += 8)
	{
		uint64		word = length - i < 8 ? (uint64) length << 56 : 0;

		for (size_t j = i; j < length && j < i + 8; j++)
			word |= (uint64) message[j] << (j - i) * 8;
		v[3] ^= word;
		slow_rounds(v, 2);
		v[0] ^= word;
	}
	v[2] ^= 0xFF;
	slow_rounds(v, 4);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}

static uint64
siphash(const uint8 *key, const uint8 *message, size_t length)
{
	SipHash		hash = siphash_start(key);
	uint8		last[8] = {0};
	size_t		words = length / 8;

	for (size_t i = 0; i < words; i++)
		siphash_absorb(&hash, siphash_word(message + i * 8));
	memcpy(last, message + words * 8, length % 8);
	siphash_absorb(&hash, siphash_last_word(length % 256) | siphash_word(last));
	return siphash_finish(hash);
}

/* --- The checks --- */

static Datum
key_of_name(PG_FUNCTION_ARGS)
{
	text	   *name = PG_GETARG_TEXT_PP(0);

	PG_RETURN_POINTER(mask_key(VARDATA_ANY(name), VARSIZE_ANY_EXHDR(name)));
}

/* Any name: the first bytes of the file, too. */
static void
check_file(size_t name_length)
{
	bool		valid = read_file_slowly();
	Field		name = {file_content, Min(name_length, file_length)};
	const uint8 *key = valid ? expected_key(name) : NULL;
	Outcome		asked = CALL(key_of_name, text_arg(name.bytes, name.length, true));

	if (key != NULL)
		CHECK(memcmp(DatumGetPointer(value_of(asked)), key, SIPHASH_KEY_BYTES) == 0);
	else
		CHECK(asked.sqlstate == (valid ? ERRCODE_UNDEFINED_OBJECT : ERRCODE_CONFIG_FILE_ERROR));

	CHECK(loaded == valid && (keys != NULL) == valid);
	CHECK(key_count == (valid ? expected_count : 0));
	for (int i = 0; i < key_count; i++)
		CHECK(memcmp(DatumGetPointer(CALL_VALUE(key_of_name, text_arg(expected[i].name.bytes, expected[i].name.length, true))),
					 expected[i].key, SIPHASH_KEY_BYTES) == 0);
	forget_keys();
}

static void
check_mask(PGFunction function, PGFunction inverse, int from, int to, const uint8 *key, const pg_uuid_t *id)
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
	mask = slow_siphash(key, message, 10);
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
	int64		permuted = DatumGetInt64(made.value);

	if (max_value < 2)
		CHECK(made.sqlstate == ERRCODE_INVALID_PARAMETER_VALUE);
	else if (id < 1 || id > max_value)
		CHECK(made.sqlstate == ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE);
	else
	{
		CHECK(made.sqlstate == 0 && permuted >= 1 && permuted <= max_value);
		CHECK(DatumGetInt64(CALL_VALUE(inverse, int64_arg(permuted), int64_arg(max_value), DEFAULT_NAME)) == id);
	}
}

/* Pieces of a file, one of which a byte of the input chooses. */
static const char *const pieces[] = {
	"default", "a", "b", "\303\274", "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", " ", "\t", "\v\f", "\r\n", "\n", "#", "g",
	"000102030405060708090a0b0c0d0e0f", "EFCDAB89674523011032547698BADCFE", "0", "F"
};

void
fuzz_target(Input *input)
{
	uint8		way = take(input, 1);
	size_t		name_length = take(input, 1) % 80;
	pg_uuid_t	key = take_uuid(input);
	pg_uuid_t	id = take_uuid(input);
	int64		max_value = take(input, 8) >> take(input, 1) % 64;
	int64		number = take(input, 8);
	const uint8 *rest = input->bytes;

	mask_key_file_setting = "keys";
	CHECK(siphash(key.data, rest, input->left) == slow_siphash(key.data, rest, input->left));

	/* mostly valid arguments */
	if (way & 1)
	{
		id.data[6] = (id.data[6] & 0x0F) | (way & 2 ? 0x40 : 0x70);
		id.data[8] = (id.data[8] & 0x3F) | 0x80;
	}
	if (way & 4 && max_value > 1)
		number = 1 + (uint64) number % max_value;

	file_length = sprintf(file_content, "default ");
	for (int i = 0; i < UUID_LEN; i++)
		file_length += sprintf(file_content + file_length, "%02x", key.data[i]);
	check_mask(idgen_mask_uuid_v7, idgen_unmask_uuid_v7, 7, 4, key.data, &id);
	check_mask(idgen_unmask_uuid_v7, idgen_mask_uuid_v7, 4, 7, key.data, &id);
	check_permutation(idgen_permute, idgen_unpermute, number, max_value);
	check_permutation(idgen_unpermute, idgen_permute, number, max_value);
	forget_keys();

	/* any file */
	file_length = 0;
	while (input->left > 0 && file_length < MAX_CONTENT - 40)
	{
		uint8		byte = take(input, 1);

		if (way & 8)
			file_length += sprintf(file_content + file_length, "%s", pieces[byte % lengthof(pieces)]);
		else
			file_content[file_length++] = byte;
	}
	check_file(name_length);
}
