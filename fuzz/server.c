/*-------------------------------------------------------------------------
 *
 * server.c
 *	  A stand-in for the few parts of a server that the extension's decoders
 *	  call: errors, text, clock and random bits.
 *
 * An error jumps back to the call that it came from; its messages are
 * formatted, as a server does, and discarded.  Functions of the server that no
 * target reaches are missing: the linker drops the code that calls them.
 *
 *-------------------------------------------------------------------------
 */
#include "server.h"

#include <setjmp.h>
#include <time.h>

#include "mb/pg_wchar.h"
#include "storage/proc.h"
#include "utils/builtins.h"
#include "utils/rel.h"

/* --- Errors --- */

sigjmp_buf *PG_exception_stack; /* receives errors: the call or a PG_TRY() in it */
ErrorContextCallback *error_context_stack;
static int	error_code;

bool
errstart(int elevel, const char *domain pg_attribute_unused())
{
	error_code = ERRCODE_INTERNAL_ERROR;
	return elevel >= ERROR;
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

#define MESSAGE_FUNCTION(name) \
int \
name(const char *fmt,...) \
{ \
	char		shown[2048]; \
	va_list		arguments; \
\
	va_start(arguments, fmt); \
	CHECK(vsnprintf(shown, sizeof(shown), fmt, arguments) > 0); \
	va_end(arguments); \
	return 0; \
}

MESSAGE_FUNCTION(errmsg)
MESSAGE_FUNCTION(errmsg_internal)
MESSAGE_FUNCTION(errdetail)
MESSAGE_FUNCTION(errdetail_internal)
MESSAGE_FUNCTION(errhint)

int
errcode_for_file_access(void)
{
	return errcode(ERRCODE_INTERNAL_ERROR);
}

int
err_generic_string(int field pg_attribute_unused(), const char *str pg_attribute_unused())
{
	return 0;
}

int
errtablecol(Relation rel pg_attribute_unused(), int attnum pg_attribute_unused())
{
	return 0;
}

void
errfinish(const char *filename, int lineno, const char *funcname pg_attribute_unused())
{
	if (PG_exception_stack == NULL || error_code == ERRCODE_INTERNAL_ERROR)
		check_failed("no internal error", filename, lineno);
	pg_re_throw();
}

void
pg_re_throw(void)
{
	siglongjmp(*PG_exception_stack, 1);
}

void
ExceptionalCondition(const char *conditionName,
#if PG_VERSION_NUM < 160000
					 const char *errorType pg_attribute_unused(),
#endif
					 const char *fileName, int lineNumber)
{
	check_failed(conditionName, fileName, lineNumber);
}

/* --- Calls --- */

Outcome
call_function(PGFunction function, int nargs, const NullableDatum *args)
{
	static Outcome outcome;
	FunctionCallInfo fcinfo = palloc0(SizeForFunctionCallInfo(nargs));
	sigjmp_buf	here;

	InitFunctionCallInfoData(*fcinfo, NULL, nargs, InvalidOid, NULL, NULL);
	memcpy(fcinfo->args, args, nargs * sizeof(NullableDatum));

	memset(&outcome, 0, sizeof(outcome));
	PG_exception_stack = &here;
	if (sigsetjmp(here, 0) == 0)
	{
		outcome.value = function(fcinfo);
		outcome.isnull = fcinfo->isnull;
	}
	else
		outcome.sqlstate = error_code;
	PG_exception_stack = NULL;
	return outcome;
}

Datum
DirectFunctionCall1Coll(PGFunction func, Oid collation, Datum arg1)
{
	LOCAL_FCINFO(fcinfo, 1);

	InitFunctionCallInfoData(*fcinfo, NULL, 1, collation, NULL, NULL);
	fcinfo->args[0] = value_arg(arg1);
	return func(fcinfo);
}

NullableDatum
copy_arg(const void *value, size_t length)
{
	return value_arg(PointerGetDatum(memcpy(palloc(length), value, length)));
}

/* Text; with a header of one byte if asked for and short enough. */
NullableDatum
text_arg(const char *bytes, size_t length, bool short_header)
{
	bool		is_short = short_header && length + VARHDRSZ_SHORT <= VARATT_SHORT_MAX;
	size_t		header = is_short ? VARHDRSZ_SHORT : VARHDRSZ;
	char	   *value = palloc(header + length);

	if (is_short)
		SET_VARSIZE_SHORT(value, header + length);
	else
		SET_VARSIZE(value, header + length);
	memcpy(value + header, bytes, length);
	return value_arg(PointerGetDatum(value));
}

bool
text_is(Datum value, const char *bytes, size_t length)
{
	text	   *characters = DatumGetTextPP(value);

	return VARSIZE_ANY_EXHDR(characters) == length &&
		memcmp(VARDATA_ANY(characters), bytes, length) == 0;
}

/* --- Clock and random bits --- */

struct timespec server_clock;
int			MyProcPid = 1;

static PGPROC process;
PGPROC	   *MyProc = &process;

TimestampTz
GetCurrentTimestamp(void)
{
	return 0;
}

TimestampTz
GetCurrentStatementStartTimestamp(void)
{
	return 0;
}

/* fuzz.sh renames it, here and in src/. */
int
clock_gettime(clockid_t clock_id pg_attribute_unused(), struct timespec *now)
{
	*now = server_clock;
	return 0;
}

/* Pseudorandom numbers, the same in each run. */
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

/* --- Text: not compressed, and of one byte a character --- */

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
	return DatumGetTextPP(text_arg(s, len, false).value);
}

text *
cstring_to_text(const char *s)
{
	return cstring_to_text_with_len(s, strlen(s));
}

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
pg_mbstrlen_with_len(const char *mbstr pg_attribute_unused(), int limit)
{
	return limit;
}

/* Output functions, whose results go into messages only. */
Datum
uuid_out(PG_FUNCTION_ARGS)
{
	pg_uuid_t  *id = PG_GETARG_UUID_P(0);

	PG_RETURN_CSTRING(psprintf("%02x%02x...", id->data[0], id->data[1]));
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
	return psprintf("%lld us", (long long) t);
}
