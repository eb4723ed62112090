/* idgen--1.0.sql: the SQL face of idgen, in the order of its design */

\echo Use "CREATE EXTENSION idgen" to load this file. \quit

-- The schema, and everything in it, belongs to the role that runs this script:
-- for a trusted extension the bootstrap superuser, not the installer. A role
-- that made the schema before could have put functions and operators into it
-- that match a call better than those below. So every name in this block has
-- its schema: the search_path contains idgen.
DO $$
DECLARE
    object pg_catalog.text;
    grantee pg_catalog.name;
BEGIN
    SELECT pg_catalog.pg_describe_object(d.classid, d.objid, d.objsubid) INTO object
    FROM pg_catalog.pg_depend d         -- default privileges, which any role can set, are no object
    WHERE d.refclassid OPERATOR(pg_catalog.=) 'pg_catalog.pg_namespace'::pg_catalog.regclass
      AND d.refobjid OPERATOR(pg_catalog.=) 'idgen'::pg_catalog.regnamespace
      AND d.classid OPERATOR(pg_catalog.<>) 'pg_catalog.pg_default_acl'::pg_catalog.regclass
      AND NOT EXISTS (SELECT FROM pg_catalog.pg_extension e
                      WHERE e.extname OPERATOR(pg_catalog.=) 'idgen'
                        AND d.classid OPERATOR(pg_catalog.=) e.tableoid
                        AND d.objid OPERATOR(pg_catalog.=) e.oid)
    LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'schema "idgen" is not empty'
            USING ERRCODE = 'object_not_in_prerequisite_state',
                  DETAIL = pg_catalog.format('It contains %s.', object),
                  HINT = 'Drop the schema, then create the extension again.';
    END IF;

    ALTER SCHEMA idgen OWNER TO CURRENT_USER;
    FOR grantee IN
        SELECT r.rolname
        FROM pg_catalog.pg_namespace n, pg_catalog.aclexplode(n.nspacl) a, pg_catalog.pg_authid r
        WHERE n.oid OPERATOR(pg_catalog.=) 'idgen'::pg_catalog.regnamespace
          AND r.oid OPERATOR(pg_catalog.=) a.grantee
          AND r.oid OPERATOR(pg_catalog.<>) n.nspowner
    LOOP
        EXECUTE pg_catalog.format('REVOKE ALL ON SCHEMA idgen FROM %I CASCADE', grantee);
    END LOOP;
    REVOKE ALL ON SCHEMA idgen FROM PUBLIC;
END
$$;

GRANT USAGE ON SCHEMA idgen TO PUBLIC;

COMMENT ON SCHEMA idgen IS
'Identifiers for primary keys: generate, validate, create once, compare. Everywhere in this schema, the argument "clock" is the caller''s idea of now, NULL being the server''s; an infinite one is an error (22008).';

-- ---------------------------------------------------------------------------
-- Identifiers of 128 bits: generators
-- ---------------------------------------------------------------------------

CREATE FUNCTION idgen.uuid_v4() RETURNS uuid
    LANGUAGE C VOLATILE PARALLEL SAFE STRICT
    AS 'MODULE_PATHNAME', 'idgen_uuid_v4';

COMMENT ON FUNCTION idgen.uuid_v4() IS
'A random UUID, version 4 (RFC 9562 section 5.4): 122 random bits from the server''s CSPRNG, as gen_random_uuid() makes them, at a fraction of its cost. Its keys scatter over a B-tree index.';

CREATE FUNCTION idgen.uuid_v5(namespace uuid, name text) RETURNS uuid
    LANGUAGE C IMMUTABLE PARALLEL SAFE STRICT
    AS 'MODULE_PATHNAME', 'idgen_uuid_v5';

COMMENT ON FUNCTION idgen.uuid_v5(uuid, text) IS
'A UUID of version 5 (RFC 9562 section 5.5): 122 bits of SHA-1 over the namespace and the name in UTF-8, so that the same arguments always give the same UUID.';

CREATE FUNCTION idgen.uuid_v7(clock timestamptz DEFAULT NULL) RETURNS uuid
    LANGUAGE C VOLATILE PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'idgen_uuid_v7';

COMMENT ON FUNCTION idgen.uuid_v7(timestamptz) IS
'A UUID of version 7 (RFC 9562 section 5.7) that reveals its creation time: 48 bits of Unix milliseconds, 12 bits for the fraction of the millisecond, 62 random bits; without a clock, greater than all that this session made before, also when the server''s clock is set back. With a clock, one of that time, outside the session''s order; a clock before 1970 or after 10889-08-02 05:31:50.655999+00 is an error (22008).';

CREATE FUNCTION idgen.uuid_v7_ordered() RETURNS uuid
    LANGUAGE C VOLATILE PARALLEL UNSAFE STRICT
    AS 'MODULE_PATHNAME', 'idgen_uuid_v7_ordered';

COMMENT ON FUNCTION idgen.uuid_v7_ordered() IS
'A UUID of version 7, greater than every one that any session of this database got from this function before, also after a crash, a clock set back or a failover. Runs ahead of the clock where more than 4096 are asked for in a millisecond or the clock was set back, by idgen.max_ahead at most; then waits. Refused in a read-only transaction and on a standby (25006).';

CREATE FUNCTION idgen.uuid_v1() RETURNS uuid
    LANGUAGE C VOLATILE PARALLEL SAFE STRICT
    AS 'MODULE_PATHNAME', 'idgen_uuid_v1';

COMMENT ON FUNCTION idgen.uuid_v1() IS
'A UUID of version 1 (RFC 9562 section 5.1): 60 bits of 100 ns ticks since 1582-10-15, the low ones first, then 61 random bits for clock sequence and node. Tells its creation time. The ticks strictly increase within a session; they do not order the UUIDs, for that see uuid_v6().';

CREATE FUNCTION idgen.uuid_v6() RETURNS uuid
    LANGUAGE C VOLATILE PARALLEL SAFE STRICT
    AS 'MODULE_PATHNAME', 'idgen_uuid_v6';

COMMENT ON FUNCTION idgen.uuid_v6() IS
'A time-ordered UUID of version 6 (RFC 9562 section 5.6): version 1 with the high ticks first. Tells its creation time. Strictly increasing within a session.';

CREATE FUNCTION idgen.lambert_comb() RETURNS uuid
    LANGUAGE C VOLATILE PARALLEL SAFE STRICT
    AS 'MODULE_PATHNAME', 'idgen_lambert_comb';

COMMENT ON FUNCTION idgen.lambert_comb() IS
'M. Lambert''s time-ordered UUID of 2012: the bits of version 6 under version number 13. Tells its creation time. Strictly increasing within a session.';

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
'A short COMB: a UUID of version 4 whose first prefix_bytes bytes (1 to 6) are floor(Unix ms / period in ms) mod 256^prefix_bytes, the rest random, the first 32 bits behind the prefix shared by run_length successive ones of a session. The period is a whole number of milliseconds up to 365250 days (1000 years), without months; an argument out of range is an error (22023).';

CREATE FUNCTION idgen.suffix_comb(clock timestamptz DEFAULT NULL) RETURNS uuid
    LANGUAGE C VOLATILE PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'idgen_suffix_comb';

COMMENT ON FUNCTION idgen.suffix_comb(timestamptz) IS
'J. Nilsson''s COMB for SQL Server: 74 random bits, then 48 bits of Unix milliseconds in bytes 10 to 15, where SQL Server''s order begins; a UUID of version 4. Scatters over a PostgreSQL index: keep comb() here and convert with prefix_to_suffix(). A clock before 1970 or after 10889-08-02 05:31:50.655999+00 is an error (22008).';

CREATE FUNCTION idgen.short_suffix_comb(
    period interval DEFAULT '1 minute',
    clock timestamptz DEFAULT NULL
) RETURNS uuid
    LANGUAGE C VOLATILE PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'idgen_short_suffix_comb';

COMMENT ON FUNCTION idgen.short_suffix_comb(interval, timestamptz) IS
'short_comb() for SQL Server: the 16-bit prefix is in bytes 10 and 11, the other 106 bits are random. Scatters over a PostgreSQL index: keep short_comb() here and convert with short_prefix_to_suffix(); the period has the limits of short_comb() (22023).';

CREATE FUNCTION idgen.sequence_comb(
    sequence regclass,
    block_size int DEFAULT 65536,
    block_count int DEFAULT 65536
) RETURNS uuid
    LANGUAGE C VOLATILE PARALLEL UNSAFE
    AS 'MODULE_PATHNAME', 'idgen_sequence_comb';

