/* idgen--1.0.sql: the SQL face of idgen, in the order of its design */

\echo Use "CREATE EXTENSION idgen" to load this file. \quit

GRANT USAGE ON SCHEMA idgen TO PUBLIC;

COMMENT ON SCHEMA idgen IS
'Identifiers for primary keys: generate, validate, create once, compare. Everywhere in this schema, the argument "clock" is the caller''s idea of now, NULL being the server''s.';

-- ---------------------------------------------------------------------------
-- Identifiers of 128 bits: generators
-- ---------------------------------------------------------------------------

CREATE FUNCTION idgen.uuid_v4() RETURNS uuid
    LANGUAGE C VOLATILE PARALLEL SAFE STRICT
    AS 'MODULE_PATHNAME', 'idgen_uuid_v4';

COMMENT ON FUNCTION idgen.uuid_v4() IS
'A random UUID, version 4 (RFC 9562 section 5.4): 122 random bits from the server''s CSPRNG, as gen_random_uuid() makes them, at a fraction of its cost. Its keys scatter over a B-tree index.';

CREATE FUNCTION idgen.uuid_v7(clock timestamptz DEFAULT NULL) RETURNS uuid
    LANGUAGE C VOLATILE PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'idgen_uuid_v7';

COMMENT ON FUNCTION idgen.uuid_v7(timestamptz) IS
'A time-ordered UUID, version 7 (RFC 9562 section 5.7): 48 bits of Unix milliseconds, 12 bits for the fraction of the millisecond, 62 random bits. Tells its creation time. Without a clock, every one is greater than all that this session made before, also when the server''s clock steps back; a session that makes more than 4096 in a millisecond runs ahead of the clock. With a clock, one of that instant, in no particular order. A clock before 1970 or after 10889-08-02 05:31:50.655999+00 is an error (22008).';

CREATE FUNCTION idgen.comb(clock timestamptz DEFAULT NULL) RETURNS uuid
    LANGUAGE C VOLATILE PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'idgen_comb';

COMMENT ON FUNCTION idgen.comb(timestamptz) IS
'A COMB: 48 bits of Unix milliseconds and 74 random bits, marked as a UUID of version 4. Tells its creation time. Ordered by the millisecond, random within it. A clock before 1970 or after 10889-08-02 05:31:50.655999+00 is an error (22008).';

CREATE FUNCTION idgen.short_comb(
    period interval DEFAULT '1 minute',
    prefix_bytes int DEFAULT 2,
    run_length int DEFAULT 1,
    clock timestamptz DEFAULT NULL
) RETURNS uuid
    LANGUAGE C VOLATILE PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'idgen_short_comb';

COMMENT ON FUNCTION idgen.short_comb(interval, int, int, timestamptz) IS
'A short-prefix COMB: a UUID of version 4 whose first prefix_bytes bytes (1 to 6) are floor(Unix ms / period in ms) mod 256^prefix_bytes, the rest random; with the defaults 106 random bits and a prefix that begins again every 45.5 days. New keys lie together in a B-tree index, and a key does not tell when its row was made. run_length above 1 puts the same 32-bit random tag behind the prefix for so many keys of a session in a row, which keeps a bulk load within one period local, too. The period must be a positive whole number of milliseconds without months, and the cycle of all prefixes shorter than 2^64 ms (22023).';

-- ---------------------------------------------------------------------------
-- Identifiers of 128 bits: reading
-- ---------------------------------------------------------------------------

CREATE FUNCTION idgen.uuid_version(id uuid) RETURNS int
    LANGUAGE C IMMUTABLE PARALLEL SAFE STRICT
    AS 'MODULE_PATHNAME', 'idgen_uuid_version';

COMMENT ON FUNCTION idgen.uuid_version(uuid) IS
'The version of a UUID, 0 to 15 (RFC 9562 section 4.2); NULL for a variant other than the RFC''s.';

CREATE FUNCTION idgen.uuid_variant(id uuid) RETURNS text
    LANGUAGE C IMMUTABLE PARALLEL SAFE STRICT
    AS 'MODULE_PATHNAME', 'idgen_uuid_variant';

COMMENT ON FUNCTION idgen.uuid_variant(uuid) IS
'The variant of a UUID (RFC 9562 section 4.1): ''RFC 9562'', ''NCS'', ''Microsoft'' or ''future''.';

CREATE FUNCTION idgen.uuid_timestamp(id uuid) RETURNS timestamptz
    LANGUAGE C IMMUTABLE PARALLEL SAFE STRICT
    AS 'MODULE_PATHNAME', 'idgen_uuid_timestamp';

