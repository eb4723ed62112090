/*-------------------------------------------------------------------------
 *
 * decimal_id.h
 *	  The ticker, the setting and the limits of decimal_id.c.
 *
 *-------------------------------------------------------------------------
 */
#ifndef IDGEN_DECIMAL_ID_H
#define IDGEN_DECIMAL_ID_H

#include "ticker.h"

/* the counter, then five decimal places of generator and five of launch */
#define DECIMAL_COUNTERS	922337202
#define DECIMAL_GENERATORS	100000
#define DECIMAL_LAUNCH_MAX	99999
#define DECIMAL_LAUNCHES	(DECIMAL_LAUNCH_MAX + 1)

#define LAUNCH_UNSET		(-1)

extern Ticker decimal_id_ticker;

extern int	launch_id_setting;

#endif							/* IDGEN_DECIMAL_ID_H */