COMMENT ON FUNCTION idgen.sequence_comb(regclass, int, int) IS
'T. Vondra''s sequential UUID: like short_comb(), with blocks of a sequence''s values in place of periods of time. The prefix has as many whole bytes as block_count needs (0 to 4) and is ((nextval - 1) / block) mod 256^bytes, where block is block_size * block_count / 256^bytes, at least 1. Needs USAGE or UPDATE on the sequence; fails in a read-only transaction (25006) as nextval() does. A block_size or block_count below 1 is an error (22023).';

-- ---------------------------------------------------------------------------
-- Identifiers of 128 bits: conversions
-- ---------------------------------------------------------------------------

CREATE FUNCTION idgen.uuid_v1_to_v6(id uuid) RETURNS uuid
    LANGUAGE C IMMUTABLE PARALLEL SAFE STRICT
    AS 'MODULE_PATHNAME', 'idgen_uuid_v1_to_v6';

COMMENT ON FUNCTION idgen.uuid_v1_to_v6(uuid) IS
'The UUID of version 6 with the ticks, clock sequence and node of this version 1 (RFC 9562 section 5.6). Another version is an error (22023).';

CREATE FUNCTION idgen.uuid_v6_to_v1(id uuid) RETURNS uuid
    LANGUAGE C IMMUTABLE PARALLEL SAFE STRICT
    AS 'MODULE_PATHNAME', 'idgen_uuid_v6_to_v1';

COMMENT ON FUNCTION idgen.uuid_v6_to_v1(uuid) IS
'The UUID of version 1 with the ticks, clock sequence and node of this version 6. Another version is an error (22023).';

CREATE FUNCTION idgen.uuid_v1_to_lambert_comb(id uuid) RETURNS uuid
    LANGUAGE C IMMUTABLE PARALLEL SAFE STRICT
    AS 'MODULE_PATHNAME', 'idgen_uuid_v1_to_lambert_comb';

COMMENT ON FUNCTION idgen.uuid_v1_to_lambert_comb(uuid) IS
'M. Lambert''s time-ordered UUID (version 13) of this version 1. Another version is an error (22023).';

CREATE FUNCTION idgen.lambert_comb_to_uuid_v1(id uuid) RETURNS uuid
    LANGUAGE C IMMUTABLE PARALLEL SAFE STRICT
    AS 'MODULE_PATHNAME', 'idgen_lambert_comb_to_uuid_v1';

COMMENT ON FUNCTION idgen.lambert_comb_to_uuid_v1(uuid) IS
'The UUID of version 1 of M. Lambert''s time-ordered one (version 13). Another version is an error (22023).';

CREATE FUNCTION idgen.swap_guid_bytes(id uuid) RETURNS uuid
    LANGUAGE C IMMUTABLE PARALLEL SAFE STRICT
    AS 'MODULE_PATHNAME', 'idgen_swap_guid_bytes';

COMMENT ON FUNCTION idgen.swap_guid_bytes(uuid) IS
'The bytes of the first three fields (4, 2 and 2 bytes) in reverse order, as SQL Server stores them: turns a NEWSEQUENTIALID() into version 1, and back. Its own inverse, for any uuid.';

CREATE FUNCTION idgen.prefix_to_suffix(id uuid) RETURNS uuid
    LANGUAGE C IMMUTABLE PARALLEL SAFE STRICT
    AS 'MODULE_PATHNAME', 'idgen_prefix_to_suffix';

COMMENT ON FUNCTION idgen.prefix_to_suffix(uuid) IS
'Bytes 0 to 5 exchanged with bytes 10 to 15: turns a comb() into a suffix_comb() in the order of SQL Server. For any uuid; the inverse is suffix_to_prefix().';

CREATE FUNCTION idgen.suffix_to_prefix(id uuid) RETURNS uuid
    LANGUAGE C IMMUTABLE PARALLEL SAFE STRICT
    AS 'MODULE_PATHNAME', 'idgen_prefix_to_suffix';

COMMENT ON FUNCTION idgen.suffix_to_prefix(uuid) IS
'Bytes 10 to 15 exchanged with bytes 0 to 5: turns a suffix_comb() into a comb(). For any uuid; the inverse is prefix_to_suffix().';

CREATE FUNCTION idgen.short_prefix_to_suffix(id uuid) RETURNS uuid
    LANGUAGE C IMMUTABLE PARALLEL SAFE STRICT
    AS 'MODULE_PATHNAME', 'idgen_short_prefix_to_suffix';

COMMENT ON FUNCTION idgen.short_prefix_to_suffix(uuid) IS
'Bytes 0 and 1 exchanged with bytes 10 and 11: turns a short_comb() into a short_suffix_comb() in the order of SQL Server. For any uuid; the inverse is short_suffix_to_prefix().';

CREATE FUNCTION idgen.short_suffix_to_prefix(id uuid) RETURNS uuid
    LANGUAGE C IMMUTABLE PARALLEL SAFE STRICT
    AS 'MODULE_PATHNAME', 'idgen_short_prefix_to_suffix';

COMMENT ON FUNCTION idgen.short_suffix_to_prefix(uuid) IS
'Bytes 10 and 11 exchanged with bytes 0 and 1: turns a short_suffix_comb() into a short_comb(). For any uuid; the inverse is short_prefix_to_suffix().';

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

CREATE FUNCTION idgen.uuid_text_timestamp(id text) RETURNS timestamptz
    LANGUAGE SQL IMMUTABLE PARALLEL SAFE STRICT
    RETURN idgen.uuid_timestamp(id::pg_catalog.uuid);

COMMENT ON FUNCTION idgen.uuid_text_timestamp(text) IS
'As uuid_timestamp(), for a UUID as text, such as a time decoder of pg_partman gets. Text that is not a uuid is an error (22P02).';

CREATE FUNCTION idgen.comb_timestamp(id uuid) RETURNS timestamptz
    LANGUAGE C IMMUTABLE PARALLEL SAFE STRICT
    AS 'MODULE_PATHNAME', 'idgen_comb_timestamp';

COMMENT ON FUNCTION idgen.comb_timestamp(uuid) IS
'The time in a COMB, to the millisecond: the first 48 bits of a UUID of version 4; NULL for any other. Nothing in a COMB tells it from a random UUID, whose bits read as some time, too.';

CREATE FUNCTION idgen.suffix_comb_timestamp(id uuid) RETURNS timestamptz
    LANGUAGE C IMMUTABLE PARALLEL SAFE STRICT
    AS 'MODULE_PATHNAME', 'idgen_suffix_comb_timestamp';

COMMENT ON FUNCTION idgen.suffix_comb_timestamp(uuid) IS
'The time in a suffix COMB, to the millisecond: the last 48 bits of a UUID of version 4; NULL for any other. Nothing in a suffix COMB tells it from a random UUID, whose bits read as some time, too.';

CREATE FUNCTION idgen.short_comb_timestamp(
    id uuid,
    clock timestamptz DEFAULT NULL,
    period interval DEFAULT '1 minute',
    prefix_bytes int DEFAULT 2
) RETURNS timestamptz
    LANGUAGE C STABLE PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'idgen_short_comb_timestamp';

COMMENT ON FUNCTION idgen.short_comb_timestamp(uuid, timestamptz, interval, int) IS
'The start of the latest period, not after the clock (default: the start of the statement), in which short_comb(period, prefix_bytes) gave this prefix. An identifier older than a whole cycle reads as a younger one. NULL for an identifier that is not of version 4, and where the period would be before timestamptz begins. A period or prefix_bytes that short_comb() refuses is an error (22023).';

CREATE FUNCTION idgen.inspect(
    id uuid,
    OUT version int,
    OUT variant text,
    OUT uuid_timestamp timestamptz,
    OUT comb_timestamp timestamptz,
    OUT suffix_comb_timestamp timestamptz,
    OUT short_comb_timestamp timestamptz,
    OUT short_prefix text
)
    LANGUAGE SQL STABLE PARALLEL SAFE STRICT
    BEGIN ATOMIC
        SELECT idgen.uuid_version(id), idgen.uuid_variant(id), idgen.uuid_timestamp(id),
               idgen.comb_timestamp(id), idgen.suffix_comb_timestamp(id),
               idgen.short_comb_timestamp(id), pg_catalog."left"(id::pg_catalog.text, 4);
    END;

COMMENT ON FUNCTION idgen.inspect(uuid) IS
'Every reading of a UUID in one row: version, variant, the timestamps that its version can have (NULL for the others; a random UUID reads as some time, too), and the first two bytes, a short COMB''s prefix, in hexadecimal.';

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

-- Half-open ranges of time, which the planner inlines into index conditions and
-- partition pruning. STRICT functions would not be inlined.

CREATE FUNCTION idgen.uuid_v7_within(id uuid, start timestamptz, stop timestamptz) RETURNS boolean
    LANGUAGE SQL IMMUTABLE PARALLEL SAFE
    RETURN id OPERATOR(pg_catalog.>=) idgen.uuid_v7_floor(start)
       AND id OPERATOR(pg_catalog.<) idgen.uuid_v7_floor(stop);

