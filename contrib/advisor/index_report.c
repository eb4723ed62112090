/*
 * index_report.c
 *	  What index_report() measures and advises.
 *
 * The report must not disturb a server in use.  It reads at most 2,000 pages of
 * the index and its table, takes only the locks of a SELECT, locks a page while
 * it copies it, can be canceled between any two pages, and writes nothing.
 *
 * It runs no code of the index's owner as the caller.  Therefore, it compares
 * keys by built-in functions only, and reads from pg_index whether there are a
 * predicate or expressions: the relation cache would fold their constants,
 * which calls functions.
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
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"
#include "utils/rls.h"
#include "utils/timestamp.h"

#include "advisor.h"

PG_MODULE_MAGIC;

#define NEWEST_ROWS_MAX		100000

/* the greatest number of rows that expected_key_cost() takes */
#define MAX_ROWS			1e15

/*
 * The WAL record of an insert into a leaf page, without the tuple: record
 * header, block reference, short data header, offset number.
 */
#define INSERT_RECORD_BYTES	(SizeOfXLogRecord + 20 + 2 + 2)

/* The tuples that splits move and write again, for a tuple that is inserted. */
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
 * The report requires SELECT on the table or on all key columns, without a
 * policy that hides rows, or the rights of a monitoring role.  SELECT on the
 * columns is not sufficient if the index has expressions or a predicate.
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

/* A relation that does not exist, or was dropped concurrently, is an error. */
static Relation
open_relation(Oid relid)
{
	Relation	relation = try_relation_open(relid, AccessShareLock);

	if (relation == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("relation with OID %u does not exist", relid)));
	return relation;
}

/*
 * Open an index and its table.  As for all other commands, the caller must have
 * USAGE on the schema, and the table is locked first.
 */
static Relation
open_index(Oid relid, Relation *table)
{
	Oid			table_oid = IndexGetRelation(relid, true);
	char		kind = get_rel_relkind(relid);
	Oid			schema = get_rel_namespace(relid);

	if (OidIsValid(schema) &&
		!DatumGetBool(DirectFunctionCall2(has_schema_privilege_id, ObjectIdGetDatum(schema),
										  CStringGetTextDatum("USAGE"))))
		aclcheck_error(ACLCHECK_NO_PRIV, OBJECT_SCHEMA, get_namespace_name(schema));
	if (OidIsValid(schema) && kind != RELKIND_INDEX)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("cannot report on relation \"%s\"", get_rel_name(relid)),
				 errdetail_relkind_not_supported(kind),
				 errhint("Specify an index of a table or of a partition, or a table with a primary key.")));
	*table = open_relation(OidIsValid(table_oid) ? table_oid : relid);
	return open_relation(relid);
}

/*
 * An index that cannot be read is an error.  ReadBufferExtended() refuses the
 * temporary ones of other sessions.
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

/* An index of at most this many pages stays in memory, whatever its keys are. */
#define FEW_BYTES	CppAsString2(100 * BLCKSZ)

/*
 * The row of index_report(), whose search_path is pg_catalog, from the sample.
 */
static const char *const report_query =
"SELECT i.indexrelid::regclass, i.indrelid::regclass, k.columns, s.rows::bigint, s.index_bytes::bigint, s.leaf_pages::bigint, s.leaf_density,"
" s.fragmentation, s.reindex_saves_bytes::bigint, CASE WHEN s.located_rows > 0 THEN least(1, s.newest_leaf_pages / s.leaf_pages) END,"
" s.placement, s.images_per_row, s.wal_per_row,"
/* at the rate of these rows, of which a period of keyed_comb() has an hour */
" CASE WHEN c.is_own AND s.wal_per_row > 0"
"  THEN (SELECT image_bytes_per_row + record_bytes_per_row FROM idgen.expected_key_cost('keyed_comb', s.rows, s.inserts,"
"   least(s.inserts * 3600 / s.seconds, 1e15))) END,"
" CASE WHEN s.index_bytes <= " FEW_BYTES " THEN NULL"
"  WHEN s.uuid_texts >= 100"
"  THEN format('All %s sampled values of column \"%s\" are UUIDs as text, and type uuid would save about %s of this index.',"
"   s.uuid_texts, a.attname, pg_size_pretty(s.uuid_saves_bytes::bigint))"
"  WHEN s.reindex_saves_bytes > 0.5 * s.index_bytes AND s.leaf_pages * " CppAsString2(BLCKSZ) " < 0.5 * s.index_bytes"
"  THEN format('Most pages contain no rows any more, and REINDEX INDEX CONCURRENTLY would save about %s of %s, until as many rows return.',"
"   pg_size_pretty(s.reindex_saves_bytes::bigint), pg_size_pretty(s.index_bytes::bigint))"

