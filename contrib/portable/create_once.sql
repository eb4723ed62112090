/*
 * create_once.sql: idgen's create_once(), which makes creation commands safe to retry,
 * without a C library: the table idgen.creation_identifiers and its functions. This file
 * requires uuids.sql. The comment at the beginning of uuids.sql applies here, too.
 *
 *   psql -f uuids.sql -f create_once.sql
 *
 * Running this file again preserves the data, and does not wait for transactions that use
 * the functions. drop.sql also removes the recorded commands.
 */

DO $install$
DECLARE
    caller_path CONSTANT pg_catalog.text := pg_catalog.current_setting('search_path');
BEGIN
    PERFORM pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
    IF (SELECT pg_get_userbyid(proowner) = current_user FROM pg_proc
        WHERE oid = to_regprocedure('idgen.portable_require_own_schema()')) IS NOT TRUE THEN
        RAISE EXCEPTION 'uuids.sql is not installed by this role' USING ERRCODE = 'undefined_function';
    END IF;
    PERFORM idgen.portable_require_own_schema();

-- The source of this function contains the version of create_once.sql for
-- portable_version().
CREATE OR REPLACE FUNCTION idgen.portable_file_create_once() RETURNS text
    LANGUAGE SQL IMMUTABLE PARALLEL SAFE AS $$SELECT '1.0'$$;

-- CREATE INDEX IF NOT EXISTS would wait for transactions that use the table.
IF to_regclass('idgen.creation_identifiers') IS NULL THEN
    CREATE TABLE idgen.creation_identifiers (
        command_id uuid PRIMARY KEY,
        command_name text NOT NULL,
        entity_id uuid,
        entity_number bigint,
        entity_text text COLLATE "C",
        request_hash bigint,
        created_at timestamptz NOT NULL DEFAULT now(),
        CONSTRAINT creation_identifiers_one_entity CHECK (num_nonnulls(entity_id, entity_number, entity_text) = 1)
    ) WITH (autovacuum_vacuum_scale_factor = 0.02);     -- rows are purged continuously
    CREATE INDEX creation_identifiers_created_at ON idgen.creation_identifiers (created_at);
    CREATE INDEX creation_identifiers_entity_id ON idgen.creation_identifiers (entity_id) WHERE entity_id IS NOT NULL;
    CREATE INDEX creation_identifiers_entity_number ON idgen.creation_identifiers (entity_number)
        WHERE entity_number IS NOT NULL;
    CREATE INDEX creation_identifiers_entity_text ON idgen.creation_identifiers (entity_text)
        WHERE entity_text IS NOT NULL;
    COMMENT ON TABLE idgen.creation_identifiers IS
        'The entity that each creation command created. Written by idgen.create_once(). It must remain a logged table.';
END IF;

-- Return the text of a jsonb value with its keys in the order of their UTF-8 text. This
-- function is needed if the database has another encoding.
CREATE OR REPLACE FUNCTION idgen.portable_request_text(request jsonb) RETURNS text
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE STRICT SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN CASE jsonb_typeof(request)
        WHEN 'object' THEN
            (SELECT '{' || coalesce(string_agg(
                        to_json(m.key)::text || ': ' || idgen.portable_request_text(m.value), ', '
                        ORDER BY octet_length(m.utf8), m.utf8), '') || '}'
             FROM (SELECT key, value, convert_to(key, 'UTF8') AS utf8 FROM jsonb_each(request)) m)
        WHEN 'array' THEN
            (SELECT '[' || coalesce(string_agg(idgen.portable_request_text(e.element), ', ' ORDER BY e.n), '') || ']'
             FROM jsonb_array_elements(request) WITH ORDINALITY e (element, n))
        ELSE request::text END;
END $$;