COMMENT ON FUNCTION idgen.uuid_v7_within(uuid, timestamptz, timestamptz) IS
'Whether a UUID of version 7 is from start on and before stop: id >= uuid_v7_floor(start) AND id < uuid_v7_floor(stop), which uses an index and prunes partitions. Never true where start or stop is NULL.';

CREATE FUNCTION idgen.comb_within(id uuid, start timestamptz, stop timestamptz) RETURNS boolean
    LANGUAGE SQL IMMUTABLE PARALLEL SAFE
    RETURN id OPERATOR(pg_catalog.>=) idgen.comb_floor(start)
       AND id OPERATOR(pg_catalog.<) idgen.comb_floor(stop);

COMMENT ON FUNCTION idgen.comb_within(uuid, timestamptz, timestamptz) IS
'Whether a COMB is from start on and before stop: id >= comb_floor(start) AND id < comb_floor(stop), which uses an index and prunes partitions. Never true where start or stop is NULL.';

-- Aggregates over all uuids

CREATE FUNCTION idgen.uuid_smaller(uuid, uuid) RETURNS uuid
    LANGUAGE C IMMUTABLE PARALLEL SAFE STRICT
    AS 'MODULE_PATHNAME', 'idgen_uuid_smaller';

COMMENT ON FUNCTION idgen.uuid_smaller(uuid, uuid) IS
'The smaller of two uuids.';

CREATE FUNCTION idgen.uuid_larger(uuid, uuid) RETURNS uuid
    LANGUAGE C IMMUTABLE PARALLEL SAFE STRICT
    AS 'MODULE_PATHNAME', 'idgen_uuid_larger';

COMMENT ON FUNCTION idgen.uuid_larger(uuid, uuid) IS
'The larger of two uuids.';

CREATE AGGREGATE idgen.min(uuid) (
    SFUNC = idgen.uuid_smaller,
    STYPE = uuid,
    COMBINEFUNC = idgen.uuid_smaller,
    SORTOP = OPERATOR(pg_catalog.<),
    PARALLEL = SAFE
);

COMMENT ON AGGREGATE idgen.min(uuid) IS
'The smallest uuid; from one end of an index where there is one.';

CREATE AGGREGATE idgen.max(uuid) (
    SFUNC = idgen.uuid_larger,
    STYPE = uuid,
    COMBINEFUNC = idgen.uuid_larger,
    SORTOP = OPERATOR(pg_catalog.>),
    PARALLEL = SAFE
);

COMMENT ON AGGREGATE idgen.max(uuid) IS
'The greatest uuid; from one end of an index where there is one.';

-- ---------------------------------------------------------------------------
-- Checking what clients bring
-- ---------------------------------------------------------------------------

CREATE FUNCTION idgen.is_uuid(id text, version int DEFAULT NULL) RETURNS boolean
    LANGUAGE C IMMUTABLE PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'idgen_is_uuid';

COMMENT ON FUNCTION idgen.is_uuid(text, int) IS
'Whether the text is a UUID in canonical form: 36 characters, dashes in place, hexadecimal digits of either case, the RFC''s variant, and the given version (0 to 15), or one from 1 to 8 where none is given. Never raises an error on bad text; another version to ask for is one (22023).';

CREATE FUNCTION idgen.is_recent_short_comb(
    id uuid,
    tolerance interval DEFAULT NULL,
    clock timestamptz DEFAULT NULL,
    period interval DEFAULT '1 minute',
    prefix_bytes int DEFAULT 2,
    past_tolerance interval DEFAULT NULL,
    future_tolerance interval DEFAULT NULL
) RETURNS boolean
    LANGUAGE C STABLE PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'idgen_is_recent_short_comb';

COMMENT ON FUNCTION idgen.is_recent_short_comb(uuid, interval, timestamptz, interval, int, interval, interval) IS
'Whether the identifier is a UUID of version 4 with a prefix that short_comb(period, prefix_bytes) gives at some time from clock - past_tolerance to clock + future_tolerance, each of them tolerance unless given, and that ten periods unless given; the clock is the start of the statement unless given. A tolerance that is negative or has months is an error (22023), as are tolerances that together exceed the cycle of prefixes less two periods: a wider window could contain every prefix.';

CREATE FUNCTION idgen.is_recent_comb(
    id uuid,
    tolerance interval DEFAULT '10 minutes',
    clock timestamptz DEFAULT NULL,
    past_tolerance interval DEFAULT NULL,
    future_tolerance interval DEFAULT NULL
) RETURNS boolean
    LANGUAGE C STABLE PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'idgen_is_recent_comb';

COMMENT ON FUNCTION idgen.is_recent_comb(uuid, interval, timestamptz, interval, interval) IS
'Whether the identifier is a UUID of version 4 whose first 48 bits are a time from clock - past_tolerance to clock + future_tolerance, both rounded down to the millisecond; each tolerance is "tolerance" unless given, the clock the start of the statement. A tolerance that is negative or has months is an error (22023).';

CREATE FUNCTION idgen.is_recent_uuid_v7(
    id uuid,
    tolerance interval DEFAULT '10 minutes',
    clock timestamptz DEFAULT NULL,
    past_tolerance interval DEFAULT NULL,
    future_tolerance interval DEFAULT NULL
) RETURNS boolean
    LANGUAGE C STABLE PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'idgen_is_recent_uuid_v7';

COMMENT ON FUNCTION idgen.is_recent_uuid_v7(uuid, interval, timestamptz, interval, interval) IS
'Whether the identifier is a UUID of version 7 with a time from clock - past_tolerance to clock + future_tolerance, both rounded down to the millisecond; each tolerance is "tolerance" unless given, the clock the start of the statement. A tolerance that is negative or has months is an error (22023).';

CREATE FUNCTION idgen.check_recent_short_comb(
    id uuid,
    tolerance interval DEFAULT NULL,
    clock timestamptz DEFAULT NULL,
    period interval DEFAULT '1 minute',
    prefix_bytes int DEFAULT 2,
    past_tolerance interval DEFAULT NULL,
    future_tolerance interval DEFAULT NULL
) RETURNS uuid
    LANGUAGE C STABLE PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'idgen_check_recent_short_comb';

COMMENT ON FUNCTION idgen.check_recent_short_comb(uuid, interval, timestamptz, interval, int, interval, interval) IS
'The identifier, if is_recent_short_comb() is true for it with the same arguments; otherwise an error (23514) that shows the window and the value found. The function''s name is the error''s constraint name.';

CREATE FUNCTION idgen.check_recent_comb(
    id uuid,
    tolerance interval DEFAULT '10 minutes',
    clock timestamptz DEFAULT NULL,
    past_tolerance interval DEFAULT NULL,
    future_tolerance interval DEFAULT NULL
) RETURNS uuid
    LANGUAGE C STABLE PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'idgen_check_recent_comb';

COMMENT ON FUNCTION idgen.check_recent_comb(uuid, interval, timestamptz, interval, interval) IS
'The identifier, if is_recent_comb() is true for it with the same arguments; otherwise an error (23514) that shows the window and the value found. The function''s name is the error''s constraint name.';

CREATE FUNCTION idgen.check_recent_uuid_v7(
    id uuid,
    tolerance interval DEFAULT '10 minutes',
    clock timestamptz DEFAULT NULL,
    past_tolerance interval DEFAULT NULL,
    future_tolerance interval DEFAULT NULL
) RETURNS uuid
    LANGUAGE C STABLE PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'idgen_check_recent_uuid_v7';

COMMENT ON FUNCTION idgen.check_recent_uuid_v7(uuid, interval, timestamptz, interval, interval) IS
'The identifier, if is_recent_uuid_v7() is true for it with the same arguments; otherwise an error (23514) that shows the window and the value found. The function''s name is the error''s constraint name.';

CREATE FUNCTION idgen.check_on_insert() RETURNS trigger
    LANGUAGE C VOLATILE PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'idgen_check_on_insert';

COMMENT ON FUNCTION idgen.check_on_insert() IS
'Trigger function, BEFORE INSERT FOR EACH ROW, with the arguments (column, ''short_comb'', tolerance, period, prefix_bytes, past_tolerance, future_tolerance) or (column, ''comb'' or ''uuid_v7'', tolerance, past_tolerance, future_tolerance), of which all but the first two can be left out or empty: refuses a row whose identifier was not made at about the time of idgen.clock, or of the server''s clock where that is not set. The error (23514) carries the table, the column and, as constraint name, the trigger''s name; a NULL identifier passes.';

-- ---------------------------------------------------------------------------
-- Identifiers of 63 and 53 bits
-- ---------------------------------------------------------------------------