/*
 * Random keys fill leaf pages by 69 % in the long run.  Where rows are also
 * deleted, and new keys go to pages between others, it is 43 to 69 %, by the
 * rows of a period and those kept; less than that does not soon come back.
 */
"  WHEN s.leaf_density < CASE WHEN (s.uuid_version IN (0, 4) OR s.placement IN ('local', 'scattered', 'mixed'))"
"    AND pg_stat_get_tuples_deleted(i.indrelid) > 0.1 * pg_stat_get_tuples_inserted(i.indrelid)"
"   THEN 0.4 ELSE 0.65 * s.fillfactor END"
"  THEN format('The leaf pages are only %s %% full, and REINDEX INDEX CONCURRENTLY would save about %s of %s.',"
"   round(100 * s.leaf_density), pg_size_pretty(s.reindex_saves_bytes::bigint), pg_size_pretty(s.index_bytes::bigint))"
"  WHEN s.placement = 'scattered' AND c.is_own"
"  THEN format('The newest %s rows are on %s leaf pages, and keys of idgen.keyed_comb() or idgen.uuid_v7() would be on few.%s',"
"   s.located_rows, s.newest_leaf_pages, CASE WHEN NOT i.indisprimary"
"    THEN ' If the values are secrets, such as tokens, they must stay random.' END) END "
"FROM (VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18)) s (rows, index_bytes, leaf_pages, leaf_density,"
"  fragmentation, fillfactor, reindex_saves_bytes, uuid_texts, uuid_saves_bytes, uuid_version, located_rows, newest_leaf_pages,"
"  images_per_row, wal_per_row, inserts, seconds, placement, index)"
" JOIN pg_index i ON i.indexrelid = s.index JOIN pg_attribute a ON a.attrelid = i.indexrelid AND a.attnum = 1,"
" LATERAL (SELECT string_agg(pg_get_indexdef(i.indexrelid, n, true), ', ' ORDER BY n) FROM generate_series(1, i.indnkeyatts) n) k (columns),"

/*
 * Keys that can change are uuids of the table's own, in no foreign key, alone
 * or before a time.  Those of versions 6 and 7 are ordered already, but loaded
 * in another order; those of versions 3 and 5 are computed from names.
 */
" LATERAL (SELECT s.uuid_version IS NOT NULL AND s.uuid_version NOT IN (3, 5, 6, 7) AND i.indisunique AND i.indpred IS NULL"
"  AND (i.indnkeyatts = 1 OR i.indnkeyatts = 2 AND (SELECT t.typcategory = 'D' FROM pg_attribute b JOIN pg_type t ON t.oid = b.atttypid"
"   WHERE b.attrelid = i.indexrelid AND b.attnum = 2))"
"  AND NOT EXISTS (SELECT FROM pg_constraint f"
"   WHERE f.conrelid = i.indrelid AND f.contype = 'f' AND i.indkey[0] = ANY (f.conkey))) c (is_own)";