-- Return the hash of a request, as defined in docs/reference.md, "The hash of a request".
CREATE OR REPLACE FUNCTION idgen.portable_request_hash(request jsonb) RETURNS bigint
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE STRICT SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    request_text text COLLATE "C" := request;
BEGIN
    -- jsonb_path_query() would take quadratic time
    IF EXISTS (SELECT FROM jsonb_array_elements(
                   jsonb_path_query_array(request, 'strict $.** ? (@.type() == "number")')) n
               WHERE abs(n::numeric) >= 1e1000 OR min_scale(n::numeric) > 1000) THEN
        RAISE EXCEPTION 'request contains a number of more than 1000 digits'
            USING ERRCODE = 'numeric_value_out_of_range',
                  DETAIL = 'At most 1000 digits before and 1000 digits after the decimal point are allowed.';
    END IF;
    IF getdatabaseencoding() <> 'UTF8' AND request_text ~ '[^ -~]' THEN
        request_text := idgen.portable_request_text(request);
    END IF;
    -- remove zeros at the end of fractions, except in strings
    IF request_text ~ '[.][0-9]*0(?![0-9])' THEN
        request_text := regexp_replace(
            request_text, E'("(?:[^"\\\\]|\\\\.)*")|([.][0-9]*[1-9])0+(?![0-9])|[.]0+(?![0-9])', E'\\1\\2', 'g');
    END IF;
    RETURN ('x' || encode(sha256(convert_to(request_text, 'UTF8')), 'hex'))::bit(64)::bigint;
END $$;

-- The search can use an index, but the server may plan a sequential scan while the table is
-- small. The settings also affect triggers. Before version 18, a scan without an index in a
-- trigger then has such a high cost estimate that JIT would compile it in each execution.
-- src/creation.c explains the order of searching and recording.
CREATE OR REPLACE FUNCTION idgen.portable_create_once(
    command uuid, INOUT id uuid, INOUT number bigint, INOUT text_id text, name text, hash bigint, OUT created boolean
) LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
    SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET jit = off AS $$
DECLARE
    read_only CONSTANT boolean := current_setting('transaction_read_only');
    serializable CONSTANT boolean := current_setting('transaction_isolation') COLLATE "C" = 'serializable';
    is_uuid CONSTANT boolean := id IS NOT NULL;
    is_number CONSTANT boolean := number IS NOT NULL;
    search boolean := read_only OR NOT serializable;
    recorded record;
BEGIN
    IF command IS NULL OR num_nonnulls(id, number, text_id) = 0 OR name IS NULL THEN
        RAISE EXCEPTION 'command_id, proposed_id and command_name must not be null'
            USING ERRCODE = 'null_value_not_allowed';
    ELSIF octet_length(text_id) NOT BETWEEN 1 AND 255 THEN
        RAISE EXCEPTION 'proposed_id must have 1 to 255 bytes' USING ERRCODE = 'invalid_parameter_value',
            DETAIL = format('It has %s bytes.', octet_length(text_id));
    END IF;
    FOR attempt IN 1 .. 100 LOOP
        IF search THEN
            SELECT c.entity_id, c.entity_number, c.entity_text, coalesce(c.command_name, '')::text AS command_name,
                   c.request_hash
            INTO recorded FROM idgen.creation_identifiers c WHERE c.command_id = command;
            IF FOUND THEN
                IF serializable
                   AND (SELECT count(*) FROM idgen.creation_identifiers c WHERE c.command_id = command) > 1 THEN
                    RAISE EXCEPTION 'could not serialize access due to concurrent delete'
                        USING ERRCODE = 'serialization_failure';
                ELSIF (is_uuid, is_number) <> (recorded.entity_id IS NOT NULL, recorded.entity_number IS NOT NULL)
                   OR name <> recorded.command_name COLLATE "C"
                   OR hash IS DISTINCT FROM recorded.request_hash THEN
                    RAISE EXCEPTION 'command id "%" was already used for a different command', command
                        USING ERRCODE = 'check_violation', SCHEMA = 'idgen', TABLE = 'creation_identifiers',
                              CONSTRAINT = 'creation_identifiers_same_command';
                END IF;
                id := recorded.entity_id;
                number := recorded.entity_number;
                text_id := recorded.entity_text;
                created := false;
                RETURN;
            END IF;
        END IF;
        IF read_only THEN
            RAISE EXCEPTION 'cannot record a command in a read-only transaction'
                USING ERRCODE = 'read_only_sql_transaction';
        END IF;
        INSERT INTO idgen.creation_identifiers
            (command_id, entity_id, entity_number, entity_text, command_name, request_hash)
        VALUES (command, id, number, text_id, name, hash)
        ON CONFLICT (command_id) DO NOTHING;
        IF FOUND THEN
            created := true;
            RETURN;
        END IF;
        search := true;     -- the INSERT conflicted with a row that may have been deleted since
    END LOOP;
    RAISE EXCEPTION 'could not find or record command id "%"', command
        USING ERRCODE = 'insufficient_privilege',
              HINT = 'A row-level security policy on table "idgen.creation_identifiers" may hide the row, '
                     'or a trigger suppress it.';
