/*
 * ticker_functions.c
 *	  SQL functions that show and raise tickers by their names.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "funcapi.h"
#include "utils/builtins.h"

#include "arguments.h"
#include "ticker_internal.h"

/*
 * Two columns: a value, NULL if it is 0, and the start of its tick, NULL if the
 * layout has no clock.
 */
static void
put_value(const TickerLayout *layout, uint64 value, Datum *values, bool *nulls)
{
	int64		ms = (int64) ticker_tick(layout, value) * layout->ms_per_tick;
	TimestampTz timestamp = 0;

	nulls[0] = value == 0;
	nulls[1] = value == 0 || layout->ms_per_tick == 0 || !clock_from_unix_ms(ms, &timestamp);
	values[0] = Int64GetDatum((int64) value);
	values[1] = TimestampTzGetDatum(timestamp);
}

static Ticker *
ticker_of_name(const char *name)
{
	for (Ticker *ticker = ticker_list; ticker != NULL; ticker = ticker->next)
		if (strcmp(name, ticker->layout->name) == 0)
			return ticker;

	ereport(ERROR,
			(errcode(ERRCODE_UNDEFINED_OBJECT),
			 errmsg("ticker \"%s\" does not exist", shown_text(name, strlen(name), NAMEDATALEN)),
			 errhint("See the view idgen.tickers.")));
}

/*
 * raise_ticker(ticker text, above timestamptz) returns void
 *	From now on, the ticker returns only values of later ticks than that of the
 *	timestamp.  Never lowers it.  NULL has no effect.
 */
PG_FUNCTION_INFO_V1(idgen_raise_ticker);
Datum
idgen_raise_ticker(PG_FUNCTION_ARGS)
{
	Ticker	   *ticker;
	const TickerLayout *layout;
	TimestampTz above;
	int64		tick;

	require_not_null(fcinfo, 0, "ticker");
	ticker = ticker_of_name(text_to_cstring(PG_GETARG_TEXT_PP(0)));
	layout = ticker->layout;
	if (PG_ARGISNULL(1))
		PG_RETURN_NULL();

	above = clock_require_finite(PG_GETARG_TIMESTAMPTZ(1));
	if (layout->ms_per_tick == 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("ticker \"%s\" does not follow the clock", layout->name),
				 errhint("Use idgen.raise_%s().", layout->name)));

	tick = layout->ms_per_tick == 1 ? clock_unix_ms(above) : clock_unix_seconds(above);
	if (ticker_too_far_ahead_ms(layout, tick, ticker_present_value(layout)) > 0)
		ereport(ERROR,
				(errcode(ERRCODE_DATETIME_VALUE_OUT_OF_RANGE),
				 errmsg("timestamp is too far ahead of the clock for ticker \"%s\"", layout->name),
				 errdetail("%s() would have to wait until the clock is within idgen.max_ahead of it, and a ticker cannot be lowered.",
						   layout->name),
				 errhint("Check the timestamp, or increase idgen.max_ahead first.")));

	ticker_raise(ticker, ticker_values_of_ticks(layout, Max(tick, 0) + 1) - 1, "raise_ticker");
	PG_RETURN_VOID();
}

/*
 * ticker_state(ticker text, OUT last_value bigint, OUT last_time timestamptz,
 *				OUT ahead interval, OUT reserved_value bigint,
 *				OUT reserved_until timestamptz)
 *
 * The state of a ticker of this database in this server's memory (NULL until
 * it starts), and the high-water mark in its sequence, which a standby has,
 * too.
 */
PG_FUNCTION_INFO_V1(idgen_ticker_state);
Datum
idgen_ticker_state(PG_FUNCTION_ARGS)
{
	Ticker	   *ticker = ticker_of_name(text_to_cstring(PG_GETARG_TEXT_PP(0)));
	const TickerLayout *layout = ticker->layout;
	TupleDesc	tupdesc;
	Datum		values[5];
	bool		nulls[5];
	uint64		last = ticker_slot_last(ticker->number);

	if (get_call_result_type(fcinfo, NULL, &tupdesc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");

	put_value(layout, last, &values[0], &nulls[0]);
	put_value(layout, ticker_stored_mark(ticker), &values[3], &nulls[3]);

	nulls[2] = nulls[1];
	if (!nulls[2])
	{
		TimestampTz now = GetCurrentTimestamp();
		TimestampTz ahead_until = Max(DatumGetTimestampTz(values[1]), now);

		values[2] = DirectFunctionCall2(timestamp_mi, TimestampGetDatum(ahead_until),
										TimestampGetDatum(now));
	}

	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(tupdesc), values, nulls)));
}
