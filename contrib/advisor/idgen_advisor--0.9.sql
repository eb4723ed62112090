/* idgen_advisor--0.9.sql: the SQL objects of idgen_advisor, in the schema of idgen */

\echo Use "CREATE EXTENSION idgen_advisor" to load this file. \quit

CREATE FUNCTION idgen.index_report(
    index regclass, rows_per_checkpoint bigint DEFAULT NULL, checkpoint interval DEFAULT '5 minutes',
    OUT index_name regclass, OUT table_name regclass, OUT key_columns text, OUT rows bigint, OUT index_bytes bigint,
    OUT leaf_pages bigint, OUT leaf_density float8, OUT reindex_saves_bytes bigint, OUT newest_leaf_share float8,
    OUT placement text, OUT images_per_row float8, OUT wal_per_row float8, OUT keyed_comb_wal_per_row float8,
    OUT advice text, OUT reason text
)
    LANGUAGE plpgsql VOLATILE PARALLEL RESTRICTED
    SET search_path = pg_catalog, pg_temp
    AS $$
#variable_conflict use_column
DECLARE
    seconds float8 := extract(epoch FROM checkpoint);
    block_bytes int := current_setting('block_size');
    m record;
BEGIN
    IF index IS NULL THEN
        RETURN;
    ELSIF checkpoint IS NULL THEN
        RAISE EXCEPTION 'checkpoint must not be null' USING ERRCODE = 'null_value_not_allowed';
    ELSIF NOT seconds BETWEEN 1 AND 31557600 THEN
        RAISE EXCEPTION 'checkpoint must be between 1 second and 1 year'
            USING ERRCODE = 'invalid_parameter_value', DETAIL = format('The value is %s seconds.', round(seconds));
    END IF;

    -- called separately, so that the context of its errors is short
    m := idgen.internal_index_measures(index, rows_per_checkpoint);
    SELECT i.indexrelid, i.indrelid, k.columns, m.rows, m.index_bytes, m.leaf_pages, m.leaf_density,
           m.reindex_saves_bytes, CASE WHEN m.located_rows > 0 THEN least(1, m.newest_leaf_pages / m.leaf_pages) END,
           m.placement, w.images, w.wal,
           -- a period of keyed_comb() contains the rows of an hour at this rate
           CASE WHEN o.why_not IS NULL AND w.wal > 0
                THEN (SELECT c.image_bytes_per_row + c.record_bytes_per_row
                      FROM idgen.expected_key_cost('keyed_comb', m.rows, least(rows_per_checkpoint, 1e15)::float8,
                                                   least(rows_per_checkpoint * (3600 / seconds), 1e15),
                                                   key_bytes => least(m.tuple_bytes - 8, 1024)::int) c) END,
           -- such a small index stays in memory, whatever its keys are
           CASE WHEN m.index_bytes <= 100 * block_bytes THEN NULL
                WHEN s.other IS NOT NULL
                THEN format('Index %s serves the same searches; without this one, %s and all of its WAL would be '
                            'saved.', s.other::regclass, pg_size_pretty(m.index_bytes::bigint))
                ELSE nullif(concat_ws(' ', v.reindex, CASE WHEN y.reason IS NULL THEN o.change END), '') END,
           y.reason
    INTO index_name, table_name, key_columns, rows, index_bytes, leaf_pages, leaf_density, reindex_saves_bytes,
         newest_leaf_share, placement, images_per_row, wal_per_row, keyed_comb_wal_per_row, advice, reason
    FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid,
         LATERAL (SELECT CASE
                      WHEN greatest(m.index_bytes - m.reindex_saves_bytes, m.leaf_pages * block_bytes)
                           < 0.5 * m.index_bytes
                      THEN 'Most pages contain no rows any more, and ' || r.saves || ', until as many rows return.'
                      -- In the long run, leaf pages of random keys are 69 % full. If rows are also deleted, and new
                      -- keys are inserted between older keys, leaf pages are 43 to 69 % full, depending on the number
                      -- of rows of a period and on the number of rows kept.
                      WHEN m.leaf_density < CASE
                               WHEN (m.uuid_version IN (0, 4) OR m.placement IN ('local', 'scattered', 'mixed'))
                                    AND pg_stat_get_tuples_deleted(i.indrelid)
                                        > 0.1 * pg_stat_get_tuples_inserted(i.indrelid)
                               THEN 0.4 ELSE 0.65 * m.fillfactor END
                      THEN format('The leaf pages are only %s %% full, and %s.', round(100 * m.leaf_density), r.saves)
                  END AS reindex
                  FROM format('REINDEX INDEX CONCURRENTLY would save about %s of %s',
                              pg_size_pretty(m.reindex_saves_bytes::bigint),
                              pg_size_pretty(m.index_bytes::bigint)) r (saves)) v,
         LATERAL (SELECT CASE WHEN c.relpersistence = 'p' THEN m.images_per_row ELSE 0 END AS images,
                         CASE WHEN c.relpersistence = 'p' THEN m.wal_per_row ELSE 0 END AS wal) w,
         LATERAL (SELECT string_agg(pg_get_indexdef(i.indexrelid, n, true), ', ' ORDER BY n) AS columns
                  FROM generate_series(1, i.indnkeyatts) n) k,
         LATERAL (SELECT idgen.internal_index_instead(i.indexrelid) AS other) s,
         LATERAL (SELECT a.why_not, format('The newest %s rows are on %s leaf pages, and %s', m.located_rows,
                                           m.newest_leaf_pages, a.change) AS change
                  FROM idgen.internal_key_advice(i.indexrelid, m.rows, m.uuid_version, m.is_prefixed) a) o,
         LATERAL (SELECT coalesce(o.why_not, CASE
                      WHEN c.relpersistence <> 'p' THEN 'the index is not in the WAL'
                      WHEN m.placement = 'unknown' THEN 'it is not known where the newest rows are'
                      WHEN m.index_bytes <= 100 * block_bytes THEN 'the index has at most 100 pages'
                      WHEN m.placement = 'mixed' THEN 'a part of the newest rows is on few leaf pages'
                      WHEN m.placement <> 'scattered' THEN 'the newest rows are on few leaf pages' END) AS reason) y
    WHERE i.indexrelid = m.index;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'index "%" is newer than the snapshot of the transaction', index::regclass
            USING ERRCODE = 'object_not_in_prerequisite_state';
    END IF;