END $$;

CREATE OR REPLACE FUNCTION idgen.create_once(
    command_id uuid, proposed_id uuid, command_name text, request jsonb DEFAULT NULL,
    OUT entity_id uuid, OUT created boolean
) LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE AS $$
BEGIN
    SELECT c.id, c.created INTO entity_id, created
    FROM idgen.portable_create_once(
        command_id, proposed_id, NULL, NULL, command_name, idgen.portable_request_hash(request)) c;
END $$;
COMMENT ON FUNCTION idgen.create_once(uuid, uuid, text, jsonb) IS
    'Makes a creation command safe to retry. The first call with a command id records the proposed id; later calls '
    'return the recorded id, with created = false.';

CREATE OR REPLACE FUNCTION idgen.create_once_bigint(
    command_id uuid, proposed_id bigint, command_name text, request jsonb DEFAULT NULL,
    OUT entity_number bigint, OUT created boolean
) LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE AS $$
BEGIN
    SELECT c.number, c.created INTO entity_number, created
    FROM idgen.portable_create_once(
        command_id, NULL, proposed_id, NULL, command_name, idgen.portable_request_hash(request)) c;
END $$;
COMMENT ON FUNCTION idgen.create_once_bigint(uuid, bigint, text, jsonb) IS
    'Like create_once(), but for entities that a bigint identifies.';

CREATE OR REPLACE FUNCTION idgen.create_once_text(
    command_id uuid, proposed_id text, command_name text, request jsonb DEFAULT NULL,
    OUT entity_text text, OUT created boolean
) LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE AS $$
BEGIN
    SELECT c.text_id, c.created INTO entity_text, created
    FROM idgen.portable_create_once(
        command_id, NULL, NULL, proposed_id, command_name, idgen.portable_request_hash(request)) c;
END $$;
COMMENT ON FUNCTION idgen.create_once_text(uuid, text, text, jsonb) IS
    'Like create_once(), but for entities that a string of 1 to 255 bytes identifies.';

-- Delete commands by their ids, and return their number. Only an index scan locks the rows
-- in the order of the ids. If a late retry has recorded a command again, the new row is
-- newer than "newest", and is not deleted. The function is STRICT because Citus rejects
-- "= ANY (NULL)".
CREATE OR REPLACE FUNCTION idgen.portable_forget(ids uuid[], newest timestamptz) RETURNS bigint
    LANGUAGE SQL VOLATILE PARALLEL UNSAFE STRICT
    SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off
    AS $$
        WITH forgotten AS (DELETE FROM idgen.creation_identifiers c
                           WHERE c.command_id = ANY (ids) AND (c.created_at <= newest) IS TRUE RETURNING 1)
        SELECT count(*) FROM forgotten
    $$;

CREATE OR REPLACE FUNCTION idgen.forget_creation(command_id uuid) RETURNS boolean
    LANGUAGE SQL VOLATILE PARALLEL UNSAFE STRICT
    RETURN idgen.portable_forget(ARRAY[command_id], 'infinity') > 0;
COMMENT ON FUNCTION idgen.forget_creation(uuid) IS
    'Deletes a recorded command, so that the next call with its id records a new one. Returns whether it was recorded.';

CREATE OR REPLACE FUNCTION idgen.forget_creation_of(entity_id uuid) RETURNS bigint
    LANGUAGE SQL VOLATILE PARALLEL UNSAFE STRICT
    SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET jit = off
    AS $$
        WITH forgotten AS (DELETE FROM idgen.creation_identifiers c
                           WHERE c.entity_id = forget_creation_of.entity_id RETURNING 1)
        SELECT count(*) FROM forgotten
    $$;
COMMENT ON FUNCTION idgen.forget_creation_of(uuid) IS
    'Deletes the recorded commands that created an entity, and returns their number.';

CREATE OR REPLACE FUNCTION idgen.forget_creation_of_bigint(entity_number bigint, command_name text) RETURNS bigint
    LANGUAGE SQL VOLATILE PARALLEL UNSAFE STRICT
    SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET jit = off
    AS $$
        WITH forgotten AS (DELETE FROM idgen.creation_identifiers c
                           WHERE c.entity_number = forget_creation_of_bigint.entity_number
                             AND c.command_name = forget_creation_of_bigint.command_name COLLATE "C" RETURNING 1)
        SELECT count(*) FROM forgotten
    $$;
