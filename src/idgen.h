/*
 * idgen.h
 *	  The tickers and settings of the schemes, which idgen.c initializes.
 */
#ifndef IDGEN_H
#define IDGEN_H

#include "ticker.h"

/* int_ids.c */
#define NODE_UNSET			(-1)
#define NODE_MAX			PG_UINT16_MAX	/* trace_id() has the most bits */

extern int	node_id_setting;
extern Ticker snowflake_ticker;
extern Ticker trace_id_ticker;
extern Ticker js_id_ticker;

/* decimal_id.c */
#define LAUNCH_UNSET		(-1)
#define DECIMAL_LAUNCH_MAX	99999

extern int	launch_id_setting;
extern Ticker decimal_id_ticker;

/* uuid_time.c */
extern Ticker uuid_v7_ordered_ticker;

#endif							/* IDGEN_H */