END $$;

COMMENT ON FUNCTION idgen.index_report(regclass, bigint, interval) IS
'The size and density of a B-tree index, or of the index of a table''s primary key, and the placement of new rows in '
'it, measured on a sample of its pages. Requires USAGE on the schema and either SELECT on the table or the key '
'columns, or membership in pg_stat_scan_tables (42501).';

CREATE FUNCTION idgen.index_reports(
    min_size bigint DEFAULT 10485760, catalogs boolean DEFAULT false, min_age interval DEFAULT '1 hour',
    OUT index_name regclass, OUT table_name regclass, OUT key_columns text, OUT rows bigint, OUT index_bytes bigint,
    OUT leaf_pages bigint, OUT leaf_density float8, OUT reindex_saves_bytes bigint, OUT newest_leaf_share float8,
    OUT placement text, OUT images_per_row float8, OUT wal_per_row float8, OUT keyed_comb_wal_per_row float8,
    OUT advice text, OUT reason text, OUT rows_per_day float8, OUT rows_per_checkpoint bigint, OUT wal_per_day bigint,
    OUT keyed_comb_wal_per_day bigint, OUT keyed_comb_saves_wal_per_day bigint, OUT rates_since timestamptz,
    OUT unknown_reason text
)
    RETURNS SETOF record
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE STRICT
    -- the limit applies to each relation separately
    SET lock_timeout = '1s'
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    moment timestamptz := clock_timestamp();
    checkpoint_interval interval;
    why_unknown text;
    reported oid[] := '{}';
    sizes bigint[] := '{}';