COMMENT ON FUNCTION idgen.forget_creation_of_bigint(bigint, text) IS
    'Like forget_creation_of(), but for an entity that a bigint and the name of its command identify.';

CREATE OR REPLACE FUNCTION idgen.forget_creation_of_text(entity_text text, command_name text) RETURNS bigint
    LANGUAGE SQL VOLATILE PARALLEL UNSAFE STRICT
    SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET jit = off
    AS $$
        WITH forgotten AS (DELETE FROM idgen.creation_identifiers c
                           WHERE c.entity_text = forget_creation_of_text.entity_text COLLATE "C"
                             AND c.command_name = forget_creation_of_text.command_name COLLATE "C" RETURNING 1)
        SELECT count(*) FROM forgotten
    $$;
COMMENT ON FUNCTION idgen.forget_creation_of_text(text, text) IS
    'Like forget_creation_of(), but for an entity that a string and the name of its command identify.';

CREATE OR REPLACE FUNCTION idgen.purge_creations(
    older_than interval, command_name text DEFAULT NULL, batch_size bigint DEFAULT 10000
) RETURNS bigint
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
    SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET jit = off AS $$
DECLARE
    us numeric := extract(epoch FROM older_than) * 1000000;
    cutoff timestamp := '4714-11-24 00:00:00 BC';
BEGIN
    IF older_than IS NULL OR batch_size IS NULL THEN
        RAISE EXCEPTION 'older_than and batch_size must not be null' USING ERRCODE = 'null_value_not_allowed';
    ELSIF date_trunc('month', older_than) <> '0' OR us NOT BETWEEN 0 AND 9223372036854775807 OR batch_size < 1 THEN
        RAISE EXCEPTION USING ERRCODE = 'invalid_parameter_value',
            MESSAGE = 'older_than must be from 0 to 106751991 days, without months or years, and batch_size at least 1',
            DETAIL = format('The values are %s and %s.', older_than, batch_size);
    END IF;
    IF us < extract(epoch FROM now() AT TIME ZONE 'UTC' - cutoff) * 1000000 THEN
        cutoff := now() AT TIME ZONE 'UTC' - older_than;     -- in UTC, a day has 24 hours
    END IF;
    RETURN (SELECT coalesce(idgen.portable_forget(array_agg(f.command_id), max(f.created_at)), 0)
            FROM (SELECT c.command_id, c.created_at FROM idgen.creation_identifiers c
                  WHERE c.created_at < cutoff AT TIME ZONE 'UTC'
                  AND (purge_creations.command_name IS NULL
                       OR c.command_name = purge_creations.command_name COLLATE "C")
                  ORDER BY c.created_at LIMIT batch_size) f);
END $$;
COMMENT ON FUNCTION idgen.purge_creations(interval, text, bigint) IS
    'Deletes recorded commands that are older than older_than, the oldest first and at most batch_size, and returns '
    'the number deleted.';

CREATE OR REPLACE FUNCTION idgen.trim_creations(
    keep bigint, command_name text DEFAULT NULL, batch_size bigint DEFAULT 10000
) RETURNS bigint
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF keep IS NULL OR batch_size IS NULL THEN
        RAISE EXCEPTION 'keep and batch_size must not be null' USING ERRCODE = 'null_value_not_allowed';
    ELSIF keep < 0 OR batch_size < 1 THEN
        RAISE EXCEPTION 'keep must not be negative, and batch_size must be at least 1'
            USING ERRCODE = 'invalid_parameter_value', DETAIL = format('The values are %s and %s.', keep, batch_size);
    END IF;
    RETURN (SELECT coalesce(idgen.portable_forget(array_agg(f.command_id), max(f.created_at)), 0)
            FROM (SELECT * FROM (SELECT c.command_id, c.created_at FROM idgen.creation_identifiers c
                                 WHERE trim_creations.command_name IS NULL
                                    OR c.command_name = trim_creations.command_name COLLATE "C"
                                 ORDER BY c.created_at DESC, c.command_id DESC OFFSET keep) others
                  ORDER BY others.created_at, others.command_id LIMIT batch_size) f);
END $$;
COMMENT ON FUNCTION idgen.trim_creations(bigint, text, bigint) IS
    'Deletes recorded commands except the newest "keep", the oldest first and at most batch_size, and returns the '
    'number deleted.';

PERFORM set_config('search_path', caller_path, true);
END
$install$;
