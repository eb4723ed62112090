/*-------------------------------------------------------------------------
 *
 * backend.c
 *	  A stand-in for the few parts of a server that idgen's decoders call, so
 *	  that they can be fuzzed in a process of their own.
 *
 * Memory comes from malloc(), each piece by itself, so that AddressSanitizer
 * sees its ends, and is freed after each input.  An error jumps back to the
 * call that it came from; its messages are formatted, as a server does, and
 * thrown away.  What no target calls (catalogs, SPI, shared memory) is not
 * here: the linker leaves it unresolved.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <setjmp.h>
#include <time.h>

#include "mb/pg_wchar.h"
#include "utils/builtins.h"

#include "backend.h"

/* the C library's, which the server's headers put their own in place of */
#undef vsnprintf
#undef snprintf
#undef fprintf

TimestampTz backend_now;
struct timespec backend_clock;

/* ----------
 * Memory
 * ----------
 */

MemoryContext CurrentMemoryContext = NULL;

static void **pieces;
static size_t piece_count;
static size_t piece_room;

static void *
remember(void *piece)
{
	if (piece == NULL)
		abort();
	if (piece_count == piece_room)
	{
		piece_room = Max(2 * piece_room, 64);
		pieces = realloc(pieces, piece_room * sizeof(void *));
		if (pieces == NULL)
			abort();
	}
	pieces[piece_count++] = piece;
	return piece;
}

static void
free_all(void)
{
	while (piece_count > 0)
		free(pieces[--piece_count]);
}

void *
palloc(Size size)
{
	return remember(malloc(size));
}

void *
palloc0(Size size)
{
	return remember(calloc(1, size));
}

void
pfree(void *pointer)
{
	for (size_t i = piece_count; i-- > 0;)
	{
		if (pieces[i] == pointer)
		{
			free(pointer);
			pieces[i] = pieces[--piece_count];
			return;
		}
	}
	abort();
}

char *
pnstrdup(const char *in, Size len)
{
	return remember(strndup(in, len));
}

char *
pstrdup(const char *in)
{
	return remember(strdup(in));
}

char *
psprintf(const char *format,...)
{
	va_list		arguments;
	char	   *result;
	int			length;

	va_start(arguments, format);
	length = vsnprintf(NULL, 0, format, arguments);
	va_end(arguments);
	if (length < 0)
		abort();

	result = palloc(length + 1);
	va_start(arguments, format);
	vsnprintf(result, length + 1, format, arguments);
	va_end(arguments);
	return result;
}

/* ----------
 * Errors
 * ----------
 */

static sigjmp_buf *caller;		/* where an error goes to */
static int	error_level;
static int	error_code;

void
check_failed(const char *condition, const char *file, int line)
{
	fprintf(stderr, "%s:%d: does not hold: %s\n", file, line, condition);
	abort();
}

bool
errstart(int elevel, const char *domain)
{
	(void) domain;
	error_level = elevel;
	error_code = ERRCODE_INTERNAL_ERROR;
	return true;
}

bool
errstart_cold(int elevel, const char *domain)
{
	return errstart(elevel, domain);
}

int
errcode(int sqlerrcode)
{
	error_code = sqlerrcode;
	return 0;
}

/* A message must be one that can be shown. */
#define SHOW_MESSAGE(fmt) \
	do { \
		char		shown[2048]; \
		va_list		arguments; \
		va_start(arguments, fmt); \
		CHECK(vsnprintf(shown, sizeof(shown), fmt, arguments) > 0); \
		va_end(arguments); \
	} while (0)

int
errmsg(const char *fmt,...)
{
	SHOW_MESSAGE(fmt);
	return 0;
}

int
errmsg_internal(const char *fmt,...)
{
	SHOW_MESSAGE(fmt);
	return 0;
}

int
errdetail(const char *fmt,...)
{
	SHOW_MESSAGE(fmt);
	return 0;
}

int
errdetail_internal(const char *fmt,...)
{
	SHOW_MESSAGE(fmt);
	return 0;
}

int
err_generic_string(int field, const char *str)
{
	(void) field;
	(void) str;
	return 0;
}

