/*-------------------------------------------------------------------------
 *
 * uuid_time.h
 *	  The ticker of uuid_v7_ordered().
 *
 *-------------------------------------------------------------------------
 */
#ifndef IDGEN_UUID_TIME_H
#define IDGEN_UUID_TIME_H

#include "ticker.h"

extern Ticker uuid_v7_ticker;

#endif							/* IDGEN_UUID_TIME_H */
