/*
 * idgen.c
 *	  Initialization of the library.
 */
#include "postgres.h"

#include "fmgr.h"

#include "keyed_prefix.h"
#include "settings.h"
#include "ticker.h"

/* since version 18, pg_get_loaded_modules() returns the name and the version */
#ifdef PG_MODULE_MAGIC_EXT
PG_MODULE_MAGIC_EXT(.name = "idgen",.version = "1.0.0");
#else
PG_MODULE_MAGIC;
#endif

extern PGDLLEXPORT void _PG_init(void);

static SharedSegment *const shared_segments[] = {&ticker_segment, &keyed_segment};

/* If this function raises an error, the server calls it again when it next loads the library. */
void
_PG_init(void)
{
	shared_memory_init(shared_segments, lengthof(shared_segments));
	define_settings();
}