/* The row of a report; rows_per_checkpoint, in as many seconds, is NAN if it is not given. */
static Datum
make_report(Relation index, const LeafSample *sample, const NewestRows *newest,
			double rows_per_checkpoint, double seconds)
{
	double		size = (double) RelationGetNumberOfBlocks(index) * BLCKSZ;
	double		images = newest->images / rows_per_checkpoint;
	double		moves = newest->placement != PLACEMENT_ORDERED ? RANDOM_MOVES :
		newest->splits_in_middle ? MIDDLE_MOVES : ORDERED_MOVES;
	double		wal = images * newest->image_bytes +
		newest->share * (INSERT_RECORD_BYTES + sample->tuple_bytes * (1 + moves));
	bool		writes_wal = index->rd_rel->relpersistence == RELPERSISTENCE_PERMANENT;
	double		numbers[] = {
		sample->rows,
		size,
		sample->leaf_pages,
		sample->density,
		sample->fragmentation,
		BTGetFillFactor(index) / 100.0,
		isnan(sample->rebuilt_bytes) ? NAN : Max(size - sample->rebuilt_bytes, 0),
		sample->uuid_texts == sample->values ? sample->values : 0,
		sample->uuid_saves,
		sample->uuid_version,
		newest->located,
		newest->leaf_pages,
		writes_wal || isnan(rows_per_checkpoint) ? images : 0,
		writes_wal || isnan(rows_per_checkpoint) ? wal : 0,
		rows_per_checkpoint,
		seconds
	};
	Oid			types[lengthof(numbers) + 2];
	Datum		values[lengthof(types)];
	char		nulls[lengthof(types)];
	int			count = 0;
	Datum		result;

	for (; count < (int) lengthof(numbers); count++)
	{
		types[count] = FLOAT8OID;
		values[count] = Float8GetDatum(numbers[count]);
		nulls[count] = isnan(numbers[count]) ? 'n' : ' ';
	}
	types[count] = TEXTOID;
	values[count] = CStringGetTextDatum(placement_names[newest->placement]);
	nulls[count++] = ' ';
	types[count] = OIDOID;
	values[count] = ObjectIdGetDatum(RelationGetRelid(index));
	nulls[count++] = ' ';

	SPI_connect();
	if (SPI_execute_with_args(report_query, count, types, values, nulls, false, 0) != SPI_OK_SELECT ||
		SPI_processed != 1)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("index \"%s\" is newer than the snapshot of the transaction",
						RelationGetRelationName(index))));
	result = PointerGetDatum(SPI_returntuple(SPI_tuptable->vals[0], SPI_tuptable->tupdesc));
	SPI_finish();
	return result;
}

/* The index of a table's primary key; what has none is the relation to report on. */
static Oid
index_of(Oid relid)
{
	Oid			constraint = InvalidOid;

	(void) get_primary_key_attnos(relid, true, &constraint);
	return OidIsValid(constraint) ? get_constraint_index(constraint) : relid;
}

/* The seconds of the interval between two checkpoints; as key_plan(), of 1 second to 1 year. */
static double
checkpoint_seconds(const Interval *checkpoint)
{
	double		seconds = (checkpoint->month * (DAYS_PER_YEAR / MONTHS_PER_YEAR) + checkpoint->day) * SECS_PER_DAY +
		checkpoint->time / (double) USECS_PER_SEC;

	if (seconds < 1 || seconds > DAYS_PER_YEAR * SECS_PER_DAY)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("checkpoint must be between 1 second and 1 year"),
				 errdetail("The value is %.0f seconds.", seconds)));
	return seconds;
}

/* index_report(index regclass, rows_per_checkpoint bigint, newest_rows int, checkpoint interval, OUT ...) */
PG_FUNCTION_INFO_V1(idgen_index_report);
Datum
idgen_index_report(PG_FUNCTION_ARGS)
{
	double		rows_per_checkpoint = PG_ARGISNULL(1) ? NAN : Min(PG_GETARG_INT64(1), MAX_ROWS);
	double		seconds;
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
	if (PG_ARGISNULL(2))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("newest_rows must not be null")));
	if (PG_GETARG_INT32(2) < 1 || PG_GETARG_INT32(2) > NEWEST_ROWS_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("newest_rows must be between 1 and %d", NEWEST_ROWS_MAX),
				 errdetail("The value is %d.", PG_GETARG_INT32(2))));
	if (PG_ARGISNULL(3))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("checkpoint must not be null")));
	seconds = checkpoint_seconds(PG_GETARG_INTERVAL_P(3));

	index = open_index(index_of(PG_GETARG_OID(0)), &table);
	require_rights(table, index);
	require_readable(index);
	sample = sample_leaves(index);
	newest = read_newest_rows(index, table, &sample, PG_GETARG_INT32(2), rows_per_checkpoint);
	result = make_report(index, &sample, &newest, rows_per_checkpoint, seconds);
	relation_close(index, AccessShareLock);
	relation_close(table, AccessShareLock);
	return result;
}