BEGIN
    SELECT r.checkpoint, r.since, r.unknown_reason INTO checkpoint_interval, rates_since, why_unknown
    FROM idgen.internal_rates(min_age) r;

    FOR index_name IN
        SELECT c.oid
        FROM pg_class c JOIN pg_am a ON a.oid = c.relam JOIN pg_namespace n ON n.oid = c.relnamespace
        WHERE a.amname = 'btree' AND c.relkind = 'i' AND (catalogs OR c.oid >= 16384 AND n.nspname <> 'pg_toast')
    LOOP
        BEGIN
            index_bytes := pg_relation_size(index_name);
        EXCEPTION WHEN lock_not_available THEN
            index_bytes := min_size;     -- so that it is reported as not read
        END;
        reported := reported || index_name::oid;
        sizes := sizes || index_bytes;
    END LOOP;

    FOR index_name, table_name, index_bytes, rows_per_day IN
        SELECT i.indexrelid, i.indrelid, r.size,
               pg_stat_get_tuples_inserted(i.indrelid) * 86400
                   / greatest(extract(epoch FROM moment - rates_since), 1e-4)
        FROM unnest(reported, sizes) r (index, size) JOIN pg_index i ON i.indexrelid = r.index
        WHERE r.size >= min_size
        ORDER BY r.size DESC, i.indexrelid
    LOOP
        unknown_reason := coalesce(why_unknown, CASE WHEN rows_per_day = 0
                                                THEN format('no rows were inserted since %s', rates_since) END);
        rows_per_day := CASE WHEN unknown_reason IS NULL THEN rows_per_day END;
        rows_per_checkpoint := greatest(rows_per_day * extract(epoch FROM checkpoint_interval) / 86400,
                                        CASE WHEN unknown_reason IS NULL THEN 1 END);
        BEGIN
            RETURN QUERY
            SELECT r.*, rows_per_day, rows_per_checkpoint, d.wal, d.keyed_comb_wal,
                   CASE WHEN d.keyed_comb_wal IS NOT NULL THEN greatest(d.wal - d.keyed_comb_wal, 0) END, rates_since,
                   coalesce(unknown_reason, CASE WHEN d.keyed_comb_wal IS NULL THEN coalesce(
                       r.reason, 'the server does not count the rows of a partial index') END)
            FROM idgen.index_report(index_name, (SELECT rows_per_checkpoint FROM pg_index i
                                                 WHERE i.indexrelid = index_name AND i.indpred IS NULL),
                                    checkpoint => checkpoint_interval) r,
                 LATERAL (SELECT (r.wal_per_row * rows_per_day)::bigint AS wal,
                                 (r.keyed_comb_wal_per_row * rows_per_day)::bigint AS keyed_comb_wal) d;
        EXCEPTION WHEN OTHERS THEN
            advice := 'not read: ' || SQLERRM;
            unknown_reason := coalesce(unknown_reason, 'the index was not read');
            RETURN NEXT;     -- with NULL for unknown values
        END;
    END LOOP;
END $$;

COMMENT ON FUNCTION idgen.index_reports(bigint, boolean, interval) IS
'The rows of index_report() for all B-tree indexes of the database that have at least the given size in bytes, the '
'largest first. Adds the WAL that each index writes per day according to the server''s statistics, if these are at '
'least min_age old, and the WAL that keyed_comb() would save. For an index that cannot be read, the advice states the '
'reason.';

CREATE FUNCTION idgen.index_wal(
    from_lsn pg_lsn, to_lsn pg_lsn,
    OUT index_name regclass, OUT table_name regclass, OUT records bigint, OUT bytes bigint, OUT images bigint,
    OUT image_bytes bigint, OUT share float8
)
    RETURNS SETOF record
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE STRICT
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    walinspect name := (SELECT n.nspname FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace
                        WHERE e.extname = 'pg_walinspect');
    flushed record;
