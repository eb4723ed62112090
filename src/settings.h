/*
 * settings.h
 *	  The settings idgen.node_id, idgen.launch_id and idgen.key_file.
 */
#ifndef IDGEN_SETTINGS_H
#define IDGEN_SETTINGS_H

/* idgen.node_id or idgen.launch_id is not set */
#define SETTING_UNSET		(-1)

/* the greatest values of these settings */
#define NODE_MAX			PG_UINT16_MAX	/* trace_id() has the widest node */
#define LAUNCH_MAX			99999

/* the end of a generator's HINT if the required setting is missing */
#define HINT_WHERE_TO_SET \
	"In postgresql.conf, include a file outside the data directory that sets it, because copies of the data directory must not have the same number."

extern int	node_id_setting;
extern int	launch_id_setting;
extern char *key_file_setting;	/* empty if it is not set */

extern void define_settings(void);

#endif							/* IDGEN_SETTINGS_H */
