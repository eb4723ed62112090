/*-------------------------------------------------------------------------
 *
 * int_ids.h
 *	  Tickers, settings and the default epoch of int_ids.c.
 *
 *-------------------------------------------------------------------------
 */
#ifndef IDGEN_INT_IDS_H
#define IDGEN_INT_IDS_H

#include "ticker.h"

/* The default of the argument "epoch", 2020-01-01 00:00:00+00, and in Unix ms */
#define DEFAULT_EPOCH		INT64CONST(631152000000000)
#define DEFAULT_EPOCH_MS	INT64CONST(1577836800000)

/* decimal_id: counter, then five places of generator, then five of launch */
#define DECIMAL_COUNTERS	922337202
#define DECIMAL_GENERATORS	100000

#define NODE_UNSET			(-1)
#define NODE_MAX			PG_UINT16_MAX	/* trace_id() has the most bits */
#define LAUNCH_UNSET		(-1)
#define DECIMAL_LAUNCH_MAX	99999

extern Ticker snowflake_ticker;
extern Ticker trace_id_ticker;
extern Ticker js_id_ticker;
extern Ticker decimal_id_ticker;

extern int	node_id_setting;
extern int	launch_id_setting;

#endif							/* IDGEN_INT_IDS_H */