BEGIN
    IF walinspect IS NULL THEN
        RAISE EXCEPTION 'extension "pg_walinspect" is not installed'
            USING ERRCODE = 'object_not_in_prerequisite_state', HINT = 'Run CREATE EXTENSION pg_walinspect.';
    END IF;
    flushed := idgen.internal_flushed_wal(from_lsn, to_lsn);
    IF from_lsn >= flushed.stop THEN
        RETURN;
    END IF;

    -- All blocks of a record belong to one relation. block_ref is a string such as:
    -- blkref #0: rel 1663/5/16802 fork main blk 1 (FPW); hole: ...
    RETURN QUERY EXECUTE format($sql$
        WITH file AS (
            SELECT split_part(block_ref, ' ', 4) AS path, count(*) AS records, sum(record_length) AS bytes,
                   sum(fpi_length) AS image_bytes,
                   sum((length(block_ref) - length(replace(block_ref, 'FPW', ''))) / 3)
                       FILTER (WHERE fpi_length > 0) AS images
            FROM %I.pg_get_wal_records_info($1, $2)
            WHERE block_ref <> ''
            GROUP BY 1
        ), written AS (
            SELECT i.indexrelid::regclass AS index_name, coalesce(i.indrelid, c.oid)::regclass AS table_name,
                   sum(f.records)::bigint AS records, sum(f.bytes)::bigint AS bytes,
                   coalesce(sum(f.images), 0)::bigint AS images, sum(f.image_bytes)::bigint AS image_bytes
            FROM file f JOIN pg_class c ON c.oid = pg_filenode_relation(split_part(path, '/', 1)::oid,
                                                                        split_part(path, '/', 3)::oid)
                 LEFT JOIN pg_index i ON i.indexrelid = c.oid
            WHERE split_part(path, '/', 2)::oid IN (0, (SELECT oid FROM pg_database WHERE datname = current_database()))
            GROUP BY c.oid, i.indexrelid, i.indrelid)
        SELECT w.*, w.bytes / ($2 - $1)::float8 FROM written w
        UNION ALL
        SELECT NULL, NULL, NULL, r.rest, NULL, NULL, r.rest / ($2 - $1)::float8
        FROM (SELECT greatest($2 - $1 - coalesce(sum(bytes), 0), 0)::bigint AS rest FROM written) r
        ORDER BY 4 DESC, 2, 1 NULLS FIRST $sql$, walinspect)
    USING from_lsn, flushed.stop;
EXCEPTION WHEN internal_error THEN
    -- the range may end within its only record
    IF flushed.is_all THEN
        RAISE;
    END IF;
END $$;

COMMENT ON FUNCTION idgen.index_wal(pg_lsn, pg_lsn) IS
'The WAL that each table and index wrote between two positions, as pg_walinspect reports it. The index is NULL for '
'the WAL of the table itself. The row without a table contains everything else, such as commits and the WAL of other '
'databases.';

CREATE FUNCTION idgen.key_plan(
    rows_per_second numeric, retention interval, checkpoint interval DEFAULT '5 minutes', row_bytes int DEFAULT 100,
    OUT key text, OUT recommended boolean, OUT wal_per_day bigint, OUT images_per_row float8, OUT index_bytes bigint,
    OUT leaf_density float8, OUT reveals text, OUT reason text
)
    RETURNS SETOF record
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE STRICT
    SET search_path = pg_catalog, pg_temp
    AS $$
#variable_conflict use_column
DECLARE
    rate float8 := rows_per_second;
    retention_s float8 := extract(epoch FROM retention);
    checkpoint_s float8 := extract(epoch FROM checkpoint);
    rows float8 := rate * retention_s;
    per_checkpoint float8 := greatest(rate * checkpoint_s, 1);
    -- bytes of the WAL record of a row of the table: header, reference to the block, and row
    row_record int := 55 + row_bytes;
    argument record;
BEGIN
    FOR argument IN
        SELECT * FROM (VALUES
            ('rows_per_second', rate BETWEEN 1e-6 AND 1e9, '0.000001 and 1000000000', rows_per_second::text),
            ('retention', retention_s BETWEEN 1 AND 3155760000, '1 second and 100 years', retention::text),
            ('checkpoint', checkpoint_s BETWEEN 1 AND 31557600, '1 second and 1 year', checkpoint::text),
            ('row_bytes', row_bytes BETWEEN 0 AND 1048576, '0 and 1048576', row_bytes::text),
            ('rows_per_second times retention', rows <= 1e15, '0 and 1e15', rows::text),
            ('rows_per_second times checkpoint', per_checkpoint <= 1e15, '0 and 1e15', per_checkpoint::text)
        ) v (name, is_valid, range, value)
        WHERE NOT is_valid
    LOOP
        RAISE EXCEPTION '% must be between %', argument.name, argument.range
            USING ERRCODE = 'invalid_parameter_value', DETAIL = format('The value is %s.', argument.value);
    END LOOP;

    RETURN QUERY
    WITH cost AS (
        SELECT s.*, c.images_per_row AS images, c.leaf_density AS density, c.index_bytes AS size,
               c.image_bytes_per_row + c.record_bytes_per_row + row_record AS wal,
               -- a byte of the index counts as ten bytes of WAL, because it is stored, cached and backed up
               c.image_bytes_per_row + c.record_bytes_per_row + 10 * c.index_bytes / rows AS weight
        FROM (VALUES (1, 'bigint', 'ordered', 8, NULL, 'the number of rows'),
                     (2, 'random', 'random', 16, NULL, 'nothing'),
                     (3, 'uuid_v7()', 'ordered', 16, NULL, 'the creation time to 0.25 us'),
                     (4, 'keyed_comb()', 'keyed_comb', 16, 3600, 'which keys are of one hour, and of five minutes'),
                     (5, 'short_comb()', 'short_comb', 16, 60, 'the minute within a cycle of 45.5 days')
             ) s (place, name, kind, key_bytes, period_s, reveals),
             idgen.expected_key_cost(s.kind, rows, per_checkpoint, rate * s.period_s, key_bytes => s.key_bytes) c
    ), chosen AS (
        SELECT *, CASE WHEN min(weight) FILTER (WHERE place = 4) OVER ()
                            > 2 * min(weight) FILTER (WHERE place = 3) OVER () THEN 3 ELSE 4 END AS choice
        FROM cost
    )
    SELECT name, place = choice, (wal * rate * 86400)::bigint, images, size, density, reveals,
           CASE WHEN place <> choice THEN NULL
                WHEN choice = 3 THEN 'WAL and index of keyed_comb() would cost more than twice as much.'
                ELSE 'It reveals less than uuid_v7(), and costs at most twice as much.' END
    FROM chosen
    ORDER BY place;