-- What the installer may do with the extension's sequences and tables, and grant
-- to others. These are default privileges while the objects are created, instead
-- of GRANT, because pg_dump leaves out what an extension's script grants: where
-- another role restores, the installer would have no rights, and its own grants
-- would fail. A superuser who installs is the owner, and needs no grants.
ALTER DEFAULT PRIVILEGES IN SCHEMA idgen
    GRANT SELECT, UPDATE ON SEQUENCES TO @extowner@ WITH GRANT OPTION;
ALTER DEFAULT PRIVILEGES IN SCHEMA idgen REVOKE ALL ON SEQUENCES FROM CURRENT_USER;

-- The high-water mark of each ticker: every value that was handed out is below
-- last_value, which is written ahead of them.
CREATE SEQUENCE idgen.snowflake_ticker;
CREATE SEQUENCE idgen.trace_id_ticker;
CREATE SEQUENCE idgen.js_id_ticker;
CREATE SEQUENCE idgen.decimal_id_ticker;
CREATE SEQUENCE idgen.uuid_v7_ordered_ticker;

ALTER DEFAULT PRIVILEGES IN SCHEMA idgen REVOKE ALL ON SEQUENCES FROM @extowner@;

-- a restored database goes on above what the dumped one handed out
SELECT pg_catalog.pg_extension_config_dump('idgen.snowflake_ticker', '');
SELECT pg_catalog.pg_extension_config_dump('idgen.trace_id_ticker', '');
SELECT pg_catalog.pg_extension_config_dump('idgen.js_id_ticker', '');
SELECT pg_catalog.pg_extension_config_dump('idgen.decimal_id_ticker', '');
SELECT pg_catalog.pg_extension_config_dump('idgen.uuid_v7_ordered_ticker', '');

COMMENT ON SEQUENCE idgen.snowflake_ticker IS
'The high-water mark of idgen.snowflake(): every value that it handed out is below it. Written by the function; raise it with idgen.raise_ticker().';
COMMENT ON SEQUENCE idgen.trace_id_ticker IS
'The high-water mark of idgen.trace_id(): every value that it handed out is below it. Written by the function; raise it with idgen.raise_ticker().';
COMMENT ON SEQUENCE idgen.js_id_ticker IS
'The high-water mark of idgen.js_id(): every value that it handed out is below it. Written by the function; raise it with idgen.raise_ticker().';
COMMENT ON SEQUENCE idgen.decimal_id_ticker IS
'The high-water mark of idgen.decimal_id(): every value that it handed out is below it. Written by the function; raise it with idgen.raise_ticker().';
COMMENT ON SEQUENCE idgen.uuid_v7_ordered_ticker IS
'The high-water mark of idgen.uuid_v7_ordered(): every value that it handed out is below it. Written by the function; raise it with idgen.raise_ticker().';

CREATE FUNCTION idgen.snowflake(epoch timestamptz DEFAULT '2020-01-01 00:00:00+00') RETURNS bigint
    LANGUAGE C VOLATILE PARALLEL UNSAFE
    AS 'MODULE_PATHNAME', 'idgen_snowflake';

COMMENT ON FUNCTION idgen.snowflake(timestamptz) IS
'Twitter''s Snowflake, 1 to 2^63 - 1: 41 bits of milliseconds since the epoch, which is rounded down to the millisecond (69.7 years), 10 bits of idgen.node_id (0 to 1023), 12 bits of counter; it reveals its creation time and the server. Greater than every one that a session of this database got before with the same epoch, also after a crash, a clock set back or a failover; errors: 55000 without idgen.node_id, 25006 in a read-only transaction and on a standby, 22008 where the time does not fit.';

CREATE FUNCTION idgen.snowflake_timestamp(id bigint, epoch timestamptz DEFAULT '2020-01-01 00:00:00+00') RETURNS timestamptz
    LANGUAGE C IMMUTABLE PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'idgen_snowflake_timestamp';

COMMENT ON FUNCTION idgen.snowflake_timestamp(bigint, timestamptz) IS
'The creation time of a snowflake() with this epoch, which is rounded down to the millisecond, as the time is. NULL for a number below 1.';

CREATE FUNCTION idgen.snowflake_node(id bigint) RETURNS int
    LANGUAGE C IMMUTABLE PARALLEL SAFE STRICT
    AS 'MODULE_PATHNAME', 'idgen_snowflake_node';

COMMENT ON FUNCTION idgen.snowflake_node(bigint) IS
'The node that made a snowflake(), 0 to 1023. NULL for a number below 1.';

CREATE FUNCTION idgen.snowflake_counter(id bigint) RETURNS int
    LANGUAGE C IMMUTABLE PARALLEL SAFE STRICT
    AS 'MODULE_PATHNAME', 'idgen_snowflake_counter';

COMMENT ON FUNCTION idgen.snowflake_counter(bigint) IS
'The counter of a snowflake() within its millisecond, 0 to 4095. NULL for a number below 1.';

CREATE FUNCTION idgen.snowflake_floor(instant timestamptz, epoch timestamptz DEFAULT '2020-01-01 00:00:00+00') RETURNS bigint
    LANGUAGE C IMMUTABLE PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'idgen_snowflake_floor';

COMMENT ON FUNCTION idgen.snowflake_floor(timestamptz, timestamptz) IS
'The smallest value that snowflake() with this epoch can have in the timestamp''s millisecond, over all nodes: the lower bound of a range of time, and 0 in the epoch''s first millisecond, although the smallest identifier is 1. Both arguments are rounded down to the millisecond; a timestamp before the epoch or more than 2^41 - 1 ms (69.7 years) after it is an error (22008).';

CREATE FUNCTION idgen.snowflake_ceil(instant timestamptz, epoch timestamptz DEFAULT '2020-01-01 00:00:00+00') RETURNS bigint
    LANGUAGE C IMMUTABLE PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'idgen_snowflake_ceil';

COMMENT ON FUNCTION idgen.snowflake_ceil(timestamptz, timestamptz) IS
'The greatest snowflake() with this epoch in the timestamp''s millisecond, over all nodes: the upper, inclusive bound of a range of time. Otherwise as snowflake_floor().';

CREATE FUNCTION idgen.snowflake_within(
    id bigint,
    start timestamptz,
    stop timestamptz,
    epoch timestamptz DEFAULT '2020-01-01 00:00:00+00'
) RETURNS boolean
    LANGUAGE SQL IMMUTABLE PARALLEL SAFE
    RETURN id OPERATOR(pg_catalog.>=) idgen.snowflake_floor(start, epoch)
       AND id OPERATOR(pg_catalog.<) idgen.snowflake_floor(stop, epoch);

COMMENT ON FUNCTION idgen.snowflake_within(bigint, timestamptz, timestamptz, timestamptz) IS
'Whether a snowflake() with this epoch is from start on and before stop: id >= snowflake_floor(start, epoch) AND id < snowflake_floor(stop, epoch), which uses an index and prunes partitions. Never true where start or stop is NULL.';

CREATE FUNCTION idgen.trace_id() RETURNS bigint
    LANGUAGE C VOLATILE PARALLEL UNSAFE STRICT
    AS 'MODULE_PATHNAME', 'idgen_trace_id';

COMMENT ON FUNCTION idgen.trace_id() IS
'A TraceId, 1 to 2^63 - 1: the low 25 bits of Unix seconds, 16 bits of idgen.node_id (0 to 65535), 22 bits of counter from 1. Begins again every 388 days: for logs and traces that are kept for less. Within that time greater than every one that any session of this database got from it before, also after a crash, a clock set back or a failover. Where more than 4194303 are asked for in a second, or the clock was set back, it runs ahead of the clock, by idgen.max_ahead at most; then waits. idgen.node_id must be set (55000). Refused in a read-only transaction and on a standby (25006).';

CREATE FUNCTION idgen.trace_id_timestamp(id bigint, clock timestamptz DEFAULT NULL) RETURNS timestamptz
    LANGUAGE C STABLE PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'idgen_trace_id_timestamp';

COMMENT ON FUNCTION idgen.trace_id_timestamp(bigint, timestamptz) IS
'When a trace_id() was made, to the second: the latest second with these 25 bits that is at most a day after the clock. NULL for a number that is no trace_id().';

CREATE FUNCTION idgen.trace_id_node(id bigint) RETURNS int
    LANGUAGE C IMMUTABLE PARALLEL SAFE STRICT
    AS 'MODULE_PATHNAME', 'idgen_trace_id_node';

COMMENT ON FUNCTION idgen.trace_id_node(bigint) IS
'The node that made a trace_id(), 0 to 65535. NULL for a number that is no trace_id().';

CREATE FUNCTION idgen.trace_id_counter(id bigint) RETURNS int
    LANGUAGE C IMMUTABLE PARALLEL SAFE STRICT
    AS 'MODULE_PATHNAME', 'idgen_trace_id_counter';