COMMENT ON FUNCTION idgen.uuid_timestamp(uuid) IS
'The time in a UUID of version 1, 6 or 13 (Lambert''s COMB), rounded down to the microsecond, or of version 7, to the millisecond; NULL for any other.';

CREATE FUNCTION idgen.comb_timestamp(id uuid) RETURNS timestamptz
    LANGUAGE C IMMUTABLE PARALLEL SAFE STRICT
    AS 'MODULE_PATHNAME', 'idgen_comb_timestamp';

COMMENT ON FUNCTION idgen.comb_timestamp(uuid) IS
'The time in a COMB, to the millisecond: the first 48 bits of a UUID of version 4; NULL for any other. Nothing in a COMB tells it from a random UUID, whose bits read as some time, too.';

CREATE FUNCTION idgen.short_comb_timestamp(
    id uuid,
    clock timestamptz DEFAULT NULL,
    period interval DEFAULT '1 minute',
    prefix_bytes int DEFAULT 2
) RETURNS timestamptz
    LANGUAGE C STABLE PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'idgen_short_comb_timestamp';

COMMENT ON FUNCTION idgen.short_comb_timestamp(uuid, timestamptz, interval, int) IS
'The start of the latest period, not after the clock (default: the start of the statement), in which short_comb(period, prefix_bytes) gave this prefix. An identifier older than a whole cycle reads as a younger one. NULL for an identifier that is not of version 4, and where the period would be before timestamptz begins.';

-- Range bounds, for scans and partitions by time

CREATE FUNCTION idgen.uuid_v7_floor(instant timestamptz) RETURNS uuid
    LANGUAGE C IMMUTABLE PARALLEL SAFE STRICT
    AS 'MODULE_PATHNAME', 'idgen_uuid_v7_floor';

COMMENT ON FUNCTION idgen.uuid_v7_floor(timestamptz) IS
'The smallest UUID of version 7 with this instant''s millisecond. An instant before 1970 or after 10889-08-02 05:31:50.655999+00 is an error (22008).';

CREATE FUNCTION idgen.uuid_v7_ceil(instant timestamptz) RETURNS uuid
    LANGUAGE C IMMUTABLE PARALLEL SAFE STRICT
    AS 'MODULE_PATHNAME', 'idgen_uuid_v7_ceil';

COMMENT ON FUNCTION idgen.uuid_v7_ceil(timestamptz) IS
'The greatest UUID of version 7 with this instant''s millisecond. An instant before 1970 or after 10889-08-02 05:31:50.655999+00 is an error (22008).';

CREATE FUNCTION idgen.comb_floor(instant timestamptz) RETURNS uuid
    LANGUAGE C IMMUTABLE PARALLEL SAFE STRICT
    AS 'MODULE_PATHNAME', 'idgen_comb_floor';

COMMENT ON FUNCTION idgen.comb_floor(timestamptz) IS
'The smallest COMB with this instant''s millisecond. An instant before 1970 or after 10889-08-02 05:31:50.655999+00 is an error (22008).';

CREATE FUNCTION idgen.comb_ceil(instant timestamptz) RETURNS uuid
    LANGUAGE C IMMUTABLE PARALLEL SAFE STRICT
    AS 'MODULE_PATHNAME', 'idgen_comb_ceil';

COMMENT ON FUNCTION idgen.comb_ceil(timestamptz) IS
'The greatest COMB with this instant''s millisecond. An instant before 1970 or after 10889-08-02 05:31:50.655999+00 is an error (22008).';

-- ---------------------------------------------------------------------------
-- Checking what clients bring
-- ---------------------------------------------------------------------------

CREATE FUNCTION idgen.is_uuid(id text, version int DEFAULT NULL) RETURNS boolean
    LANGUAGE C IMMUTABLE PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'idgen_is_uuid';

COMMENT ON FUNCTION idgen.is_uuid(text, int) IS
'Whether the text is a UUID in canonical form: 36 characters, dashes in place, hexadecimal digits of either case, the RFC''s variant, and the given version (0 to 15), or one from 1 to 8 where none is given. Never raises an error on bad text.';

CREATE FUNCTION idgen.is_short_comb(
    id uuid,
    tolerance interval DEFAULT NULL,
    clock timestamptz DEFAULT NULL,
    period interval DEFAULT '1 minute',
    prefix_bytes int DEFAULT 2,
    past_tolerance interval DEFAULT NULL,
    future_tolerance interval DEFAULT NULL
) RETURNS boolean
    LANGUAGE C STABLE PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'idgen_is_short_comb';