END $$;

COMMENT ON FUNCTION idgen.key_plan(numeric, interval, interval, int) IS
'The expected cost of each kind of key for a table with the given rate of inserts, once the table is as old as the '
'retention, and whether the kind is recommended. An argument out of range raises an error (22023).';

CREATE FUNCTION idgen.expected_key_cost(
    kind text, index_rows float8, rows_per_checkpoint float8, rows_per_period float8 DEFAULT NULL,
    prefix_bytes int DEFAULT 2, key_bytes int DEFAULT 16, rows_in_cycle float8 DEFAULT NULL,
    OUT images_per_row float8, OUT image_bytes_per_row float8, OUT record_bytes_per_row float8,
    OUT leaf_density float8, OUT index_bytes bigint
)
    LANGUAGE C IMMUTABLE PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'idgen_expected_key_cost';

COMMENT ON FUNCTION idgen.expected_key_cost(text, float8, float8, float8, int, int, float8) IS
'The full-page images, their bytes, and the bytes of WAL records that an insert is expected to write for a B-tree '
'index on a key of the given kind (random, ordered, short_comb or keyed_comb), and the expected leaf density (0 to 1) '
'and size of the index. An argument out of range raises an error (22023), as does an unknown kind (42704).';

CREATE FUNCTION idgen.internal_key_advice(
    index oid, rows float8, uuid_version float8, is_prefixed boolean, OUT why_not text, OUT change text
)
    LANGUAGE SQL STABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $$
        -- why_not: the reason why other keys cannot change where new rows are inserted, or NULL. change: such keys.
        -- The first column must be a key of this table, unique alone or together with a time. If a primary key begins
        -- with another column, such as a tenant, a later uuid that is not a foreign key is the key.
        SELECT CASE
            WHEN (rows > 0) IS NOT TRUE OR uuid_version IS NULL THEN 'the sample contains no keys'
            WHEN s.is_command THEN NULL
            WHEN e.extname IS NOT NULL THEN format('its table belongs to the extension %I', e.extname)
            WHEN i.indkey[0] = 0 THEN 'its first column is an expression'
            WHEN i.indpred IS NOT NULL THEN 'it is a partial index'
            WHEN r.relkind = 'm' THEN 'it is an index of a materialized view'
            WHEN k.place > 0 THEN NULL
            WHEN uuid_version < 0 AND NOT is_prefixed THEN 'its first column contains other values than UUIDs'
            WHEN a.attgenerated <> '' THEN 'its first column is generated'
            WHEN f.confrelid IS NOT NULL
            THEN format('its first column is a foreign key, whose values are those of %s', f.confrelid::regclass)
            WHEN NOT EXISTS (
                SELECT FROM pg_index u
                WHERE u.indrelid = i.indrelid AND u.indisunique AND u.indpred IS NULL AND u.indkey[0] = i.indkey[0]
                      AND (u.indnkeyatts = 1 OR u.indnkeyatts = 2 AND EXISTS (
                           SELECT FROM pg_attribute b JOIN pg_type t ON t.oid = b.atttypid
                           WHERE b.attrelid = u.indexrelid AND b.attnum = 2 AND t.typcategory = 'D')))
            THEN 'its first column is not unique, alone or with a time'
            -- versions 6 and 7 are ordered, even if the rows were loaded in another order
            WHEN uuid_version IN (6, 7) THEN format('its keys are UUIDs of version %s, which are ordered', uuid_version)
            WHEN uuid_version IN (3, 5)
            THEN format('its keys are UUIDs of version %s, which are computed from names', uuid_version) END,
            concat(CASE WHEN k.place > 0 THEN format('those of a primary key (%I) with ', a.attname) END,
                   CASE WHEN s.is_command AND a.attname = 'command_id'
                        THEN 'command ids of version 7, from clients or idgen.named_uuid_v7(),'
                        WHEN s.is_command THEN 'proposed ids from idgen.keyed_comb() or a sequence'
                        ELSE idgen.internal_new_keys(i.indrelid, a.attnum, is_prefixed) END,
                   ' would be on few.',
                   CASE WHEN NOT (i.indisprimary OR s.is_command)
                        THEN ' If the values are secrets, such as tokens, they must stay random.' END)
        FROM pg_index i JOIN pg_class r ON r.oid = i.indrelid
             LEFT JOIN pg_depend d ON d.classid = 'pg_class'::regclass AND d.objid = r.oid AND d.deptype = 'e'
             LEFT JOIN pg_extension e ON e.oid = d.refobjid
             LEFT JOIN pg_constraint f ON f.conrelid = r.oid AND f.contype = 'f' AND i.indkey[0] = ANY (f.conkey)
             CROSS JOIN LATERAL (
                 SELECT coalesce(min(n), 0) AS place
                 FROM generate_series(1, i.indnkeyatts - 1) n
                      JOIN pg_attribute b ON b.attrelid = r.oid AND b.attnum = i.indkey[n]
                 WHERE i.indisprimary AND b.atttypid = 'uuid'::regtype AND b.attgenerated = ''
                       AND (uuid_version < 0 AND NOT is_prefixed OR f.confrelid IS NOT NULL)
                       AND NOT EXISTS (SELECT FROM pg_constraint o
                                       WHERE o.conrelid = r.oid AND o.contype = 'f' AND b.attnum = ANY (o.conkey))) k
             LEFT JOIN pg_attribute a ON a.attrelid = r.oid AND a.attnum = i.indkey[k.place],
             LATERAL (SELECT r.oid = to_regclass('idgen.creation_identifiers') AND a.attname <> 'created_at'
                                 AS is_command) s
        WHERE i.indexrelid = index
        LIMIT 1
    $$;

