/*-------------------------------------------------------------------------
 *
 * compat.h
 *	  Differences between the server versions that idgen supports.
 *
 *-------------------------------------------------------------------------
 */
#ifndef IDGEN_COMPAT_H
#define IDGEN_COMPAT_H

#include "utils/guc.h"

/* The macros for values of variable length; before version 16, postgres.h has them. */
#if PG_VERSION_NUM >= 160000
#include "varatt.h"
#endif

/* The number of this backend's transaction, which needs <storage/proc.h>. */
#if PG_VERSION_NUM >= 170000
#define MY_LOCAL_TRANSACTION_ID	MyProc->vxid.lxid
#else
#define MY_LOCAL_TRANSACTION_ID	MyProc->lxid
#endif

/* The subtransaction that first gave a relation another file. */
#if PG_VERSION_NUM >= 160000
#define NEW_FILE_SUBID	rd_firstRelfilelocatorSubid
#else
#define NEW_FILE_SUBID	rd_firstRelfilenodeSubid
#endif

/*
 * Settings.  Version 15 exports only the array of all settings.
 * GUC_ALLOW_IN_PARALLEL came with minor releases of versions 15 to 17.
 */
#if PG_VERSION_NUM < 160000
#include "utils/guc_tables.h"

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

#ifndef GUC_ALLOW_IN_PARALLEL
#define GUC_ALLOW_IN_PARALLEL	0
#endif

/* Before version 17, an extension has no wait events of its own. */
#if PG_VERSION_NUM < 170000
#define WaitEventExtensionNew(name) PG_WAIT_EXTENSION
#endif

/*
 * Named shared memory.  From version 17 on, the server allocates a segment at
 * its first use.  Earlier versions have a fixed amount of shared memory, part
 * of which a library can request if the postmaster loads it.
 *
 * A function that initializes a segment has the parameters INIT_SEGMENT_ARGS.
 */
#if PG_VERSION_NUM >= 190000
#include "storage/dsm_registry.h"

#define HAVE_DSM_REGISTRY	true
#define INIT_SEGMENT_ARGS	void *segment, void *arg pg_attribute_unused()
#define get_named_segment(name, size, init, found) \
	GetNamedDSMSegment(name, size, init, found, NULL)
#elif PG_VERSION_NUM >= 170000
#include "storage/dsm_registry.h"

#define HAVE_DSM_REGISTRY	true
#define INIT_SEGMENT_ARGS	void *segment
#define get_named_segment(name, size, init, found) \
	GetNamedDSMSegment(name, size, init, found)
#else
#include "storage/lwlock.h"
#include "storage/shmem.h"

#define HAVE_DSM_REGISTRY	false
#define INIT_SEGMENT_ARGS	void *segment

static inline void *
get_named_segment(const char *name, Size size, void (*init) (void *), bool *found)
{
	void	   *segment;

	LWLockAcquire(AddinShmemInitLock, LW_EXCLUSIVE);
	segment = ShmemInitStruct(name, size, found);
	if (!*found)
		init(segment);
	LWLockRelease(AddinShmemInitLock);
	return segment;
}
#endif

/* From version 19 on, a tranche is named when its id is allocated. */
#if PG_VERSION_NUM >= 190000
#define new_lwlock_tranche(name)			LWLockNewTrancheId(name)
#define register_lwlock_tranche(id, name)	((void) 0)
#else
#define new_lwlock_tranche(name)			LWLockNewTrancheId()
#define register_lwlock_tranche(id, name)	LWLockRegisterTranche(id, name)
#endif

/* Building a jsonb value. */
#include "utils/jsonb.h"

#if PG_VERSION_NUM >= 190000
#define push_jsonb_value	pushJsonbValue
#else
typedef struct JsonbInState
{
	JsonbValue *result;
	JsonbParseState *levels;
} JsonbInState;

static inline void
push_jsonb_value(JsonbInState *state, JsonbIteratorToken token, JsonbValue *value)
{
	state->result = pushJsonbValue(&state->levels, token, value);
}
#endif

#endif							/* IDGEN_COMPAT_H */