COMMENT ON FUNCTION idgen.trace_id_counter(bigint) IS
'The counter of a trace_id() within its second, 1 to 4194303. NULL for a number that is no trace_id().';

CREATE FUNCTION idgen.js_id(epoch timestamptz DEFAULT '2020-01-01 00:00:00+00') RETURNS bigint
    LANGUAGE C VOLATILE PARALLEL UNSAFE
    AS 'MODULE_PATHNAME', 'idgen_js_id';

COMMENT ON FUNCTION idgen.js_id(timestamptz) IS
'An identifier that a JavaScript number represents exactly, 1 to 2^53 - 1: 32 bits of seconds since the epoch, which is rounded down to the second (136 years), 5 bits of idgen.node_id (0 to 31), 16 bits of counter; it reveals its creation time and the server. Greater than every one that a session of this database got before with the same epoch, also after a crash, a clock set back or a failover; errors: 55000 without idgen.node_id, 25006 in a read-only transaction and on a standby, 22008 where the time does not fit.';

CREATE FUNCTION idgen.js_id_timestamp(id bigint, epoch timestamptz DEFAULT '2020-01-01 00:00:00+00') RETURNS timestamptz
    LANGUAGE C IMMUTABLE PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'idgen_js_id_timestamp';

COMMENT ON FUNCTION idgen.js_id_timestamp(bigint, timestamptz) IS
'The creation time of a js_id() with this epoch, which is rounded down to the second, as the time is. NULL for a number that is not a js_id().';

CREATE FUNCTION idgen.js_id_node(id bigint) RETURNS int
    LANGUAGE C IMMUTABLE PARALLEL SAFE STRICT
    AS 'MODULE_PATHNAME', 'idgen_js_id_node';

COMMENT ON FUNCTION idgen.js_id_node(bigint) IS
'The node that made a js_id(), 0 to 31. NULL for a number that is no js_id().';

CREATE FUNCTION idgen.js_id_counter(id bigint) RETURNS int
    LANGUAGE C IMMUTABLE PARALLEL SAFE STRICT
    AS 'MODULE_PATHNAME', 'idgen_js_id_counter';

COMMENT ON FUNCTION idgen.js_id_counter(bigint) IS
'The counter of a js_id() within its second, 0 to 65535. NULL for a number that is no js_id().';

CREATE FUNCTION idgen.js_id_floor(instant timestamptz, epoch timestamptz DEFAULT '2020-01-01 00:00:00+00') RETURNS bigint
    LANGUAGE C IMMUTABLE PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'idgen_js_id_floor';

COMMENT ON FUNCTION idgen.js_id_floor(timestamptz, timestamptz) IS
'The smallest value that js_id() with this epoch can have in the timestamp''s second, over all nodes: the lower bound of a range of time, and 0 in the epoch''s first second, although the smallest identifier is 1. Both arguments are rounded down to the second; a timestamp before the epoch or more than 2^32 - 1 s (136 years) after it is an error (22008).';

CREATE FUNCTION idgen.js_id_ceil(instant timestamptz, epoch timestamptz DEFAULT '2020-01-01 00:00:00+00') RETURNS bigint
    LANGUAGE C IMMUTABLE PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'idgen_js_id_ceil';

COMMENT ON FUNCTION idgen.js_id_ceil(timestamptz, timestamptz) IS
'The greatest js_id() with this epoch in the timestamp''s second, over all nodes: the upper, inclusive bound of a range of time. Otherwise as js_id_floor().';

CREATE FUNCTION idgen.js_id_within(
    id bigint,
    start timestamptz,
    stop timestamptz,
    epoch timestamptz DEFAULT '2020-01-01 00:00:00+00'
) RETURNS boolean
    LANGUAGE SQL IMMUTABLE PARALLEL SAFE
    RETURN id OPERATOR(pg_catalog.>=) idgen.js_id_floor(start, epoch)
       AND id OPERATOR(pg_catalog.<) idgen.js_id_floor(stop, epoch);

COMMENT ON FUNCTION idgen.js_id_within(bigint, timestamptz, timestamptz, timestamptz) IS
'Whether a js_id() with this epoch is from start on and before stop: id >= js_id_floor(start, epoch) AND id < js_id_floor(stop, epoch), which uses an index and prunes partitions. Never true where start or stop is NULL.';

CREATE FUNCTION idgen.decimal_id() RETURNS bigint
    LANGUAGE C VOLATILE PARALLEL UNSAFE STRICT
    AS 'MODULE_PATHNAME', 'idgen_decimal_id';

COMMENT ON FUNCTION idgen.decimal_id() IS
'An identifier whose parts can be read in its decimal digits, 1 to 2^63 - 1: counter (1 to 922337202) * 10^10 + generator (0 to 99999) * 10^5 + idgen.launch_id (1 to 99999; 0 for tests). The counter goes up with each one, over all sessions and restarts of the database, also after a crash or a failover; after its last value it begins again under the next generator. A restart skips up to 4000000 values. idgen.launch_id must be set (55000). Refused in a read-only transaction and on a standby (25006).';

CREATE FUNCTION idgen.decimal_id_parts(id bigint, OUT counter int, OUT generator int, OUT launch int)
    LANGUAGE C IMMUTABLE PARALLEL SAFE STRICT
    AS 'MODULE_PATHNAME', 'idgen_decimal_id_parts';

COMMENT ON FUNCTION idgen.decimal_id_parts(bigint) IS
'Counter, generator and launch of a decimal_id(). NULL for a number that is none.';

CREATE FUNCTION idgen.ticker_state(layout text, OUT last_value bigint, OUT last_time timestamptz, OUT ahead interval, OUT reserved_value bigint, OUT reserved_until timestamptz)
    LANGUAGE C VOLATILE PARALLEL UNSAFE STRICT
    AS 'MODULE_PATHNAME', 'idgen_ticker_state';

COMMENT ON FUNCTION idgen.ticker_state(text) IS
'A row of the view idgen.tickers, whose columns tell what it says. A layout that is none is an error (22023).';

CREATE FUNCTION idgen.raise_ticker(layout text, value bigint) RETURNS void
    LANGUAGE C VOLATILE PARALLEL UNSAFE STRICT
    AS 'MODULE_PATHNAME', 'idgen_raise_ticker';

COMMENT ON FUNCTION idgen.raise_ticker(text, bigint) IS
'Raises a ticker and its sequence, so that its function hands out only values above this one, as in the view idgen.tickers; never lowers it. Needs UPDATE on the sequence (42501); a value out of range, or further ahead of the clock than idgen.max_ahead, is an error (22003).';

CREATE VIEW idgen.tickers AS
    SELECT layout, last_value, last_time, ahead, reserved_value, reserved_until
    FROM pg_catalog.unnest(ARRAY['snowflake', 'trace_id', 'js_id', 'decimal_id', 'uuid_v7_ordered']) layout,
         idgen.ticker_state(layout);

GRANT SELECT ON idgen.tickers TO PUBLIC;

COMMENT ON VIEW idgen.tickers IS
'How far the functions have come that never repeat an identifier in this database, and what they reserved. A value is an identifier''s time and counter as one number, without the node.';
COMMENT ON COLUMN idgen.tickers.layout IS
'The function: snowflake, trace_id, js_id, decimal_id or uuid_v7_ordered.';
COMMENT ON COLUMN idgen.tickers.last_value IS
'The value handed out last. NULL where none was since the server started, and on a standby.';
COMMENT ON COLUMN idgen.tickers.last_time IS
'The time in that value. NULL for decimal_id, which has none.';
COMMENT ON COLUMN idgen.tickers.ahead IS
'How far that time is ahead of the clock. At idgen.max_ahead the function begins to wait.';
COMMENT ON COLUMN idgen.tickers.reserved_value IS
'Values below this one may have been handed out; after a restart or a failover it goes on from here. NULL where the function was never called.';
COMMENT ON COLUMN idgen.tickers.reserved_until IS
'The time in that value. NULL for decimal_id.';

-- ---------------------------------------------------------------------------
-- Identifiers of 96 bits: ObjectId
-- ---------------------------------------------------------------------------

CREATE FUNCTION idgen.object_id() RETURNS text
    LANGUAGE C VOLATILE PARALLEL SAFE STRICT
    AS 'MODULE_PATHNAME', 'idgen_object_id';

COMMENT ON FUNCTION idgen.object_id() IS
'A new ObjectId as 24 hexadecimal digits: 32 bits of Unix seconds (until 2106-02-07 06:28:15+00), 40 random bits of this session, a counter of 24 bits that begins at random. Strictly increasing within a session, in a column with COLLATE "C".';

CREATE FUNCTION idgen.is_object_id(id text) RETURNS boolean
    LANGUAGE C IMMUTABLE PARALLEL SAFE STRICT
    AS 'MODULE_PATHNAME', 'idgen_is_object_id';