COMMENT ON FUNCTION idgen.internal_key_advice(oid, float8, float8, boolean) IS
'Internal to index_report(); may change.';

CREATE FUNCTION idgen.internal_new_keys(relation oid, key smallint, is_prefixed boolean) RETURNS text
    LANGUAGE SQL STABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $$
        -- The keys that new rows of a table can have. The area is the name of the table or, for a partition, of the
        -- partitioned table. It begins with the schema unless the schema is public or the area would be too long. CHECK
        -- constraints are named, because they are not evaluated.
        SELECT coalesce(
                   (SELECT format('keys that trigger %I accepts', min(g.tgname::text))
                    FROM pg_trigger g JOIN pg_proc p ON p.oid = g.tgfoid
                    WHERE g.tgrelid = relation AND p.pronamespace = 'idgen'::regnamespace AND g.tgenabled <> 'D'
                          AND p.proname IN ('check_recent_id', 'check_recent_hmac_id')
                          -- the first argument, which ends with a zero byte, is the column
                          AND substring(g.tgargs FOR length(name) + 1) = name || decode('00', 'hex')
                    HAVING count(*) > 0),
                   format('keys of %1$sidgen.keyed_comb(%3$L)%2$s or %1$sidgen.uuid_v7()%2$s%4$s',
                          CASE WHEN is_prefixed THEN 'idgen.prefixed_id_from_uuid(prefix, ' END,
                          CASE WHEN is_prefixed THEN ')' WHEN t.typcategory = 'S' THEN '::text' END,
                          CASE WHEN c.relnamespace::regnamespace::text = 'public' OR octet_length(full_name) > 63
                               THEN c.relname ELSE full_name END, n.condition))
        FROM pg_class c JOIN pg_attribute a ON a.attrelid = relation AND a.attnum = key
             JOIN pg_type t ON t.oid = a.atttypid,
             concat(c.relnamespace::regnamespace, '.', c.relname) full_name,
             convert_to(a.attname, getdatabaseencoding()) name,
             LATERAL (WITH RECURSIVE domain (oid) AS (
                          SELECT t.oid UNION SELECT b.typbasetype FROM domain d JOIN pg_type b ON b.oid = d.oid)
                      SELECT ', if accepted by ' || string_agg(format('constraint %I', o.conname), ' and ') || ','
                             AS condition
                      FROM pg_constraint o
                      WHERE o.contype = 'c' AND (o.conrelid = relation AND key = ANY (o.conkey)
                                                 OR o.contypid IN (SELECT oid FROM domain WHERE oid <> 0))) n
        WHERE c.oid = coalesce(pg_partition_root(relation), relation)
    $$;

