/*
 * idgen.c
 *	  Initialization of the library: its settings.
 *
 * Before the library is loaded, every role can set any idgen.* parameter: the
 * server keeps the text in a placeholder.  When the library then defines the
 * parameter, the server drops a value that its role had no right to set, with
 * only a warning.  The built-in default takes its place, not the value of
 * postgresql.conf or ALTER DATABASE that the placeholder had replaced.  Thus a
 * client could revert the administrator's settings; therefore the library
 * refuses to load in such a session.
 */
#include "postgres.h"

#include "datatype/timestamp.h"
#include "fmgr.h"
#include "utils/acl.h"
#include "utils/guc_tables.h"

#include "idgen.h"
#include "key_file.h"

/* Version 15 exports only the array of all settings. */
#if PG_VERSION_NUM < 160000
static inline struct config_generic *
find_option(const char *name, bool create_placeholders pg_attribute_unused(),
			bool skip_errors pg_attribute_unused(), int elevel pg_attribute_unused())
{
	struct config_generic **variables = get_guc_variables();

	for (int i = 0; i < GetNumConfigOptions(); i++)
		if (pg_strcasecmp(variables[i]->name, name) == 0)
			return variables[i];
	return NULL;
}
#endif

/* It came with minor releases of versions 15 to 17. */
#ifndef GUC_ALLOW_IN_PARALLEL
#define GUC_ALLOW_IN_PARALLEL	0
#endif

/* from version 18 on, pg_get_loaded_modules() shows name and version */
#ifdef PG_MODULE_MAGIC_EXT
PG_MODULE_MAGIC_EXT(.name = "idgen",.version = "1.0.0");
#else
PG_MODULE_MAGIC;
#endif

extern PGDLLEXPORT void _PG_init(void);

/* A setting: a number that privileged roles set, or text of configuration files. */
typedef struct Setting
{
	const char *name;
	const char *short_description;
	const char *long_description;
	char	  **text;			/* its variable; NULL for a number */
	int		   *number;
	int			initial;
	int			min;
	int			max;
	int			unit;			/* a flag GUC_UNIT_..., or 0 */
} Setting;

static const Setting settings[] = {
	{
		"idgen.node_id",
		"Sets the number of this server in identifiers that contain one.",
		"Servers that generate identifiers for the same tables need different numbers: 0 to 1023 for snowflake(), 0 to 31 for js_id(), "
		"0 to 65535 for trace_id(). -1 means that it is not set.",
		NULL, &node_id_setting, NODE_UNSET, NODE_UNSET, NODE_MAX, 0
	},
	{
		"idgen.launch_id",
		"Sets the last five decimal places of decimal_id().",
		"1 to 99999; 0 is for tests. -1 means that it is not set.",
		NULL, &launch_id_setting, LAUNCH_UNSET, LAUNCH_UNSET, DECIMAL_LAUNCH_MAX, 0
	},
	{
		"idgen.key_file",
		"Sets the file with the keys of masks, permutations and hmac_comb().",
		"Relative to the data directory. Each line is a name and a key of 32 hexadecimal digits. The group and others must not be able to read it.",
		&key_file_setting, NULL, 0, 0, 0, 0
	}
};

/* Would the server let this role set the parameter?  See set_config_option(). */
static bool
may_set(const char *name, GucContext context, Oid role)
{
	return (context != PGC_USERSET && context != PGC_BACKEND) ||
		pg_parameter_aclcheck(name, role, ACL_SET) == ACLCHECK_OK;
}

/*
 * Refuse a session in which a role without the privilege has set the parameter.
 * All values of the placeholder count, because the server applies them all: the
 * current one, the one for RESET, and those that it restores at the end of
 * transactions, savepoints and functions.
 */
static void
refuse_value_without_privilege(const char *name)
{
	const struct config_generic *parameter = find_option(name, false, true, ERROR);
	bool		allowed;

	if (parameter == NULL || !(parameter->flags & GUC_CUSTOM_PLACEHOLDER))
		return;

	allowed = may_set(name, parameter->scontext, parameter->srole) &&
		may_set(name, parameter->reset_scontext, parameter->reset_srole);
	for (const GucStack *level = parameter->stack; level != NULL && allowed; level = level->prev)
		allowed = may_set(name, level->scontext, level->srole) &&
			(level->state != GUC_SET_LOCAL ||
			 may_set(name, level->masked_scontext, level->masked_srole));

	if (!allowed)
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("permission denied to set parameter \"%s\"", name),
				 errdetail("It was set before the library \"idgen\" was loaded, by a role that is not allowed to set it."),
				 errhint("Reset the parameter, or reconnect without it where the connection's options set it.")));
}

/*
 * All settings have GUC_ALLOW_IN_PARALLEL, because a query may load the library
 * during a parallel operation.  Without it, the server would then refuse all
 * values, and the session would keep the built-in defaults.
 */
static void
define(const Setting *setting)
{
	if (setting->text)

		/*
		 * If a superuser has already set it in this session, the server
		 * ignores that value with a warning.
		 */
		DefineCustomStringVariable(setting->name, setting->short_description,
								   setting->long_description, setting->text, "",
								   PGC_SIGHUP, GUC_ALLOW_IN_PARALLEL, NULL, NULL, NULL);
	else
		DefineCustomIntVariable(setting->name, setting->short_description,
								setting->long_description, setting->number,
								setting->initial, setting->min, setting->max,
								PGC_SUSET, setting->unit | GUC_ALLOW_IN_PARALLEL,
								NULL, NULL, NULL);
}

void
_PG_init(void)
{
	/* all must come first, so that a refused load has defined nothing */
	for (int i = 0; i < (int) lengthof(settings); i++)
		refuse_value_without_privilege(settings[i].name);
	for (int i = 0; i < (int) lengthof(settings); i++)
		define(&settings[i]);

	MarkGUCPrefixReserved("idgen");
}