COMMENT ON FUNCTION idgen.is_short_comb(uuid, interval, timestamptz, interval, int, interval, interval) IS
'Whether the identifier is a UUID of version 4 with a prefix that short_comb(period, prefix_bytes) gives at some instant from clock - tolerance to clock + tolerance, also where the prefixes begin again. The tolerance is ten periods unless given; past_tolerance and future_tolerance override one side. The clock is the start of the statement unless given. A tolerance that is negative, has months, or is as wide as the whole cycle is an error (22023).';

CREATE FUNCTION idgen.is_comb(
    id uuid,
    tolerance interval DEFAULT '10 minutes',
    clock timestamptz DEFAULT NULL,
    past_tolerance interval DEFAULT NULL,
    future_tolerance interval DEFAULT NULL
) RETURNS boolean
    LANGUAGE C STABLE PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'idgen_is_comb';

COMMENT ON FUNCTION idgen.is_comb(uuid, interval, timestamptz, interval, interval) IS
'Whether the identifier is a UUID of version 4 whose first 48 bits are a time from clock - tolerance to clock + tolerance; past_tolerance and future_tolerance override one side. The clock is the start of the statement unless given. A tolerance that is negative or has months is an error (22023).';

CREATE FUNCTION idgen.is_uuid_v7(
    id uuid,
    tolerance interval DEFAULT '10 minutes',
    clock timestamptz DEFAULT NULL,
    past_tolerance interval DEFAULT NULL,
    future_tolerance interval DEFAULT NULL
) RETURNS boolean
    LANGUAGE C STABLE PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'idgen_is_uuid_v7';

COMMENT ON FUNCTION idgen.is_uuid_v7(uuid, interval, timestamptz, interval, interval) IS
'Whether the identifier is a UUID of version 7 with a time from clock - tolerance to clock + tolerance; past_tolerance and future_tolerance override one side. The clock is the start of the statement unless given. A tolerance that is negative or has months is an error (22023).';

CREATE FUNCTION idgen.check_short_comb(
    id uuid,
    tolerance interval DEFAULT NULL,
    clock timestamptz DEFAULT NULL,
    period interval DEFAULT '1 minute',
    prefix_bytes int DEFAULT 2,
    past_tolerance interval DEFAULT NULL,
    future_tolerance interval DEFAULT NULL
) RETURNS uuid
    LANGUAGE C STABLE PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'idgen_check_short_comb';

COMMENT ON FUNCTION idgen.check_short_comb(uuid, interval, timestamptz, interval, int, interval, interval) IS
'The identifier, if is_short_comb() holds for it with the same arguments; otherwise an error (23514) that shows the window and the value found.';

CREATE FUNCTION idgen.check_comb(
    id uuid,
    tolerance interval DEFAULT '10 minutes',
    clock timestamptz DEFAULT NULL,
    past_tolerance interval DEFAULT NULL,
    future_tolerance interval DEFAULT NULL
) RETURNS uuid
    LANGUAGE C STABLE PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'idgen_check_comb';

COMMENT ON FUNCTION idgen.check_comb(uuid, interval, timestamptz, interval, interval) IS
'The identifier, if is_comb() holds for it with the same arguments; otherwise an error (23514) that shows the window and the value found.';

CREATE FUNCTION idgen.check_uuid_v7(
    id uuid,
    tolerance interval DEFAULT '10 minutes',
    clock timestamptz DEFAULT NULL,
    past_tolerance interval DEFAULT NULL,
    future_tolerance interval DEFAULT NULL
) RETURNS uuid
    LANGUAGE C STABLE PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'idgen_check_uuid_v7';

COMMENT ON FUNCTION idgen.check_uuid_v7(uuid, interval, timestamptz, interval, interval) IS
'The identifier, if is_uuid_v7() holds for it with the same arguments; otherwise an error (23514) that shows the window and the value found.';

CREATE FUNCTION idgen.check_on_insert() RETURNS trigger
    LANGUAGE C VOLATILE PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'idgen_check_on_insert';