COMMENT ON FUNCTION idgen.internal_new_keys(oid, smallint, boolean) IS 'Internal to index_report(); may change.';

CREATE FUNCTION idgen.internal_index_instead(index oid) RETURNS oid
    LANGUAGE SQL STABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $$
        -- Find an index b that makes the given index a superfluous. It enforces everything that a enforces. Its columns
        -- begin with the columns of a; or it is unique, and the columns of a begin with its columns. If two indexes
        -- make each other superfluous, only the one of lower rank is superfluous.
        WITH plain AS (
            SELECT i.*, r.is_referenced, c.relispartition AS is_attached,
                   ARRAY[i.indisunique::int, i.indisprimary::int, r.is_referenced::int, r.has_constraint::int,
                         -i.indexrelid::bigint] AS rank
            FROM pg_index j JOIN pg_index i ON i.indrelid = j.indrelid JOIN pg_class c ON c.oid = i.indexrelid
                 JOIN pg_am m ON m.oid = c.relam,
                 LATERAL (SELECT i.indisreplident OR count(*) FILTER (WHERE n.contype = 'f') > 0 AS is_referenced,
                                 count(*) > 0 AS has_constraint
                          FROM pg_constraint n WHERE n.conindid = i.indexrelid) r
            WHERE j.indexrelid = index AND m.amname = 'btree' AND i.indisvalid AND i.indpred IS NULL
                  AND i.indexprs IS NULL
        )
        SELECT b.indexrelid
        FROM plain a JOIN plain b ON b.indexrelid <> a.indexrelid
        WHERE a.indexrelid = index AND NOT (a.indisprimary OR a.indisexclusion OR a.is_referenced)
              AND a.is_attached <= b.is_attached
              AND (a.indnatts = a.indnkeyatts OR a.indkey = b.indkey AND a.indnkeyatts = b.indnkeyatts)
              AND (NOT a.indisunique OR b.indisunique AND b.indimmediate >= a.indimmediate
                                        AND b.indnullsnotdistinct = a.indnullsnotdistinct)
              AND NOT EXISTS (
                  SELECT FROM generate_series(0, least(a.indnkeyatts, b.indnkeyatts) - 1) n
                  WHERE (a.indkey[n], a.indclass[n], a.indcollation[n], a.indoption[n])
                        IS DISTINCT FROM (b.indkey[n], b.indclass[n], b.indcollation[n], b.indoption[n]))
              AND CASE WHEN a.indnkeyatts = b.indnkeyatts THEN b.rank > a.rank
                       WHEN a.indnkeyatts < b.indnkeyatts THEN NOT a.indisunique
                       ELSE b.indisunique AND NOT EXISTS (
                                SELECT FROM pg_attribute t
                                WHERE t.attrelid = b.indrelid AND t.attnum = ANY (b.indkey) AND NOT t.attnotnull) END
        ORDER BY b.rank DESC
        LIMIT 1
    $$;

COMMENT ON FUNCTION idgen.internal_index_instead(oid) IS 'Internal to index_report(); may change.';

CREATE FUNCTION idgen.internal_rates(
    min_age interval, OUT checkpoint interval, OUT since timestamptz, OUT unknown_reason text
)
    LANGUAGE plpgsql VOLATILE PARALLEL RESTRICTED
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    version int := current_setting('server_version_num');
    checkpoints float8;
    counted_since timestamptz;                              -- start of the checkpoint count; "since": of the row count
