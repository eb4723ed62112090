/*
 * index_report.c
 *	  The measurements of index_report().
 *
 * The report must not disturb a busy server.  It reads at most 2,000 pages of
 * the index and its table, and locks each page only while it copies it.  It
 * takes only the locks of a SELECT, writes nothing, and can be canceled
 * between any two pages.
 *
 * It must not execute code of the index's owner with the privileges of the
 * caller.  Therefore, it compares keys only with built-in functions.  It reads
 * from pg_index whether the index has a predicate or expressions, because the
 * relation cache would fold their constants, and thereby call functions.
 */
#include "postgres.h"

#include <math.h>

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/nbtree.h"
#include "access/relation.h"
#include "access/xlog.h"
#include "access/xlogrecord.h"
#include "catalog/index.h"
#include "catalog/pg_am.h"
#include "catalog/pg_authid.h"
#include "catalog/pg_class.h"
#include "catalog/pg_constraint.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"
#include "utils/rls.h"

#include "advisor.h"

/* since version 18, pg_get_loaded_modules() returns the name and the version */
#ifdef PG_MODULE_MAGIC_EXT
PG_MODULE_MAGIC_EXT(.name = "idgen_advisor",.version = "0.9.0");
#else
PG_MODULE_MAGIC;
#endif

/*
 * The size of the WAL record for an insert into a leaf page, without the
 * tuple: record header, block reference, short data header, offset number.
 */
#define INSERT_RECORD_BYTES	(SizeOfXLogRecord + 20 + 2 + 2)

/* The number of tuples that splits move and log again, per inserted tuple */
#define RANDOM_MOVES	(0.5 / M_LN2)
#define MIDDLE_MOVES	1.0
#define ORDERED_MOVES	(1.0 / 9)

static const char *const placement_names[] = {
	[PLACEMENT_UNKNOWN] = "unknown",
	[PLACEMENT_ORDERED] = "ordered",
	[PLACEMENT_LOCAL] = "local",
	[PLACEMENT_SCATTERED] = "scattered",
	[PLACEMENT_MIXED] = "mixed"
};

/*
 * Check that the caller is a member of pg_stat_scan_tables, or that no policy
 * hides rows and the caller has SELECT on the table or on all key columns.
 * SELECT on the key columns is not sufficient if the index has expressions or
 * a predicate.
 */
static void
require_rights(Relation table, Relation index)
{
	Oid			relid = RelationGetRelid(table);
	AclResult	result;

	if (has_privs_of_role(GetUserId(), ROLE_PG_STAT_SCAN_TABLES))
		return;

	result = pg_class_aclcheck(relid, GetUserId(), ACL_SELECT);
	if (result != ACLCHECK_OK &&
		heap_attisnull(index->rd_indextuple, Anum_pg_index_indexprs, NULL) &&
		heap_attisnull(index->rd_indextuple, Anum_pg_index_indpred, NULL))
	{
		result = ACLCHECK_OK;
		for (int i = 0; i < index->rd_index->indnkeyatts && result == ACLCHECK_OK; i++)
			result = pg_attribute_aclcheck(relid, index->rd_index->indkey.values[i],
										   GetUserId(), ACL_SELECT);
	}
	if (result != ACLCHECK_OK)
		aclcheck_error(result, get_relkind_objtype(table->rd_rel->relkind),
					   RelationGetRelationName(table));

	if (check_enable_rls(relid, InvalidOid, true) == RLS_ENABLED)
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("row-level security hides rows of table \"%s\"",
						RelationGetRelationName(table)),
				 errhint("Members of pg_stat_scan_tables can report on the index.")));
}

static void
report_missing(Oid relid)
{
	ereport(ERROR,
			(errcode(ERRCODE_UNDEFINED_TABLE),
			 errmsg("relation with OID %u does not exist", relid)));
}

/* Open a relation.  Raises 42P01 if it does not exist or was dropped concurrently. */
static Relation
open_relation(Oid relid)
{
	Relation	relation = try_relation_open(relid, AccessShareLock);

	if (relation == NULL)
		report_missing(relid);
	return relation;
}

/*
 * Open an index and its table.  As in other commands, the caller must have
 * USAGE on the schema, and the table is locked before the index.  Everything
 * is checked after that, because another session may be creating or dropping
 * the relation.
 */
