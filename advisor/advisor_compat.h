/*-------------------------------------------------------------------------
 *
 * advisor_compat.h
 *	  Differences between server versions that only the advisor depends on.
 *
 *-------------------------------------------------------------------------
 */
#ifndef IDGEN_ADVISOR_COMPAT_H
#define IDGEN_ADVISOR_COMPAT_H

#include "access/nbtree.h"

/* Descend from the root to the leaf page of a key. */
static inline void
find_leaf(Relation index, Relation table pg_attribute_unused(),
		  BTScanInsert key, Buffer *leaf)
{
#if PG_VERSION_NUM >= 190000
	_bt_search(index, table, key, leaf, BT_READ, false);
#elif PG_VERSION_NUM >= 160000
	_bt_search(index, table, key, leaf, BT_READ);
#else
	_bt_search(index, key, leaf, BT_READ, NULL);
#endif
}

/* The rights of a role on a schema. */
#if PG_VERSION_NUM >= 160000
#define schema_aclcheck(schema, role, mode) \
	object_aclcheck(NamespaceRelationId, schema, role, mode)
#else
#define schema_aclcheck(schema, role, mode) \
	pg_namespace_aclcheck(schema, role, mode)
#endif

/* The functions that return the statistics of checkpoints. */
#if PG_VERSION_NUM >= 170000
#define CHECKPOINTS_TIMED		F_PG_STAT_GET_CHECKPOINTER_NUM_TIMED
#define CHECKPOINTS_REQUESTED	F_PG_STAT_GET_CHECKPOINTER_NUM_REQUESTED
#define CHECKPOINTS_SINCE		F_PG_STAT_GET_CHECKPOINTER_STAT_RESET_TIME
#else
#define CHECKPOINTS_TIMED		F_PG_STAT_GET_BGWRITER_TIMED_CHECKPOINTS
#define CHECKPOINTS_REQUESTED	F_PG_STAT_GET_BGWRITER_REQUESTED_CHECKPOINTS
#define CHECKPOINTS_SINCE		F_PG_STAT_GET_BGWRITER_STAT_RESET_TIME
#endif

#endif							/* IDGEN_ADVISOR_COMPAT_H */