int
errhint(const char *fmt,...)
{
	SHOW_MESSAGE(fmt);
	return 0;
}

void
errfinish(const char *filename, int lineno, const char *funcname)
{
	(void) funcname;
	if (error_level < ERROR)
		return;
	if (caller == NULL || error_code == ERRCODE_INTERNAL_ERROR)
		check_failed("no internal error", filename, lineno);
	siglongjmp(*caller, 1);
}

void
ExceptionalCondition(const char *conditionName,
#if PG_VERSION_NUM < 160000
					 const char *errorType,
#endif
					 const char *fileName, int lineNumber)
{
#if PG_VERSION_NUM < 160000
	(void) errorType;
#endif
	check_failed(conditionName, fileName, lineNumber);
}

/* ----------
 * Calls
 * ----------
 */

Outcome
call_function(PGFunction function, int nargs, const NullableDatum *args)
{
	static Outcome outcome;
	FunctionCallInfo fcinfo = palloc0(SizeForFunctionCallInfo(nargs));
	sigjmp_buf	here;

	InitFunctionCallInfoData(*fcinfo, NULL, nargs, InvalidOid, NULL, NULL);
	memcpy(fcinfo->args, args, nargs * sizeof(NullableDatum));

	memset(&outcome, 0, sizeof(outcome));
	caller = &here;
	if (sigsetjmp(here, 0) == 0)
	{
		outcome.value = function(fcinfo);
		outcome.isnull = fcinfo->isnull;
	}
	else
		outcome.sqlstate = error_code;
	caller = NULL;
	return outcome;
}

Datum
DirectFunctionCall1Coll(PGFunction func, Oid collation, Datum arg1)
{
	LOCAL_FCINFO(fcinfo, 1);

	InitFunctionCallInfoData(*fcinfo, NULL, 1, collation, NULL, NULL);
	fcinfo->args[0].value = arg1;
	fcinfo->args[0].isnull = false;
	return func(fcinfo);
}

NullableDatum
value_arg(Datum value)
{
	return (NullableDatum) {value, false};
}

NullableDatum
null_arg(void)
{
	return (NullableDatum) {0, true};
}

NullableDatum
uuid_arg(const pg_uuid_t *id)
{
	pg_uuid_t  *copy = palloc(sizeof(pg_uuid_t));

	*copy = *id;
	return value_arg(UUIDPGetDatum(copy));
}

NullableDatum
interval_arg(const Interval *length)
{
	Interval   *copy = palloc(sizeof(Interval));

	*copy = *length;
	return value_arg(IntervalPGetDatum(copy));
}

/* A text or bytea, with the header of one byte where it may have that. */
NullableDatum
text_arg(const char *bytes, size_t length, bool short_header)
{
	char	   *value;

	if (short_header && length + VARHDRSZ_SHORT <= VARATT_SHORT_MAX)
	{
		value = palloc(VARHDRSZ_SHORT + length);
		SET_VARSIZE_SHORT(value, VARHDRSZ_SHORT + length);
		memcpy(VARDATA_SHORT(value), bytes, length);
	}
	else
	{
		value = palloc(VARHDRSZ + length);
		SET_VARSIZE(value, VARHDRSZ + length);
		memcpy(VARDATA(value), bytes, length);
	}
	return value_arg(PointerGetDatum(value));
}

/* ----------
 * Input
 * ----------
 */

/*
 * A finite instant: one of all, one that 48 bits of milliseconds hold, or one
 * near an end of something.
 */
TimestampTz
take_instant(Input *input)
{
	static const int64 unix_epoch =
	(UNIX_EPOCH_JDATE - POSTGRES_EPOCH_JDATE) * USECS_PER_DAY;
	const TimestampTz ends[] = {
		MIN_TIMESTAMP, END_TIMESTAMP - 1, unix_epoch, 0,
		unix_epoch + INT64CONST(0xFFFFFFFF) * USECS_PER_SEC,
		unix_epoch + ((INT64CONST(1) << 48) - 1) * 1000,
		unix_epoch + INT64CONST(1577836800) * USECS_PER_SEC /* 2020 */
	};
	uint8		way = take(input, 1);
	uint64		number = take(input, 8);
	TimestampTz instant;

	switch (way % 3)
	{
		case 0:
			return (TimestampTz) ((uint64) MIN_TIMESTAMP + number % ((uint64) END_TIMESTAMP - (uint64) MIN_TIMESTAMP));
		case 1:
			return unix_epoch + (int64) (number % (UINT64CONST(1000) << 48));
	}
	instant = ends[way / 3 % lengthof(ends)] + (int64) (number % 8192) - 4096;
	return Min(Max(instant, MIN_TIMESTAMP), END_TIMESTAMP - 1);
}