COMMENT ON FUNCTION idgen.check_on_insert() IS
'Trigger function, BEFORE INSERT FOR EACH ROW: refuses (23514) a row whose identifier was not made at about this time. Arguments: (column, ''short_comb'', tolerance, period, prefix_bytes, past_tolerance, future_tolerance), or (column, ''comb'' or ''uuid_v7'', tolerance, past_tolerance, future_tolerance); all but the first two can be left out, and an empty one stands for its default. The clock is the setting idgen.clock where it is set, otherwise the server''s. A NULL identifier passes.';

-- ---------------------------------------------------------------------------
-- Retry-safe creation
-- ---------------------------------------------------------------------------

CREATE TABLE idgen.creation_identifiers (
    command_id uuid PRIMARY KEY,
    command_name text NOT NULL DEFAULT '',
    entity_id uuid,
    entity_number bigint,
    request_hash bigint,
    created_at timestamptz NOT NULL DEFAULT pg_catalog.now(),
    CONSTRAINT creation_identifiers_one_entity
        CHECK (pg_catalog.num_nonnulls(entity_id, entity_number) = 1)
);

CREATE INDEX creation_identifiers_created_at ON idgen.creation_identifiers (created_at);
CREATE INDEX creation_identifiers_entity_id ON idgen.creation_identifiers (entity_id)
    WHERE entity_id IS NOT NULL;
CREATE INDEX creation_identifiers_entity_number ON idgen.creation_identifiers (entity_number)
    WHERE entity_number IS NOT NULL;

-- whoever installs a trusted extension must be able to grant rights on its table
ALTER TABLE idgen.creation_identifiers OWNER TO @extowner@;

SELECT pg_catalog.pg_extension_config_dump('idgen.creation_identifiers', '');

COMMENT ON TABLE idgen.creation_identifiers IS
'Which entity each creation command made, so that a retried command can be answered instead of repeated. Written by idgen.create_once(). PUBLIC has no rights on it.';
COMMENT ON COLUMN idgen.creation_identifiers.command_id IS
'The id that the client gave the command, the same in every retry. One that begins with the time, such as UUID version 7, keeps the index local.';
COMMENT ON COLUMN idgen.creation_identifiers.command_name IS
'What kind of command it was, as the application calls it.';
COMMENT ON COLUMN idgen.creation_identifiers.entity_id IS
'The entity that the command created, where a uuid identifies it.';
COMMENT ON COLUMN idgen.creation_identifiers.entity_number IS
'The entity that the command created, where a bigint identifies it.';
COMMENT ON COLUMN idgen.creation_identifiers.request_hash IS
'The first 64 bits of a SHA-256 of the request; NULL where none was given. Equal jsonb values have equal hashes, on every server version and machine.';
COMMENT ON COLUMN idgen.creation_identifiers.created_at IS
'When the recording transaction began.';

CREATE FUNCTION idgen.create_once(
    command_id uuid,
    proposed_id uuid,
    command_name text DEFAULT '',
    request jsonb DEFAULT NULL,
    OUT entity_id uuid,
    OUT created boolean
) RETURNS record
    LANGUAGE C VOLATILE PARALLEL UNSAFE
    AS 'MODULE_PATHNAME', 'idgen_create_once_uuid';

COMMENT ON FUNCTION idgen.create_once(uuid, uuid, text, jsonb) IS
'Makes a creation command safe to retry. The first call with a command id records the proposed id and says created; every later one gets the recorded id back. A session with the same command id as one under way waits for it: it commits, and the recorded id comes back, or it rolls back, and this session''s own is recorded. A known command id with another name, kind of id or request is an error (23505). Under REPEATABLE READ and SERIALIZABLE, a concurrent creation can be a serialization failure (40001). Needs SELECT and INSERT on idgen.creation_identifiers.';

CREATE FUNCTION idgen.create_once(
    command_id uuid,
    proposed_id bigint,
    command_name text DEFAULT '',
    request jsonb DEFAULT NULL,
    OUT entity_number bigint,
    OUT created boolean
) RETURNS record
    LANGUAGE C VOLATILE PARALLEL UNSAFE
    AS 'MODULE_PATHNAME', 'idgen_create_once_bigint';

COMMENT ON FUNCTION idgen.create_once(uuid, bigint, text, jsonb) IS
'As create_once(uuid, uuid, text, jsonb), for entities that a bigint identifies.';

CREATE FUNCTION idgen.find_creation(command_id uuid)
    RETURNS SETOF idgen.creation_identifiers
    LANGUAGE SQL STABLE PARALLEL SAFE STRICT ROWS 1
    BEGIN ATOMIC
        SELECT c.* FROM idgen.creation_identifiers c
        WHERE c.command_id OPERATOR(pg_catalog.=) find_creation.command_id;
    END;