static Relation
open_index(Oid relid, Relation *table)
{
	Oid			table_oid = IndexGetRelation(relid, true);
	Relation	index;
	Oid			schema;

	*table = open_relation(OidIsValid(table_oid) ? table_oid : relid);
	index = open_relation(relid);

	schema = RelationGetNamespace(index);
	if (!DatumGetBool(DirectFunctionCall2(has_schema_privilege_id, ObjectIdGetDatum(schema),
										  CStringGetTextDatum("USAGE"))))
		aclcheck_error(ACLCHECK_NO_PRIV, OBJECT_SCHEMA, get_namespace_name(schema));
	if (index->rd_rel->relkind != RELKIND_INDEX)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("cannot report on relation \"%s\"", RelationGetRelationName(index)),
				 errdetail_relkind_not_supported(index->rd_rel->relkind),
				 errhint("Specify an index of a table or of a partition, or a table with a primary key.")));
	if (index->rd_index->indrelid != table_oid)
		report_missing(relid);
	return index;
}

/*
 * Raise an error if the index cannot be read.  ReadBufferExtended() rejects
 * the temporary indexes of other sessions.
 */
static void
require_readable(Relation index)
{
	const char *name = RelationGetRelationName(index);
	Form_pg_index form = index->rd_index;

	if (index->rd_rel->relam != BTREE_AM_OID)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("index \"%s\" is not a B-tree", name),
				 errhint("Only B-tree indexes are supported.")));
	if (RecoveryInProgress() &&
		index->rd_rel->relpersistence != RELPERSISTENCE_PERMANENT)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot access temporary or unlogged relations during recovery")));
	if (!form->indisvalid || !form->indisready || !form->indislive)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("index \"%s\" is not valid", name),
				 errhint("Wait until the index is built, or run REINDEX.")));
}

/* Make the row of internal_index_measures(), with NULL for unknown values. */
static Datum
make_measures(FunctionCallInfo fcinfo, Relation index, const LeafSample *sample,
			  const NewestRows *newest, double rows_per_checkpoint)
{
	double		size = (double) RelationGetNumberOfBlocks(index) * BLCKSZ;
	double		images = newest->images / rows_per_checkpoint;
	double		moves = newest->placement != PLACEMENT_ORDERED ? RANDOM_MOVES :
		newest->splits_in_middle ? MIDDLE_MOVES : ORDERED_MOVES;
	double		wal = images * newest->image_bytes +
		INSERT_RECORD_BYTES + sample->tuple_bytes * (1 + moves);
	double		numbers[] = {
		sample->rows,
		size,
		sample->leaf_pages,
		sample->density,
		sample->tuple_bytes,
		BTGetFillFactor(index) / 100.0,
		isnan(sample->rebuilt_bytes) ? NAN : Max(size - sample->rebuilt_bytes, 0),
		sample->uuid_version,
		newest->located,
		newest->leaf_pages,
		images,
		wal
	};
	Datum		values[lengthof(numbers) + 3];
	bool		nulls[lengthof(values)] = {false};
	TupleDesc	columns;

	values[0] = ObjectIdGetDatum(RelationGetRelid(index));
	values[1] = CStringGetTextDatum(placement_names[newest->placement]);
	values[2] = BoolGetDatum(sample->prefix[0] != '\0');
	for (int i = 0; i < (int) lengthof(numbers); i++)
	{
		values[i + 3] = Float8GetDatum(numbers[i]);
		nulls[i + 3] = isnan(numbers[i]);
	}
	if (get_call_result_type(fcinfo, NULL, &columns) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	return HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(columns), values, nulls));
}

/* Return the index of a table's primary key or, for any other relation, the relation itself. */
static Oid
index_of(Oid relid)
{
	Oid			constraint = InvalidOid;

	(void) get_primary_key_attnos(relid, true, &constraint);
	return OidIsValid(constraint) ? get_constraint_index(constraint) : relid;
}

/* internal_index_measures(index regclass, rows_per_checkpoint bigint, OUT ...) */
PG_FUNCTION_INFO_V1(idgen_internal_index_measures);
Datum
idgen_internal_index_measures(PG_FUNCTION_ARGS)
{
	double		rows_per_checkpoint = PG_ARGISNULL(1) ? NAN : Min(PG_GETARG_INT64(1), MAX_ROWS);
	Datum		result;
	Relation	table;
	Relation	index;
	LeafSample	sample;
	NewestRows	newest;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	if (rows_per_checkpoint < 1)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("rows_per_checkpoint must be at least 1"),
				 errdetail("The value is %lld.", (long long) PG_GETARG_INT64(1))));
	index = open_index(index_of(PG_GETARG_OID(0)), &table);
	require_rights(table, index);
	require_readable(index);
	sample = sample_leaves(index);
	newest = read_newest_rows(index, table, &sample, rows_per_checkpoint);
	result = make_measures(fcinfo, index, &sample, &newest, rows_per_checkpoint);
	relation_close(index, AccessShareLock);
	relation_close(table, AccessShareLock);
	return result;
}