/* An interval: of any fields, or of milliseconds. */
Interval
take_interval(Input *input)
{
	Interval	length = {0};
	uint8		way = take(input, 1);

	if (way & 1)
	{
		length.time = (int64) (take(input, way / 2 % 8 + 1) % (PG_INT64_MAX / 1000)) * 1000;
		return length;
	}
	length.time = take(input, 8);
	length.day = take(input, 4);
	length.month = way & 2 ? take(input, 4) : 0;
	return length;
}

/* ----------
 * What the functions see of a server
 * ----------
 */

TimestampTz
GetCurrentTimestamp(void)
{
	return backend_now;
}

TimestampTz
GetCurrentStatementStartTimestamp(void)
{
	return backend_now;
}

/* The linker puts it in the place of clock_gettime(). */
extern int	__wrap_clock_gettime(clockid_t clock_id, struct timespec *now);

int
__wrap_clock_gettime(clockid_t clock_id, struct timespec *now)
{
	(void) clock_id;
	*now = backend_clock;
	return 0;
}

int			MyProcPid = 1;

/* Numbers of no order, the same in every run. */
bool
pg_strong_random(void *buf, size_t len)
{
	static uint64 state = 0;

	for (size_t i = 0; i < len; i++)
	{
		state = state * UINT64CONST(6364136223846793005) + UINT64CONST(1442695040888963407);
		((uint8 *) buf)[i] = state >> 56;
	}
	return true;
}

/* ----------
 * Types
 * ----------
 */

Size
toast_raw_datum_size(Datum value)
{
	return VARSIZE_ANY_EXHDR(DatumGetPointer(value)) + VARHDRSZ;
}

struct varlena *
pg_detoast_datum_packed(struct varlena *datum)
{
	return datum;
}

text *
cstring_to_text_with_len(const char *s, int len)
{
	return (text *) DatumGetPointer(text_arg(s, len, false).value);
}

text *
cstring_to_text(const char *s)
{
	return cstring_to_text_with_len(s, strlen(s));
}

/* an encoding of one byte a character */
int
pg_database_encoding_max_length(void)
{
	return 1;
}

int
pg_mbcliplen(const char *mbstr, int len, int limit)
{
	return strnlen(mbstr, Min(len, limit));
}

int
pg_mbstrlen_with_len(const char *mbstr, int limit)
{
	(void) mbstr;
	return limit;
}

/* not canonical: it only goes into messages */
Datum
uuid_out(PG_FUNCTION_ARGS)
{
	pg_uuid_t  *id = PG_GETARG_UUID_P(0);
	char	   *shown = palloc(2 * UUID_LEN + 1);

	for (int i = 0; i < UUID_LEN; i++)
		snprintf(shown + 2 * i, 3, "%02x", id->data[i]);
	PG_RETURN_CSTRING(shown);
}

Datum
interval_out(PG_FUNCTION_ARGS)
{
	Interval   *length = PG_GETARG_INTERVAL_P(0);

	PG_RETURN_CSTRING(psprintf("%d months %d days %lld us", length->month,
							   length->day, (long long) length->time));
}

const char *
timestamptz_to_str(TimestampTz t)
{
	static char shown[32];

	snprintf(shown, sizeof(shown), "%lld us", (long long) t);
	return shown;
}

/* ----------
 * The entry
 * ----------
 */

extern int	LLVMFuzzerTestOneInput(const uint8 *bytes, size_t length);

int
LLVMFuzzerTestOneInput(const uint8 *bytes, size_t length)
{
	Input		input = {bytes, length};

	fuzz_target(&input);
	free_all();
	return 0;
}
