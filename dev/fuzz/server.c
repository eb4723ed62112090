/*
 * server.c
 *	  The entry point of the fuzz targets, and substitutes for the few parts of
 *	  a server that the targets call: errors, text and memory.
 *
 * An error jumps back to the call of the function that raised it.  Its
 * messages are formatted, as in a server, and then discarded.  Server
 * functions that no target reaches are missing, because the linker removes the
 * code that calls them.
 *
 * palloc() comes from libpgcommon.  It calls malloc(), so AddressSanitizer
 * knows the bounds of each allocation.  If a target does not free its memory,
 * the memory is freed after each input.
 */
#include "fuzz.h"

#include <sanitizer/allocator_interface.h>
#include <setjmp.h>

#include "mb/pg_wchar.h"
#include "utils/builtins.h"

/* --- The entry point --- */

extern void fuzz_target(Input *input);	/* fuzz.sh links a target under this name */

void
check_failed(const char *condition, const char *file, int line)
{
	fprintf(stderr, "%s:%d: does not hold: %s\n", file, line, condition);
	abort();
}

static const volatile void *pieces[65536];
static size_t piece_count;
static __thread bool in_target; /* not in threads of libFuzzer */

void
__sanitizer_malloc_hook(const volatile void *piece, size_t size)
{
	if (!in_target)
		return;
	CHECK(piece_count < lengthof(pieces));
	pieces[piece_count++] = piece;
}

int
LLVMFuzzerTestOneInput(const char *bytes, size_t length)
{
	Input		input = {bytes, length};

	in_target = true;
	fuzz_target(&input);
	in_target = false;
	while (piece_count > 0)
	{
		const volatile void *piece = pieces[--piece_count];

		if (__sanitizer_get_ownership(piece))
			free((void *) piece);
	}
	return 0;
}

/* Define a function that returns one expression. */
#define STUB(declaration, result) \
declaration \
{ \
	return result; \
}

/* --- Errors --- */

sigjmp_buf *PG_exception_stack; /* receives errors: the call or a PG_TRY() in it */
ErrorContextCallback *error_context_stack;
static int	error_code;

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
MESSAGE_FUNCTION(errdetail)
MESSAGE_FUNCTION(errdetail_internal)
MESSAGE_FUNCTION(errhint)
STUB(int errcode(int sqlerrcode), error_code = sqlerrcode)
STUB(bool errstart_cold(int elevel, const char *domain), errcode(ERRCODE_INTERNAL_ERROR) != 0)

void
errfinish(const char *filename, int lineno, const char *funcname)
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
					 const char *errorType,
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

NullableDatum
uuid_arg(const pg_uuid_t *id)
{
	return value_arg(PointerGetDatum(memcpy(palloc(UUID_LEN), id, UUID_LEN)));
}

/* Make a text value, with a header of one byte if requested and if it is short enough. */
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

/* --- Text: not compressed, one byte per character --- */

STUB(Size toast_raw_datum_size(Datum value), text_length(value) + VARHDRSZ)
STUB(struct varlena *pg_detoast_datum_packed(struct varlena *datum), datum)
STUB(text *cstring_to_text_with_len(const char *s, int len),
	 DatumGetTextPP(text_arg(s, len, false).value))
STUB(text *cstring_to_text(const char *s), cstring_to_text_with_len(s, strlen(s)))
STUB(int pg_database_encoding_max_length(void), 1)
STUB(int pg_mbcliplen(const char *mbstr, int len, int limit), strnlen(mbstr, Min(len, limit)))
STUB(int pg_mbstrlen_with_len(const char *mbstr, int limit), limit)
STUB(const char *timestamptz_to_str(TimestampTz t), psprintf("%lld us", (long long) t))