COMMENT ON FUNCTION idgen.is_object_id(text) IS
'Whether the text is 24 hexadecimal digits, of either case. Never raises an error.';

CREATE FUNCTION idgen.object_id_timestamp(id text) RETURNS timestamptz
    LANGUAGE C IMMUTABLE PARALLEL SAFE STRICT
    AS 'MODULE_PATHNAME', 'idgen_object_id_timestamp';

COMMENT ON FUNCTION idgen.object_id_timestamp(text) IS
'The time in an ObjectId, to the second. Text that is not 24 hexadecimal digits, of either case, is an error (22P02).';

CREATE FUNCTION idgen.object_id_floor(instant timestamptz) RETURNS text
    LANGUAGE C IMMUTABLE PARALLEL SAFE STRICT
    AS 'MODULE_PATHNAME', 'idgen_object_id_floor';

COMMENT ON FUNCTION idgen.object_id_floor(timestamptz) IS
'The smallest ObjectId with this timestamp''s second: the lower bound of a range of time. A timestamp before 1970 or after 2106-02-07 06:28:15.999999+00 is an error (22008).';

CREATE FUNCTION idgen.object_id_ceil(instant timestamptz) RETURNS text
    LANGUAGE C IMMUTABLE PARALLEL SAFE STRICT
    AS 'MODULE_PATHNAME', 'idgen_object_id_ceil';

COMMENT ON FUNCTION idgen.object_id_ceil(timestamptz) IS
'The greatest ObjectId with this timestamp''s second: the upper, inclusive bound of a range of time. A timestamp before 1970 or after 2106-02-07 06:28:15.999999+00 is an error (22008).';

-- ---------------------------------------------------------------------------
-- Text forms
-- ---------------------------------------------------------------------------

CREATE FUNCTION idgen.uuid_to_base(id uuid, base int) RETURNS text
    LANGUAGE C IMMUTABLE PARALLEL SAFE STRICT
    AS 'MODULE_PATHNAME', 'idgen_uuid_to_base';

COMMENT ON FUNCTION idgen.uuid_to_base(uuid, int) IS
'The uuid as digits of a base: 16, 32 (Crockford), 36, 58 (Bitcoin) or 62. Always all the digits of 128 bits (32, 26, 25, 22 or 22), in lower case for 16 and 36, in upper case for 32, so that text order is uuid order in COLLATE "C"; another base is an error (22023).';

CREATE FUNCTION idgen.bigint_to_base(value bigint, base int) RETURNS text
    LANGUAGE C IMMUTABLE PARALLEL SAFE STRICT
    AS 'MODULE_PATHNAME', 'idgen_bigint_to_base';

COMMENT ON FUNCTION idgen.bigint_to_base(bigint, int) IS
'The number as digits of a base: 16, 32 (Crockford), 36, 58 (Bitcoin) or 62, of the same case as by uuid_to_base(), without leading zeros. A negative number or another base is an error (22023).';

CREATE FUNCTION idgen.uuid_from_base(digits text, base int) RETURNS uuid
    LANGUAGE C IMMUTABLE PARALLEL SAFE STRICT
    AS 'MODULE_PATHNAME', 'idgen_uuid_from_base';

COMMENT ON FUNCTION idgen.uuid_from_base(text, int) IS
'The uuid of these digits, where leading zeros can be left out; bases 16, 32 and 36 read letters of either case, 32 also i, l and o as 1, 1 and 0, and in 58 and 62 the two cases are different digits. An invalid character, no digit, more digits than uuid_to_base() writes, or more than 128 bits is an error (22P02).';

CREATE FUNCTION idgen.bigint_from_base(digits text, base int) RETURNS bigint
    LANGUAGE C IMMUTABLE PARALLEL SAFE STRICT
    AS 'MODULE_PATHNAME', 'idgen_bigint_from_base';

COMMENT ON FUNCTION idgen.bigint_from_base(text, int) IS
'The number of these digits, read as by uuid_from_base(): leading zeros are allowed, up to as many digits as a uuid has. A number out of range for bigint is an error (22P02).';

CREATE FUNCTION idgen.prefixed_id(prefix text, id uuid DEFAULT idgen.uuid_v7()) RETURNS text
    LANGUAGE C IMMUTABLE PARALLEL SAFE STRICT
    AS 'MODULE_PATHNAME', 'idgen_prefixed_id';

COMMENT ON FUNCTION idgen.prefixed_id(text, uuid) IS
'A typed identifier: the prefix, an underscore and the uuid''s 25 digits of base 36 in lower case; its order is that of the uuid in COLLATE "C". The prefix consists of 1 to 63 characters of a-z, 0-9 and underscore, begins with a letter and does not end with an underscore (22023).';

CREATE FUNCTION idgen.prefixed_id_to_uuid(id text, expected_prefix text DEFAULT NULL) RETURNS uuid
    LANGUAGE C IMMUTABLE PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'idgen_prefixed_id_to_uuid';

COMMENT ON FUNCTION idgen.prefixed_id_to_uuid(text, text) IS
'The uuid in a prefixed id, whose digits can lack leading zeros and be of either case. Text that is not a prefixed id is an error (22P02), one with a prefix other than the expected one is another (23514), and an expected prefix that is impossible a third (22023).';

CREATE FUNCTION idgen.is_prefixed_id(id text, prefix text) RETURNS boolean
    LANGUAGE C IMMUTABLE PARALLEL SAFE STRICT
    AS 'MODULE_PATHNAME', 'idgen_is_prefixed_id';

COMMENT ON FUNCTION idgen.is_prefixed_id(text, text) IS
'Whether a text is a prefixed id of this prefix in canonical form, exactly as prefixed_id() writes it: lower case, all 25 digits. An impossible prefix is an error (22023).';

CREATE FUNCTION idgen.prefixed_id_prefix(id text) RETURNS text
    LANGUAGE C IMMUTABLE PARALLEL SAFE STRICT
    AS 'MODULE_PATHNAME', 'idgen_prefixed_id_prefix';

COMMENT ON FUNCTION idgen.prefixed_id_prefix(text) IS
'The prefix of a prefixed id: the text before the last underscore. Text that is not a prefixed id is an error (22P02).';

-- as with the sequences
ALTER DEFAULT PRIVILEGES IN SCHEMA idgen
    GRANT SELECT, INSERT, UPDATE, DELETE, TRUNCATE ON TABLES TO @extowner@ WITH GRANT OPTION;
ALTER DEFAULT PRIVILEGES IN SCHEMA idgen REVOKE ALL ON TABLES FROM CURRENT_USER;

CREATE TABLE idgen.id_prefixes (
    prefix text PRIMARY KEY,
    domain regtype NOT NULL
);

-- Of a dropped domain, pg_dump would write the OID, which may be another type's
-- where it is restored; so the dump needs a filter. The superuser who dumps runs
-- it, and the planner looks at the table's indexes for it: nothing in it is from
-- outside pg_catalog, and no other role can alter the table.
SELECT pg_catalog.pg_extension_config_dump('idgen.id_prefixes',
    'WHERE EXISTS (SELECT FROM pg_catalog.pg_type t WHERE t.oid OPERATOR(pg_catalog.=) id_prefixes.domain)');

COMMENT ON TABLE idgen.id_prefixes IS
'Which domain each prefix belongs to. Written by idgen.create_id_domain(). A row whose domain was dropped does not count, and goes when its prefix is registered again. PUBLIC has no rights on it.';
COMMENT ON COLUMN idgen.id_prefixes.prefix IS
'What stands before the last underscore of the domain''s identifiers.';
COMMENT ON COLUMN idgen.id_prefixes.domain IS
'The domain; it may be renamed.';

CREATE FUNCTION idgen.create_id_domain(domain_name text, prefix text) RETURNS regtype
    LANGUAGE C VOLATILE PARALLEL UNSAFE STRICT
    AS 'MODULE_PATHNAME', 'idgen_create_id_domain';

COMMENT ON FUNCTION idgen.create_id_domain(text, text) IS
'Creates a domain over text COLLATE "C" whose constraint prefixed_id_check is is_prefixed_id(VALUE, prefix), and registers the prefix in idgen.id_prefixes until the domain is dropped; a prefix in use is an error (23505) that names its domain. The name is read as in CREATE DOMAIN; needs CREATE on the schema and SELECT, INSERT and DELETE on idgen.id_prefixes.';