COMMENT ON FUNCTION idgen.find_creation(uuid) IS
'What is recorded about a command: one row, or none. Needs SELECT on idgen.creation_identifiers.';

CREATE FUNCTION idgen.forget_creation(command_id uuid) RETURNS boolean
    LANGUAGE SQL VOLATILE PARALLEL UNSAFE STRICT
    BEGIN ATOMIC
        WITH forgotten AS (
            DELETE FROM idgen.creation_identifiers c
            WHERE c.command_id OPERATOR(pg_catalog.=) forget_creation.command_id
            RETURNING c.command_id
        )
        SELECT EXISTS (SELECT FROM forgotten);
    END;

COMMENT ON FUNCTION idgen.forget_creation(uuid) IS
'Forgets a command, so that the next call with its id creates anew; whether it was known. Needs SELECT and DELETE on idgen.creation_identifiers.';

CREATE FUNCTION idgen.forget_creation_of(entity_id uuid) RETURNS bigint
    LANGUAGE SQL VOLATILE PARALLEL UNSAFE STRICT
    BEGIN ATOMIC
        WITH forgotten AS (
            DELETE FROM idgen.creation_identifiers c
            WHERE c.entity_id OPERATOR(pg_catalog.=) forget_creation_of.entity_id
            RETURNING c.command_id
        )
        SELECT pg_catalog.count(*) FROM forgotten;
    END;

COMMENT ON FUNCTION idgen.forget_creation_of(uuid) IS
'Forgets the commands that created an entity, for example when its first later command shows that the client knows its id; their number. Needs SELECT and DELETE on idgen.creation_identifiers.';

CREATE FUNCTION idgen.forget_creation_of(entity_number bigint) RETURNS bigint
    LANGUAGE SQL VOLATILE PARALLEL UNSAFE STRICT
    BEGIN ATOMIC
        WITH forgotten AS (
            DELETE FROM idgen.creation_identifiers c
            WHERE c.entity_number OPERATOR(pg_catalog.=) forget_creation_of.entity_number
            RETURNING c.command_id
        )
        SELECT pg_catalog.count(*) FROM forgotten;
    END;

COMMENT ON FUNCTION idgen.forget_creation_of(bigint) IS
'As forget_creation_of(uuid), for entities that a bigint identifies.';

CREATE FUNCTION idgen.purge_creations(
    older_than interval DEFAULT '24 hours',
    batch_size bigint DEFAULT 10000
) RETURNS bigint
    LANGUAGE C VOLATILE PARALLEL UNSAFE
    AS 'MODULE_PATHNAME', 'idgen_purge_creations';

COMMENT ON FUNCTION idgen.purge_creations(interval, bigint) IS
'Forgets creations older than that, the oldest first and at most batch_size in one call; their number. Call it, each time in a transaction of its own, until it returns less than batch_size. A retry that comes later than this creates anew. Needs SELECT and DELETE on idgen.creation_identifiers. A negative older_than or a batch_size below 1 is an error (22023).';

CREATE FUNCTION idgen.trim_creations(
    keep bigint,
    command_name text DEFAULT NULL
) RETURNS bigint
    LANGUAGE C VOLATILE PARALLEL UNSAFE
    AS 'MODULE_PATHNAME', 'idgen_trim_creations';

COMMENT ON FUNCTION idgen.trim_creations(bigint, text) IS
'Forgets all creations but the newest "keep", of one command name or, where that is NULL, of all; the number forgotten. Needs SELECT and DELETE on idgen.creation_identifiers. A keep below zero is an error (22023).';

CREATE FUNCTION idgen.remember_command(
    history uuid[],
    command_id uuid,
    keep int DEFAULT 20
) RETURNS uuid[]
    LANGUAGE C IMMUTABLE PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'idgen_remember_command';

COMMENT ON FUNCTION idgen.remember_command(uuid[], uuid, int) IS
'The command history of an entity with one more command id: newest last, and no more than the newest "keep". One that is there already stays in its place. A NULL history is an empty one. For a column of the entity''s own row. A keep below zero is an error (22023).';

CREATE FUNCTION idgen.has_command(history uuid[], command_id uuid) RETURNS boolean
    LANGUAGE C IMMUTABLE PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'idgen_has_command';

COMMENT ON FUNCTION idgen.has_command(uuid[], uuid) IS
'Whether a command id is in an entity''s command history, so that its command was done before. A NULL history is an empty one.';
