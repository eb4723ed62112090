/*
 * settings.c
 *	  The settings.  A function that needs one raises an error until it is set.
 *
 * Before the library is loaded, every role can set any idgen.* parameter.
 * When the library then defines the parameter, the server issues a WARNING for
 * a value that the role had no right to set, and ignores the value.
 */
#include "postgres.h"

#include "utils/guc.h"

#include "settings.h"

/*
 * A query may load the library during a parallel operation.  Without this
 * flag, the server would then reject all configured values, and the session
 * would keep the defaults.  In versions 15 to 17, the flag was added in a
 * minor release.
 */
#ifndef GUC_ALLOW_IN_PARALLEL
#define GUC_ALLOW_IN_PARALLEL	0
#endif

int			node_id_setting = SETTING_UNSET;
int			launch_id_setting = SETTING_UNSET;
char	   *key_file_setting = NULL;

static void
define_node_id(void)
{
	DefineCustomIntVariable("idgen.node_id",
							"Sets the number of this server in identifiers that contain one.",
							"Servers that generate identifiers for the same tables need different numbers: 0 to 1023 for snowflake(), 0 to 31 for js_id(), "
							"0 to 65535 for trace_id(). -1 means that it is not set.",
							&node_id_setting, SETTING_UNSET, SETTING_UNSET, NODE_MAX,
							PGC_SUSET, GUC_ALLOW_IN_PARALLEL, NULL, NULL, NULL);
}

static void
define_launch_id(void)
{
	DefineCustomIntVariable("idgen.launch_id",
							"Sets the last five decimal places of decimal_id().",
							"1 to 99999; 0 is for tests. -1 means that it is not set.",
							&launch_id_setting, SETTING_UNSET, SETTING_UNSET, LAUNCH_MAX,
							PGC_SUSET, GUC_ALLOW_IN_PARALLEL, NULL, NULL, NULL);
}

/* A value set for a database, role or session is ignored with a WARNING. */
static void
define_key_file(void)
{
	DefineCustomStringVariable("idgen.key_file",
							   "Sets the file with the keys of masks, permutations and hmac_comb().",
							   "Relative to the data directory. Each line is a name and a key of 32 hexadecimal digits. The group and others must not be able to read it.",
							   &key_file_setting, "",
							   PGC_SIGHUP, GUC_SUPERUSER_ONLY | GUC_ALLOW_IN_PARALLEL, NULL, NULL, NULL);
}

/* Define the settings.  After an error, the next call continues with the setting that failed. */
void
define_settings(void)
{
	static void (*const definitions[]) (void) = {define_node_id, define_launch_id, define_key_file};
	static int	defined = 0;

	for (; defined < (int) lengthof(definitions); defined++)
		definitions[defined] ();
	MarkGUCPrefixReserved("idgen");
}
