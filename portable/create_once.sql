/*
 * create_once.sql: create_once() of idgen without a C library, which makes creation
 * commands safe to retry: the table idgen.creation_identifiers and its functions, for
 * PostgreSQL 15 to 19. It needs no other file.
 *
 *   psql -1 -v ON_ERROR_STOP=1 -f create_once.sql
 *
 * Any role with CREATE on the database can run this file, in one transaction: with psql
 * -1, or as one call of a driver. Running it again replaces the functions, changes no
 * privilege and no data, and waits for no transaction that uses them. drop.sql removes
 * all, with the recorded commands. uuids.sql and docs/portable.md have more.
 */

DO $$
BEGIN
    PERFORM pg_catalog.set_config('idgen_portable.search_path', pg_catalog.current_setting('search_path'), true),
            pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
END $$;

-- A new schema is made by CREATE SCHEMA, which fails if another session makes it
-- meanwhile. A schema to which other roles can add functions, for example by default
-- privileges, could have overloads that callers reach instead of those below.
DO $$
BEGIN
    IF pg_catalog.current_setting('search_path') OPERATOR(pg_catalog.<>) 'pg_catalog, pg_temp' THEN
        RAISE EXCEPTION 'this file must run in one transaction'
            USING ERRCODE = 'no_active_sql_transaction', HINT = 'Use psql -1 -v ON_ERROR_STOP=1 -f, or one call of a driver.';
    ELSIF EXISTS (SELECT FROM pg_extension WHERE extname = 'idgen') THEN
        RAISE EXCEPTION 'extension "idgen" is installed'
            USING ERRCODE = 'duplicate_object', DETAIL = 'Its functions have the names of the portable ones.';
    ELSIF to_regnamespace('idgen') IS NULL THEN
        CREATE SCHEMA idgen;
        GRANT USAGE ON SCHEMA idgen TO PUBLIC;
        COMMENT ON SCHEMA idgen IS 'Identifiers for primary keys, portable edition: generate, check, create once.';
        CREATE FUNCTION idgen.portable_version(OUT file text, OUT version text) RETURNS SETOF record
            LANGUAGE SQL STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
            AS $body$SELECT substr(proname, 15), split_part(prosrc, '''', 2) FROM pg_proc
                     WHERE pronamespace = 'idgen'::regnamespace AND starts_with(proname, 'portable_file_') ORDER BY 1$body$;
        COMMENT ON FUNCTION idgen.portable_version() IS 'The files of the portable edition that are installed, with their versions.';
    END IF;
    IF EXISTS (SELECT FROM pg_namespace n
               WHERE nspname = 'idgen'
                 AND (pg_get_userbyid(nspowner) <> current_user
                      OR EXISTS (SELECT FROM aclexplode(nspacl) WHERE privilege_type = 'CREATE' AND grantee <> nspowner)
                      OR EXISTS (SELECT FROM pg_proc WHERE pronamespace = n.oid AND proowner <> nspowner)
                      OR EXISTS (SELECT FROM pg_class WHERE relnamespace = n.oid AND relowner <> nspowner))) THEN
        RAISE EXCEPTION 'schema "idgen" is not only yours'
            USING ERRCODE = 'insufficient_privilege',
                  DETAIL = 'Another role owns it, has the privilege CREATE on it, or owns a function or relation in it.',
                  HINT = 'Run this file as the owner of the schema, revoke the privilege, or drop the schema.';
    END IF;
END $$;

-- The version of create_once.sql, as portable_version() shows it.
CREATE OR REPLACE FUNCTION idgen.portable_file_create_once() RETURNS text
    LANGUAGE SQL IMMUTABLE PARALLEL SAFE AS $$SELECT '1.0'$$;

-- CREATE INDEX IF NOT EXISTS would wait for the transactions that use the table.
DO $$
BEGIN
    IF to_regclass('idgen.creation_identifiers') IS NOT NULL THEN
        RETURN;
    END IF;
    CREATE TABLE idgen.creation_identifiers (
        command_id uuid PRIMARY KEY,
        command_name text NOT NULL DEFAULT '',
        entity_id uuid,
        entity_number bigint,
        request_hash bigint,
        created_at timestamptz NOT NULL DEFAULT now(),
        CONSTRAINT creation_identifiers_one_entity CHECK (num_nonnulls(entity_id, entity_number) = 1)
    ) WITH (autovacuum_vacuum_scale_factor = 0.02);     -- rows are purged continuously
    CREATE INDEX creation_identifiers_created_at ON idgen.creation_identifiers (created_at);
    CREATE INDEX creation_identifiers_entity_id ON idgen.creation_identifiers (entity_id) WHERE entity_id IS NOT NULL;
    CREATE INDEX creation_identifiers_entity_number ON idgen.creation_identifiers (entity_number) WHERE entity_number IS NOT NULL;
    COMMENT ON TABLE idgen.creation_identifiers IS 'The entity that each creation command created, written by idgen.create_once(). Keep it a logged table: a crash empties an unlogged one, and each retry then creates anew.';
    COMMENT ON COLUMN idgen.creation_identifiers.command_id IS 'The id that the client gave the command, the same in every retry.';
    COMMENT ON COLUMN idgen.creation_identifiers.command_name IS 'The kind of the command, as the application calls it.';
    COMMENT ON COLUMN idgen.creation_identifiers.entity_id IS 'The entity that the command created, if a uuid identifies it.';
    COMMENT ON COLUMN idgen.creation_identifiers.entity_number IS 'The entity that the command created, if a bigint identifies it.';
    COMMENT ON COLUMN idgen.creation_identifiers.request_hash IS 'The first 64 bits of the SHA-256 of the request''s text in UTF-8, without zeros at the end of a fraction, the same on every server version, machine and encoding. NULL if no request was given.';
    COMMENT ON COLUMN idgen.creation_identifiers.created_at IS 'The start of the transaction that recorded the command.';
END $$;

-- The text of docs/reference.md, "The hash of a request".
CREATE OR REPLACE FUNCTION idgen.portable_request_text(request jsonb) RETURNS text
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE STRICT SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN CASE jsonb_typeof(request)
        WHEN 'object' THEN
            (SELECT '{' || coalesce(string_agg(to_json(m.key)::text || ': ' || idgen.portable_request_text(m.value), ', '
                                               ORDER BY octet_length(convert_to(m.key, 'UTF8')), convert_to(m.key, 'UTF8')), '') || '}'
             FROM jsonb_each(request) m)
        WHEN 'array' THEN
            (SELECT '[' || coalesce(string_agg(idgen.portable_request_text(e.element), ', ' ORDER BY e.n), '') || ']'
             FROM jsonb_array_elements(request) WITH ORDINALITY e (element, n))
        WHEN 'number' THEN trim_scale(request::numeric)::text
        ELSE request::text END;
END $$;

-- In UTF-8, it is the text that the server prints, unless a fraction may end with 0.
CREATE OR REPLACE FUNCTION idgen.portable_request_hash(request jsonb) RETURNS bigint
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE STRICT SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    numbers CONSTANT jsonpath := 'strict $.** ? (@.type() == "number")';
    request_text text COLLATE "C";
BEGIN
    IF jsonb_path_exists(request, numbers)
       AND EXISTS (SELECT FROM jsonb_path_query(request, numbers) n WHERE abs(n::numeric) >= 1e1000 OR min_scale(n::numeric) > 1000) THEN
        RAISE EXCEPTION 'request contains a number of more than 1000 digits'
            USING ERRCODE = 'numeric_value_out_of_range',
                  DETAIL = 'At most 1000 digits before and 1000 digits after the decimal point are allowed.';
    END IF;
    request_text := request;
    IF getdatabaseencoding() <> 'UTF8' OR request_text ~ '[.][0-9]*0(?![0-9])' THEN
        request_text := idgen.portable_request_text(request);
    END IF;
    RETURN ('x' || encode(sha256(convert_to(request_text, 'UTF8')), 'hex'))::bit(64)::bigint;
END $$;

-- A command as the DETAIL of an error shows it.
CREATE OR REPLACE FUNCTION idgen.portable_command(name text, is_uuid boolean, hash bigint) RETURNS text
    LANGUAGE SQL IMMUTABLE PARALLEL SAFE
    RETURN format('the name "%s", a %s identifier and %s',
                  (SELECT left(name, max(n)) FROM generate_series(0, 200) n WHERE octet_length(left(name, n)) <= 200),
                  CASE WHEN is_uuid THEN 'uuid' ELSE 'bigint' END,
                  coalesce('request hash ' || lpad(to_hex(hash), 16, '0'), 'no request'));

-- The search has an index, but the plan may be made while the table is small.
-- src/creation.c has the reasons for the order of searching and recording.
CREATE OR REPLACE FUNCTION idgen.portable_create_once(
    command uuid, INOUT id uuid, INOUT number bigint, name text, hash bigint, function_name text, OUT created boolean
) LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp SET enable_seqscan = off AS $$
DECLARE
    read_only CONSTANT boolean := current_setting('transaction_read_only');
    serializable CONSTANT boolean := current_setting('transaction_isolation') COLLATE "C" = 'serializable';
    is_uuid CONSTANT boolean := function_name COLLATE "C" = 'create_once';
    search boolean := read_only OR NOT serializable;
    recorded record;
    is_null text := CASE WHEN command IS NULL THEN 'command_id' WHEN num_nulls(id, number) = 2 THEN 'proposed_id' WHEN name IS NULL THEN 'command_name' END;
BEGIN
    IF is_null IS NOT NULL THEN
        RAISE EXCEPTION '% must not be null', is_null USING ERRCODE = 'null_value_not_allowed';
    END IF;
    FOR attempt IN 1 .. 100 LOOP
        IF search THEN
            SELECT c.entity_id, c.entity_number, coalesce(c.command_name, '') AS command_name, c.request_hash INTO recorded
            FROM idgen.creation_identifiers c WHERE c.command_id = command;
            IF FOUND THEN
                IF serializable AND (SELECT count(*) FROM idgen.creation_identifiers c WHERE c.command_id = command) > 1 THEN
                    RAISE EXCEPTION 'could not serialize access due to concurrent delete'
                        USING ERRCODE = 'serialization_failure',
                              DETAIL = format('Another session forgot command id "%s" while this transaction recorded it.', command);
                ELSIF is_uuid <> (recorded.entity_id IS NOT NULL) OR name <> recorded.command_name COLLATE "C"
                   OR hash IS DISTINCT FROM recorded.request_hash THEN
                    RAISE EXCEPTION 'command id "%" was already used for a different command', command
                        USING ERRCODE = 'check_violation',
                              DETAIL = format('The recorded command has %s; this command has %s.',
                                              idgen.portable_command(recorded.command_name, recorded.entity_id IS NOT NULL, recorded.request_hash),
                                              idgen.portable_command(name, is_uuid, hash)),
                              HINT = 'Retry a command with the same name and request, and use a new command id for a new command.',
                              SCHEMA = 'idgen', TABLE = 'creation_identifiers', CONSTRAINT = 'creation_identifiers_same_command';
                END IF;
                id := recorded.entity_id;
                number := recorded.entity_number;
                created := false;
                RETURN;
            END IF;
        END IF;
        IF read_only THEN
            RAISE EXCEPTION 'cannot execute %() %', function_name,
                  CASE WHEN pg_is_in_recovery() THEN 'during recovery' ELSE 'in a read-only transaction' END
                USING ERRCODE = 'read_only_sql_transaction',
                      DETAIL = format('Command id "%s" is not recorded, and recording it writes to table "idgen.creation_identifiers".', command),
                      HINT = 'Call the function on the primary server, in a read-write transaction.';
        END IF;
        INSERT INTO idgen.creation_identifiers (command_id, entity_id, entity_number, command_name, request_hash)
        VALUES (command, id, number, name, hash)
        ON CONFLICT (command_id) DO NOTHING;
        IF FOUND THEN
            created := true;
            RETURN;
        END IF;
        search := true;     -- the INSERT met a row, which may be removed by now
    END LOOP;
    RAISE EXCEPTION 'could not find or record command id "%"', command
        USING ERRCODE = 'insufficient_privilege',
              HINT = 'A row-level security policy on table "idgen.creation_identifiers" may hide the row.';
END $$;

CREATE OR REPLACE FUNCTION idgen.create_once(
    command_id uuid, proposed_id uuid, command_name text DEFAULT '', request jsonb DEFAULT NULL,
    OUT entity_id uuid, OUT created boolean
) LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE AS $$
BEGIN
    SELECT c.id, c.created INTO entity_id, created
    FROM idgen.portable_create_once(command_id, proposed_id, NULL, command_name, idgen.portable_request_hash(request), 'create_once') c;
END $$;
COMMENT ON FUNCTION idgen.create_once(uuid, uuid, text, jsonb) IS 'Makes a creation command safe to retry: the first call with a command id records the proposed id, and later calls return the recorded id, with created = false. A known command id with another name, request or kind of id is an error (23514, constraint name creation_identifiers_same_command).';

CREATE OR REPLACE FUNCTION idgen.create_once_bigint(
    command_id uuid, proposed_id bigint, command_name text DEFAULT '', request jsonb DEFAULT NULL,
    OUT entity_number bigint, OUT created boolean
) LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE AS $$
BEGIN
    SELECT c.number, c.created INTO entity_number, created
    FROM idgen.portable_create_once(command_id, NULL, proposed_id, command_name, idgen.portable_request_hash(request), 'create_once_bigint') c;
END $$;
COMMENT ON FUNCTION idgen.create_once_bigint(uuid, bigint, text, jsonb) IS 'The same as create_once() for entities that a bigint identifies.';

CREATE OR REPLACE FUNCTION idgen.find_creation(
    command_id uuid,
    OUT command_name text, OUT entity_id uuid, OUT entity_number bigint, OUT request_hash bigint, OUT created_at timestamptz
) RETURNS SETOF record
    LANGUAGE SQL STABLE PARALLEL SAFE STRICT ROWS 1
    -- by name: the table can be replaced by another one of this name
    AS $$
        SELECT c.command_name, c.entity_id, c.entity_number, c.request_hash, c.created_at
        FROM idgen.creation_identifiers c WHERE c.command_id OPERATOR(pg_catalog.=) find_creation.command_id
    $$;
COMMENT ON FUNCTION idgen.find_creation(uuid) IS 'What is recorded of a command, or no row. Needs SELECT on idgen.creation_identifiers.';

-- Only an index scan locks the rows in the order of their ids. A row that a late retry
-- has recorded again since is newer than all of them, and is kept.
CREATE OR REPLACE FUNCTION idgen.portable_forget(ids uuid[], newest timestamptz) RETURNS bigint
    LANGUAGE SQL VOLATILE PARALLEL UNSAFE
    SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET enable_bitmapscan = off
    AS $$
        WITH forgotten AS (DELETE FROM idgen.creation_identifiers c
                           WHERE c.command_id = ANY (ids) AND (c.created_at <= newest) IS TRUE RETURNING 1)
        SELECT count(*) FROM forgotten
    $$;

CREATE OR REPLACE FUNCTION idgen.forget_creation(command_id uuid) RETURNS boolean
    LANGUAGE SQL VOLATILE PARALLEL UNSAFE STRICT
    RETURN idgen.portable_forget(ARRAY[command_id], 'infinity') > 0;
COMMENT ON FUNCTION idgen.forget_creation(uuid) IS 'Deletes a recorded command, so that the next call with its id creates anew; returns whether it was recorded. Needs SELECT and DELETE on idgen.creation_identifiers.';

CREATE OR REPLACE FUNCTION idgen.forget_creation_of(entity_id uuid) RETURNS bigint
    LANGUAGE SQL VOLATILE PARALLEL UNSAFE STRICT SET search_path = pg_catalog, pg_temp SET enable_seqscan = off
    AS $$
        WITH forgotten AS (DELETE FROM idgen.creation_identifiers c WHERE c.entity_id = forget_creation_of.entity_id RETURNING 1)
        SELECT count(*) FROM forgotten
    $$;
COMMENT ON FUNCTION idgen.forget_creation_of(uuid) IS 'Deletes the recorded commands that created an entity; returns their number. Needs SELECT and DELETE on idgen.creation_identifiers.';

CREATE OR REPLACE FUNCTION idgen.forget_creation_of_bigint(entity_number bigint) RETURNS bigint
    LANGUAGE SQL VOLATILE PARALLEL UNSAFE STRICT SET search_path = pg_catalog, pg_temp SET enable_seqscan = off
    AS $$
        WITH forgotten AS (DELETE FROM idgen.creation_identifiers c WHERE c.entity_number = forget_creation_of_bigint.entity_number RETURNING 1)
        SELECT count(*) FROM forgotten
    $$;
COMMENT ON FUNCTION idgen.forget_creation_of_bigint(bigint) IS 'The same as forget_creation_of() for entities that a bigint identifies.';

CREATE OR REPLACE FUNCTION idgen.purge_creations(older_than interval DEFAULT '24 hours', batch_size bigint DEFAULT 10000) RETURNS bigint
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp SET enable_seqscan = off AS $$
DECLARE
    us numeric := extract(epoch FROM older_than) * 1000000;
    cutoff timestamp := '4714-11-24 00:00:00 BC';
BEGIN
    IF older_than IS NULL OR batch_size IS NULL THEN
        RAISE EXCEPTION '% must not be null', CASE WHEN older_than IS NULL THEN 'older_than' ELSE 'batch_size' END
            USING ERRCODE = 'null_value_not_allowed';
    ELSIF extract(year FROM older_than) <> 0 OR extract(month FROM older_than) <> 0 THEN
        RAISE EXCEPTION 'older_than must not have months or years'
            USING ERRCODE = 'invalid_parameter_value', DETAIL = format('The older_than is %s, which has no fixed length.', older_than),
                  HINT = 'Give it in weeks, days, hours, minutes or seconds.';
    ELSIF us NOT BETWEEN -9223372036854775808 AND 9223372036854775807 THEN
        RAISE EXCEPTION 'older_than is too long'
            USING ERRCODE = 'invalid_parameter_value', DETAIL = format('The older_than is %s.', older_than);
    ELSIF us < 0 THEN
        RAISE EXCEPTION 'older_than must not be negative'
            USING ERRCODE = 'invalid_parameter_value', DETAIL = format('The value is %s.', older_than);
    ELSIF batch_size < 1 THEN
        RAISE EXCEPTION 'batch_size must be at least 1'
            USING ERRCODE = 'invalid_parameter_value', DETAIL = format('The value is %s.', batch_size);
    END IF;
    IF us < extract(epoch FROM now() AT TIME ZONE 'UTC' - cutoff) * 1000000 THEN
        cutoff := now() AT TIME ZONE 'UTC' - older_than;     -- where a day has 24 hours
    END IF;
    RETURN (SELECT idgen.portable_forget(array_agg(f.command_id), max(f.created_at))
            FROM (SELECT c.command_id, c.created_at FROM idgen.creation_identifiers c
                  WHERE c.created_at < cutoff AT TIME ZONE 'UTC' ORDER BY c.created_at LIMIT batch_size) f);
END $$;
COMMENT ON FUNCTION idgen.purge_creations(interval, bigint) IS 'Deletes recorded commands older than older_than, a day being 24 hours, the oldest first and at most batch_size; returns their number. A negative older_than, one with months or a batch_size below 1 is an error (22023), as is NULL (22004).';

CREATE OR REPLACE FUNCTION idgen.trim_creations(keep bigint, command_name text DEFAULT NULL) RETURNS bigint
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF keep IS NULL THEN
        RAISE EXCEPTION 'keep must not be null' USING ERRCODE = 'null_value_not_allowed';
    ELSIF keep < 0 THEN
        RAISE EXCEPTION 'keep must not be negative'
            USING ERRCODE = 'invalid_parameter_value', DETAIL = format('The value is %s.', keep);
    END IF;
    RETURN (SELECT idgen.portable_forget(array_agg(f.command_id), max(f.created_at))
            FROM (SELECT c.command_id, c.created_at FROM idgen.creation_identifiers c
                  WHERE trim_creations.command_name IS NULL OR c.command_name = trim_creations.command_name COLLATE "C"
                  ORDER BY c.created_at DESC, c.command_id DESC OFFSET keep) f);
END $$;
COMMENT ON FUNCTION idgen.trim_creations(bigint, text) IS 'Deletes all recorded commands but the newest "keep", of one command name or, if that is NULL, of all; returns the number deleted. A negative keep is an error (22023), as is NULL (22004).';

DO $$ BEGIN PERFORM pg_catalog.set_config('search_path', pg_catalog.current_setting('idgen_portable.search_path'), true); END $$;