CREATE FUNCTION idgen.parse_prefixed_id(
    id text,
    OUT domain regtype,
    OUT prefix text,
    OUT uuid uuid
)
    LANGUAGE SQL STABLE PARALLEL SAFE STRICT
    BEGIN ATOMIC
        SELECT (SELECT p.domain FROM idgen.id_prefixes p
                WHERE p.prefix OPERATOR(pg_catalog.=) idgen.prefixed_id_prefix(parse_prefixed_id.id)
                  AND EXISTS (SELECT FROM pg_catalog.pg_type t WHERE t.oid OPERATOR(pg_catalog.=) p.domain)),
               idgen.prefixed_id_prefix(parse_prefixed_id.id),
               idgen.prefixed_id_to_uuid(parse_prefixed_id.id);
    END;

COMMENT ON FUNCTION idgen.parse_prefixed_id(text) IS
'What a prefixed id says: the domain that its prefix is registered for (NULL where it is not), the prefix, and the uuid. A text that is no prefixed id is an error (22P02). Needs SELECT on idgen.id_prefixes.';

CREATE FUNCTION idgen.typeid_from_uuid(prefix text, id uuid) RETURNS text
    LANGUAGE C IMMUTABLE PARALLEL SAFE STRICT
    AS 'MODULE_PATHNAME', 'idgen_typeid_from_uuid';

COMMENT ON FUNCTION idgen.typeid_from_uuid(text, uuid) IS
'A TypeID (version 0.3 of its specification): the prefix, an underscore and the uuid''s 26 digits of base 32 in lower case; its order is that of the uuid in COLLATE "C". The prefix consists of at most 63 characters of a-z and underscore, begins and ends with a letter (22023), or is empty; then there is no underscore.';

CREATE FUNCTION idgen.typeid(prefix text DEFAULT '') RETURNS text
    LANGUAGE SQL VOLATILE PARALLEL SAFE
    RETURN idgen.typeid_from_uuid(prefix, idgen.uuid_v7());

COMMENT ON FUNCTION idgen.typeid(text) IS
'A new TypeID: typeid_from_uuid(prefix, uuid_v7()); it contains its creation time. Keep it in a column of type text COLLATE "C", whose order is that of time.';

CREATE FUNCTION idgen.typeid_to_uuid(id text) RETURNS uuid
    LANGUAGE C IMMUTABLE PARALLEL SAFE STRICT
    AS 'MODULE_PATHNAME', 'idgen_typeid_to_uuid';

COMMENT ON FUNCTION idgen.typeid_to_uuid(text) IS
'The uuid in a TypeID, read as strictly as its specification demands: lower case, all 26 digits, the first at most 7. Anything else is an error (22P02).';

CREATE FUNCTION idgen.typeid_prefix(id text) RETURNS text
    LANGUAGE C IMMUTABLE PARALLEL SAFE STRICT
    AS 'MODULE_PATHNAME', 'idgen_typeid_prefix';

COMMENT ON FUNCTION idgen.typeid_prefix(text) IS
'The prefix of a TypeID, empty where it has none. Text that is not a TypeID is an error (22P02).';

CREATE FUNCTION idgen.ulid() RETURNS text
    LANGUAGE C VOLATILE PARALLEL SAFE STRICT
    AS 'MODULE_PATHNAME', 'idgen_ulid';

COMMENT ON FUNCTION idgen.ulid() IS
'A ULID: 48 bits of Unix milliseconds and 80 random bits as 26 digits of Crockford''s base 32; it contains its creation time. Strictly increasing within a session, as text COLLATE "C": in the same millisecond, or where the clock steps back, it is the last one plus one (the specification''s monotonic mode), which is easy to guess.';

CREATE FUNCTION idgen.ulid_to_uuid(id text) RETURNS uuid
    LANGUAGE C IMMUTABLE PARALLEL SAFE STRICT
    AS 'MODULE_PATHNAME', 'idgen_ulid_to_uuid';

COMMENT ON FUNCTION idgen.ulid_to_uuid(text) IS
'The 16 bytes of a ULID as uuid, which has the same order. Read as by uuid_from_base(id, 32), but with all 26 digits (22P02).';

CREATE FUNCTION idgen.ulid_from_uuid(id uuid) RETURNS text
    LANGUAGE C IMMUTABLE PARALLEL SAFE STRICT
    AS 'MODULE_PATHNAME', 'idgen_ulid_from_uuid';

COMMENT ON FUNCTION idgen.ulid_from_uuid(uuid) IS
'The 16 bytes of a uuid as ULID, in upper case; its order is that of the uuid in COLLATE "C".';

CREATE FUNCTION idgen.ulid_timestamp(id text) RETURNS timestamptz
    LANGUAGE C IMMUTABLE PARALLEL SAFE STRICT
    AS 'MODULE_PATHNAME', 'idgen_ulid_timestamp';

COMMENT ON FUNCTION idgen.ulid_timestamp(text) IS
'The time in a ULID, to the millisecond. A text that is no ULID is an error (22P02).';

CREATE FUNCTION idgen.ulid_floor(instant timestamptz) RETURNS text
    LANGUAGE C IMMUTABLE PARALLEL SAFE STRICT
    AS 'MODULE_PATHNAME', 'idgen_ulid_floor';

COMMENT ON FUNCTION idgen.ulid_floor(timestamptz) IS
'The smallest ULID with this timestamp''s millisecond. A timestamp before 1970 or after 10889-08-02 05:31:50.655999+00 is an error (22008).';

CREATE FUNCTION idgen.ulid_ceil(instant timestamptz) RETURNS text
    LANGUAGE C IMMUTABLE PARALLEL SAFE STRICT
    AS 'MODULE_PATHNAME', 'idgen_ulid_ceil';

COMMENT ON FUNCTION idgen.ulid_ceil(timestamptz) IS
'The greatest ULID with this timestamp''s millisecond. A timestamp before 1970 or after 10889-08-02 05:31:50.655999+00 is an error (22008).';

-- The body is a string because only then the comparisons take the collation of
-- the column, and so its index: in RETURN they have the default one.
CREATE FUNCTION idgen.ulid_within(id text, start timestamptz, stop timestamptz) RETURNS boolean
    LANGUAGE SQL IMMUTABLE PARALLEL SAFE
    AS 'SELECT id OPERATOR(pg_catalog.>=) idgen.ulid_floor(start) AND id OPERATOR(pg_catalog.<) idgen.ulid_floor(stop)';

COMMENT ON FUNCTION idgen.ulid_within(text, timestamptz, timestamptz) IS
'Whether a ULID is from start on and before stop: id >= ulid_floor(start) AND id < ulid_floor(stop) in the collation of id, which should be "C"; it uses an index and prunes partitions. Never true where start or stop is NULL.';

-- ---------------------------------------------------------------------------
-- Masks and permutations
-- ---------------------------------------------------------------------------

CREATE FUNCTION idgen.mask_uuid_v7(id uuid, key_name text DEFAULT 'default') RETURNS uuid
    LANGUAGE C STABLE PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'idgen_mask_uuid_v7';

COMMENT ON FUNCTION idgen.mask_uuid_v7(uuid, text) IS
'A UUID version 7 as one that looks like version 4: its time is encrypted with a key from idgen.mask_key_file (UUIDv47). Another version is an error (22023), and so is an unknown key (55000).';

CREATE FUNCTION idgen.unmask_uuid_v7(masked uuid, key_name text DEFAULT 'default') RETURNS uuid
    LANGUAGE C STABLE PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'idgen_unmask_uuid_v7';

COMMENT ON FUNCTION idgen.unmask_uuid_v7(uuid, text) IS
'The inverse of mask_uuid_v7() with the same key. Every UUID version 4 gives a version 7; another version is an error (22023).';

CREATE FUNCTION idgen.permute(id bigint, max_value bigint DEFAULT 9223372036854775807,
                              key_name text DEFAULT 'default') RETURNS bigint
    LANGUAGE C STABLE PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'idgen_permute';

COMMENT ON FUNCTION idgen.permute(bigint, bigint, text) IS
'A permutation of the numbers from 1 to max_value, with a key from idgen.mask_key_file. A number outside of them is an error (22003), and so is an unknown key (55000).';

CREATE FUNCTION idgen.unpermute(permuted bigint, max_value bigint DEFAULT 9223372036854775807,
                                key_name text DEFAULT 'default') RETURNS bigint
    LANGUAGE C STABLE PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'idgen_unpermute';

COMMENT ON FUNCTION idgen.unpermute(bigint, bigint, text) IS
'The inverse of permute() with the same max_value and key.';

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
) WITH (autovacuum_vacuum_scale_factor = 0.02);     -- rows are purged all the time

ALTER DEFAULT PRIVILEGES IN SCHEMA idgen REVOKE ALL ON TABLES FROM @extowner@;

CREATE INDEX creation_identifiers_created_at ON idgen.creation_identifiers (created_at);
CREATE INDEX creation_identifiers_entity_id ON idgen.creation_identifiers (entity_id)
    WHERE entity_id IS NOT NULL;