BEGIN
    EXECUTE CASE WHEN version >= 180000 THEN 'SELECT num_done, stats_reset FROM pg_stat_checkpointer'
                 WHEN version >= 170000 THEN 'SELECT num_timed + num_requested, stats_reset FROM pg_stat_checkpointer'
                 ELSE 'SELECT checkpoints_timed + checkpoints_req, stats_reset FROM pg_stat_bgwriter' END
    INTO checkpoints, counted_since;
    -- if the statistics of a database were never reset, they began with the others
    SELECT coalesce(d.stats_reset, least(counted_since, a.stats_reset, w.stats_reset)) INTO since
    FROM pg_stat_database d, pg_stat_archiver a, pg_stat_wal w WHERE d.datname = current_database();
    checkpoint := make_interval(secs => least(31557600,
        greatest(extract(epoch FROM clock_timestamp() - counted_since) / greatest(checkpoints, 1), 1)));
    unknown_reason := CASE WHEN pg_is_in_recovery() THEN 'a standby counts no inserted rows'
                           WHEN NOT current_setting('track_counts')::boolean THEN 'track_counts is off'
                           WHEN checkpoints < 3 THEN format('fewer than 3 checkpoints since %s', counted_since)
                           WHEN clock_timestamp() - greatest(counted_since, since) < min_age
                           THEN format('the statistics are younger than %s', min_age) END;
END $$;

COMMENT ON FUNCTION idgen.internal_rates(interval) IS 'Internal to index_reports(); may change.';

CREATE FUNCTION idgen.internal_flushed_wal(from_lsn pg_lsn, to_lsn pg_lsn, OUT stop pg_lsn, OUT is_all boolean)
    LANGUAGE plpgsql VOLATILE PARALLEL RESTRICTED
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    wal_end pg_lsn := CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn() ELSE pg_current_wal_insert_lsn() END;
    flushed pg_lsn := wal_end;
BEGIN
    stop := CASE to_lsn WHEN 'FFFFFFFF/FFFFFFFF' THEN wal_end ELSE to_lsn END;
    IF from_lsn > to_lsn THEN
        RAISE EXCEPTION 'from_lsn must not be after to_lsn'
            USING ERRCODE = 'invalid_parameter_value', DETAIL = format('They are %s and %s.', from_lsn, to_lsn);
    ELSIF stop > wal_end THEN
        RAISE EXCEPTION 'to_lsn must not be after the end of the WAL'
            USING ERRCODE = 'invalid_parameter_value', DETAIL = format('It is %s, and the end is %s.', stop, wal_end),
                  HINT = 'FFFFFFFF/FFFFFFFF is the end.';
    END IF;
    -- wait for the WAL of asynchronous commits; the last page may stay unwritten if it contains only a 40-byte header
    WHILE NOT pg_is_in_recovery() LOOP
        flushed := pg_current_wal_flush_lsn();
        EXIT WHEN stop - flushed <= 40;
        PERFORM pg_sleep(0.02);
    END LOOP;
    stop := least(stop, flushed);
    is_all := flushed = wal_end;
END $$;

COMMENT ON FUNCTION idgen.internal_flushed_wal(pg_lsn, pg_lsn) IS
'Internal to index_wal(); may change. It waits for the WAL of asynchronous commits.';

CREATE FUNCTION idgen.internal_index_measures(
    relation regclass, rows_per_checkpoint bigint,
    OUT index oid, OUT placement text, OUT is_prefixed boolean, OUT rows float8, OUT index_bytes float8,
    OUT leaf_pages float8, OUT leaf_density float8, OUT tuple_bytes float8, OUT fillfactor float8,
    OUT reindex_saves_bytes float8, OUT uuid_version float8, OUT located_rows float8, OUT newest_leaf_pages float8,
    OUT images_per_row float8, OUT wal_per_row float8
)
    LANGUAGE C VOLATILE PARALLEL RESTRICTED
    AS 'MODULE_PATHNAME', 'idgen_internal_index_measures';

COMMENT ON FUNCTION idgen.internal_index_measures(regclass, bigint) IS
'Internal to index_report(), with the same rights; may change.';
