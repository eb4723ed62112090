/*-------------------------------------------------------------------------
 *
 * int_ids.h
 *	  The settings of int_ids.c.
 *
 *-------------------------------------------------------------------------
 */
#ifndef IDGEN_INT_IDS_H
#define IDGEN_INT_IDS_H

#define NODE_UNSET			(-1)
#define NODE_MAX			PG_UINT16_MAX	/* trace_id() has the most bits */
#define LAUNCH_UNSET		(-1)
#define DECIMAL_LAUNCH_MAX	99999

extern int	node_id_setting;
extern int	launch_id_setting;

#endif							/* IDGEN_INT_IDS_H */