CREATE INDEX creation_identifiers_entity_number ON idgen.creation_identifiers (entity_number)
    WHERE entity_number IS NOT NULL;

SELECT pg_catalog.pg_extension_config_dump('idgen.creation_identifiers', '');

COMMENT ON TABLE idgen.creation_identifiers IS
'Which entity each creation command made, so that a retried command can be answered instead of repeated. Written by idgen.create_once(). An unlogged table loses all commands in a crash, and each retry then creates anew. PUBLIC has no rights on it.';
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
'Makes a creation command safe to retry: the first call with a command id records the proposed id, and later ones, also those that waited for it, get the recorded id back. A known command id with another name, kind of id or request is an error (23505, creation_identifiers_same_command), as are a concurrent creation under REPEATABLE READ and SERIALIZABLE (40001), a new command in a read-only transaction or on a standby (25006) and a NULL command_id, proposed_id or command_name (22004).';

CREATE FUNCTION idgen.create_once_bigint(
    command_id uuid,
    proposed_id bigint,
    command_name text DEFAULT '',
    request jsonb DEFAULT NULL,
    OUT entity_number bigint,
    OUT created boolean
) RETURNS record
    LANGUAGE C VOLATILE PARALLEL UNSAFE
    AS 'MODULE_PATHNAME', 'idgen_create_once_bigint';

COMMENT ON FUNCTION idgen.create_once_bigint(uuid, bigint, text, jsonb) IS
'As create_once(), for entities that a bigint identifies.';

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
    LANGUAGE C VOLATILE PARALLEL UNSAFE STRICT
    AS 'MODULE_PATHNAME', 'idgen_forget_creation';

COMMENT ON FUNCTION idgen.forget_creation(uuid) IS
'Forgets a command, so that the next call with its id creates anew; whether it was known. Needs SELECT and DELETE on idgen.creation_identifiers.';

CREATE FUNCTION idgen.forget_creation_of(entity_id uuid) RETURNS bigint
    LANGUAGE C VOLATILE PARALLEL UNSAFE STRICT
    AS 'MODULE_PATHNAME', 'idgen_forget_creation_of_uuid';

COMMENT ON FUNCTION idgen.forget_creation_of(uuid) IS
'Forgets the commands that created an entity, for example when its first later command shows that the client knows its id; their number. Needs SELECT and DELETE on idgen.creation_identifiers.';

CREATE FUNCTION idgen.forget_creation_of_bigint(entity_number bigint) RETURNS bigint
    LANGUAGE C VOLATILE PARALLEL UNSAFE STRICT
    AS 'MODULE_PATHNAME', 'idgen_forget_creation_of_bigint';

COMMENT ON FUNCTION idgen.forget_creation_of_bigint(bigint) IS
'As forget_creation_of(), for entities that a bigint identifies.';

CREATE FUNCTION idgen.purge_creations(
    older_than interval DEFAULT '24 hours',
    batch_size bigint DEFAULT 10000
) RETURNS bigint
    LANGUAGE C VOLATILE PARALLEL UNSAFE
    AS 'MODULE_PATHNAME', 'idgen_purge_creations';

COMMENT ON FUNCTION idgen.purge_creations(interval, bigint) IS
'Forgets creations older than that, a day being 24 hours, the oldest first and at most batch_size in one call; their number. A negative older_than, one with months or a batch_size below 1 is an error (22023), as is NULL (22004).';

CREATE FUNCTION idgen.trim_creations(
    keep bigint,
    command_name text DEFAULT NULL
) RETURNS bigint
    LANGUAGE C VOLATILE PARALLEL UNSAFE
    AS 'MODULE_PATHNAME', 'idgen_trim_creations';

COMMENT ON FUNCTION idgen.trim_creations(bigint, text) IS
'Forgets all creations but the newest "keep", of one command name or, where that is NULL, of all; the number forgotten. A retry of a forgotten command creates anew. Needs SELECT and DELETE on idgen.creation_identifiers. A keep below zero is an error (22023), as is NULL (22004).';

CREATE FUNCTION idgen.remember_command(
    history uuid[],
    command_id uuid,
    keep int DEFAULT 20
) RETURNS uuid[]
    LANGUAGE C IMMUTABLE PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'idgen_remember_command';

COMMENT ON FUNCTION idgen.remember_command(uuid[], uuid, int) IS
'The command history of an entity, which is a column of its row, with one more command id: newest last, cut to "keep" commands, of which the given one always is one; a command id that is there already stays in its place. With keep 0 the history is empty; a keep below zero is an error (22023), as is a NULL keep or command_id (22004).';

CREATE FUNCTION idgen.has_command(history uuid[], command_id uuid) RETURNS boolean
    LANGUAGE C IMMUTABLE PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'idgen_has_command';

COMMENT ON FUNCTION idgen.has_command(uuid[], uuid) IS
'Whether a command id is in an entity''s command history, so that its command was done before. A NULL history is an empty one.';

-- ---------------------------------------------------------------------------
-- What a key costs
-- ---------------------------------------------------------------------------

CREATE FUNCTION idgen.expected_key_cost(
    kind text,
    index_rows float8,
    rows_per_checkpoint float8,
    rows_per_period float8 DEFAULT NULL,
    prefix_bytes int DEFAULT 2,
    run_length int DEFAULT 1,
    key_bytes int DEFAULT 16,
    rows_in_period float8 DEFAULT NULL,
    OUT page_images_per_row float8,
    OUT image_bytes_per_row float8,
    OUT record_bytes_per_row float8
)
    LANGUAGE C IMMUTABLE PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'idgen_expected_key_cost';

COMMENT ON FUNCTION idgen.expected_key_cost(text, float8, float8, float8, int, int, int, float8) IS
'What an insert of a key is expected to write to the WAL for its B-tree index: full-page images of leaf pages and their bytes (with wal_compression off), and the bytes of the records of inserts and splits; derived in docs/performance.md. kind is random, ordered or short_comb; a short_comb needs rows_per_period. index_rows is what the index holds at the checkpoint, rows_per_checkpoint what comes between two of them. rows_in_period is what the period of the checkpoint holds already, half of rows_per_period unless given. An argument out of range is an error (22023).';

CREATE FUNCTION idgen.advise_short_comb(
    rows_per_second float8,
    index_rows bigint,
    cache bigint DEFAULT NULL,
    checkpoint interval DEFAULT NULL,
    OUT period interval,
    OUT prefix_bytes int,
    OUT run_length int,
    OUT cycle interval,
    OUT page_images_per_row float8,
    OUT default_page_images_per_row float8,
    OUT active_bytes bigint
)
    LANGUAGE C STABLE PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'idgen_advise_short_comb';

COMMENT ON FUNCTION idgen.advise_short_comb(float8, bigint, bigint, interval) IS
'Arguments for short_comb() on a table that gets so many rows a second and whose index has, or will have, so many: those nearest to the defaults whose expected cost is at most a quarter above the best. cache is the memory in bytes that there is for this index and its table, shared_buffers unless given; checkpoint the time between two checkpoints, checkpoint_timeout unless given. Tells the cycle after which prefixes begin again, the full-page images a row that expected_key_cost() expects with these arguments and with the defaults, and the bytes of the leaves that the keys of one period may fall on. A cycle longer than the table lives tells when a row was made, to the period. An argument out of range is an error (22023).';

-- ---------------------------------------------------------------------------
-- The advisor
-- ---------------------------------------------------------------------------

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
'What the first column of a B-tree index holds and what that costs, in one row; for a table''s name, its primary key. Reads at most 400 pages of the index and the last 2000 blocks of the heap, from where it looks up the newest_rows (1 to 100000) last rows; locks no more than a SELECT, and writes nothing. key_kind is told from how the keys go on from row to row, NULL keys left out; of several kinds it tells the shares. period is a short COMB''s, found by the clock, which must be of the time of the newest rows; NULL where it cannot be told. index_rows and leaf_pages are estimates. leaf_density and fragmentation (leaf pages whose next one lies before them) are percentages, as in pgstatindex(). heap_correlation is of the order of keys with that of the heap''s blocks, -1 to 1. newest_leaf_share is the share of leaf pages that the newest rows are on, 0 to 1; the newest rows are the last ones by their place in the heap, which is not their age where deleted rows made room, and NULL where a column has an operator class that is not built in. rows_per_second counts inserts since the statistics of the database, or of the server, began, and rows_per_checkpoint the same by checkpoints; from these come the full-page images that an inserted row is expected to cost in this index. What is not known is NULL. Calls no function of the index''s owner. Needs USAGE on the schema, and SELECT on the table or on the column, where no row security policy applies, or membership in pg_stat_scan_tables (42501). Another access method, another type or operator class of the first column, or an expression is an error (0A000), as is anything but an index or a table with a primary key (42809) and an invalid index (55000).';
