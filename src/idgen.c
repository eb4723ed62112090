/*
 * idgen.c
 *	  Initialization of the library.
 */
#include "postgres.h"

#include "fmgr.h"

#include "keyed_prefix.h"
#include "settings.h"
#include "ticker.h"

/* from version 18 on, pg_get_loaded_modules() shows name and version */
#ifdef PG_MODULE_MAGIC_EXT
PG_MODULE_MAGIC_EXT(.name = "idgen",.version = "1.0.0");
#else
PG_MODULE_MAGIC;
#endif

extern PGDLLEXPORT void _PG_init(void);

static SharedSegment *const shared_segments[] = {&ticker_segment, &keyed_segment};

/* If an error ends it, the next call of a function loads the library, and calls this, again. */
void
_PG_init(void)
{
	shared_memory_init(shared_segments, lengthof(shared_segments));
	define_settings();
}
