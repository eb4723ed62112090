/*
 * idgen.h
 *	  The settings of the schemes, which idgen.c defines.
 */
#ifndef IDGEN_H
#define IDGEN_H

#include "ticker.h"

/* the end of the HINT of a generator that requires a setting */
#define HINT_WHO_MAY_SET \
	"Only superusers and roles with the privilege SET (for ALTER SYSTEM, the privilege ALTER SYSTEM) on the parameter can set it."

/* int_ids.c */
#define NODE_UNSET			(-1)
#define NODE_MAX			PG_UINT16_MAX	/* trace_id() has the most bits */

extern int	node_id_setting;

/* decimal_id.c */
#define LAUNCH_UNSET		(-1)
#define DECIMAL_LAUNCH_MAX	99999

extern int	launch_id_setting;

#endif							/* IDGEN_H */
