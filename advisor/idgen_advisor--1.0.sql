/* idgen_advisor--1.0.sql: the SQL objects of idgen_advisor */

\echo Use "CREATE EXTENSION idgen_advisor" to load this file. \quit

CREATE FUNCTION idgen.expected_key_cost(
    kind text,
    index_rows float8,
    rows_per_checkpoint float8,
    rows_per_period float8 DEFAULT NULL,
    prefix_bytes int DEFAULT 2,
    run_length int DEFAULT 1,
    key_bytes int DEFAULT 16,
    rows_in_cycle float8 DEFAULT NULL,
    OUT page_images_per_row float8,
    OUT image_bytes_per_row float8,
    OUT record_bytes_per_row float8,
    OUT leaf_density float8,
    OUT index_bytes bigint
)
    LANGUAGE C IMMUTABLE PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'idgen_expected_key_cost';

COMMENT ON FUNCTION idgen.expected_key_cost(text, float8, float8, float8, int, int, int, float8) IS
'The full-page images of leaf pages, their bytes, and the bytes of WAL records that an insert is expected to write for a B-tree index on a key of the given kind (random, ordered or short_comb), and the leaf density in percent and the size that the index is expected to have. An argument out of range is an error (22023).';

CREATE FUNCTION idgen.advise_short_comb(
    rows_per_second float8,
    index_rows bigint,
    cache bigint DEFAULT NULL,
    checkpoint interval DEFAULT NULL,
    tolerance interval DEFAULT NULL,
    run_length int DEFAULT 1,
    OUT recommended boolean,
    OUT period interval,
    OUT prefix_bytes int,
    OUT cycle interval,
    OUT wal_bytes_per_row float8,
    OUT leaf_density float8,
    OUT index_bytes bigint,
    OUT active_bytes bigint
)
    RETURNS SETOF record
    LANGUAGE C STABLE PARALLEL SAFE ROWS 20
    AS 'MODULE_PATHNAME', 'idgen_advise_short_comb';

COMMENT ON FUNCTION idgen.advise_short_comb(float8, bigint, bigint, interval, interval, int) IS
'Arguments for short_comb() on a table with the given insert rate and index size, with what they are expected to cost: the recommended ones in the first row, then the others by cost. An argument out of range is an error (22023).';

CREATE FUNCTION idgen.index_report(
    index regclass,
    newest_rows int DEFAULT 2000,
    clock timestamptz DEFAULT NULL,
    OUT key_kind text,
    OUT period interval,
    OUT index_rows bigint,
    OUT leaf_pages bigint,
    OUT leaf_density float8,
    OUT fragmentation float8,
    OUT heap_correlation float8,
    OUT newest_leaf_share float8,
    OUT rows_per_second float8,
    OUT rows_per_checkpoint float8,
    OUT page_images_per_row float8,
    OUT advice text
)
    LANGUAGE C VOLATILE PARALLEL RESTRICTED
    AS 'MODULE_PATHNAME', 'idgen_index_report';

COMMENT ON FUNCTION idgen.index_report(regclass, int, timestamptz) IS
'The kind of keys in the first column of a B-tree index, or of a table''s primary key, and what they cost, estimated from a sample that is read without writing anything. Requires USAGE on the schema and either SELECT on the table or the column, or membership in pg_stat_scan_tables (42501).';
