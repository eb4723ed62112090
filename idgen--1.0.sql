/* idgen--1.0.sql: the SQL objects, in the order of docs/reference.md */

\echo Use "CREATE EXTENSION idgen" to load this file. \quit

-- Global default privileges of the role that runs this script would give other roles
-- additional privileges, such as TRIGGER on a table. The script revokes these defaults, and
-- restores them at its end. If it revoked privileges on its objects instead, the privileges of
-- the installer would be recorded in pg_init_privs, and pg_dump omits privileges that are
-- recorded there.
DO $$
DECLARE
    take_back text;
    grant_again text;
BEGIN
    SELECT string_agg(format('ALTER DEFAULT PRIVILEGES REVOKE %s FROM %s', right_on, role), ';'),
           string_agg(format('ALTER DEFAULT PRIVILEGES GRANT %s TO %s %s', right_on, role, grant_option), ';')
    INTO take_back, grant_again
    FROM (SELECT format('%s ON %s', a.privilege_type, k.objects),
                 CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(a.grantee)) END,
                 CASE WHEN a.is_grantable THEN 'WITH GRANT OPTION' END
          FROM (VALUES ('n', 'SCHEMAS'), ('r', 'TABLES'), ('S', 'SEQUENCES'), ('f', 'FUNCTIONS')) k (type, objects)
               JOIN pg_default_acl d ON d.defaclobjtype = k.type,
               aclexplode(d.defaclacl) a
          WHERE pg_get_userbyid(d.defaclrole) = current_user AND d.defaclnamespace = 0
            AND a.grantee <> d.defaclrole AND NOT (k.objects = 'FUNCTIONS' AND a.grantee = 0)
         ) rights (right_on, role, grant_option);
    EXECUTE coalesce(take_back, '');
    PERFORM set_config('idgen_script.default_privileges', coalesce(grant_again, ''), true);
END $$;

-- The schema and everything in it belong to the role that runs this script. For a trusted
-- extension, this is the bootstrap superuser, not the installer. If the schema exists
-- already, the script fails, and no other session sees the new schema before the commit.
-- Therefore, it contains no objects of other roles.
CREATE SCHEMA idgen;
GRANT USAGE ON SCHEMA idgen TO PUBLIC;
SET LOCAL default_tablespace = '';

-- Default privileges give the installer privileges, with grant option, on the tables and
-- sequences when these are created. GRANT is no alternative, because pg_dump omits privileges
-- that an extension's script grants. After a restore by another role, the installer would
-- have no privileges, and its own grants would fail. A superuser who installs the
-- extension is the owner and needs no grants. The script does not use the server's macro
-- for the installer's name. If the name contains a $, ', " or backslash, the server
-- rejects a script that contains the macro, even in a comment.
DO $$
DECLARE
    installer name := (SELECT pg_get_userbyid(extowner) FROM pg_extension WHERE extname = 'idgen');
BEGIN
    IF installer <> current_user THEN
        EXECUTE format('ALTER DEFAULT PRIVILEGES IN SCHEMA idgen'
                       ' GRANT SELECT, INSERT, UPDATE, DELETE, TRUNCATE ON TABLES TO %I WITH GRANT OPTION', installer);
        EXECUTE format('ALTER DEFAULT PRIVILEGES IN SCHEMA idgen'
                       ' GRANT SELECT, UPDATE ON SEQUENCES TO %I WITH GRANT OPTION', installer);
    END IF;
END $$;

COMMENT ON SCHEMA idgen IS
'Functions that generate and check identifiers for primary keys, and that make creation commands safe to retry. In '
'all functions, the argument "clock" is a timestamp to use instead of the current time. An infinite clock raises an '
'error (22008).';

-- ---------------------------------------------------------------------------
-- Random, name-based and time-based UUIDs
-- ---------------------------------------------------------------------------

CREATE FUNCTION idgen.uuid_v4() RETURNS uuid
    LANGUAGE C VOLATILE PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'idgen_uuid_v4';

COMMENT ON FUNCTION idgen.uuid_v4() IS
'A random UUID of version 4 (RFC 9562 section 5.4), with 122 random bits.';

CREATE FUNCTION idgen.uuid_v5(namespace uuid, name text) RETURNS uuid
    LANGUAGE C IMMUTABLE PARALLEL SAFE STRICT
    AS 'MODULE_PATHNAME', 'idgen_uuid_v5';

COMMENT ON FUNCTION idgen.uuid_v5(uuid, text) IS
'A name-based UUID of version 5 (RFC 9562 section 5.5), which contains 122 bits of the SHA-1 hash of the namespace '
'and the name in UTF-8.';

CREATE FUNCTION idgen.named_uuid_v7(instant timestamptz, namespace uuid, name text) RETURNS uuid
    LANGUAGE C IMMUTABLE PARALLEL SAFE STRICT
    AS 'MODULE_PATHNAME', 'idgen_named_uuid_v7';

COMMENT ON FUNCTION idgen.named_uuid_v7(timestamptz, uuid, text) IS
'A version 7 UUID that contains the given time, to the millisecond, and 74 bits of the SHA-256 hash of the namespace '
'and the name in UTF-8. Equal arguments give equal UUIDs.';

CREATE FUNCTION idgen.uuid_v7(clock timestamptz DEFAULT NULL) RETURNS uuid
    LANGUAGE C VOLATILE PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'idgen_uuid_v7';

COMMENT ON FUNCTION idgen.uuid_v7(timestamptz) IS
'A UUID of version 7 (RFC 9562 section 5.7): 48 bits of Unix milliseconds, 12 bits of the fraction of the millisecond, '
'and 62 random bits. Without a clock, it is greater than all UUIDs that uuid_v7() has returned without a clock in this '
'session. A clock before 1970 or after 10889-08-02 05:31:50.655999+00 raises an error (22008).';

CREATE FUNCTION idgen.uuid_v7_ordered() RETURNS uuid
    LANGUAGE C VOLATILE PARALLEL UNSAFE
    AS 'MODULE_PATHNAME', 'idgen_uuid_v7_ordered';

COMMENT ON FUNCTION idgen.uuid_v7_ordered() IS
'A UUID of version 7 that is greater than all UUIDs that this function has returned in any session of the database, '
'even after a crash or if the clock was set back, with the exceptions in docs/tickers.md. Raises an error (25006) in a '
'read-only transaction and on a standby.';

CREATE FUNCTION idgen.uuid_v1(clock timestamptz DEFAULT NULL) RETURNS uuid
    LANGUAGE C VOLATILE PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'idgen_uuid_v1';

COMMENT ON FUNCTION idgen.uuid_v1(timestamptz) IS
'A UUID of version 1 (RFC 9562 section 5.1): 60 bits of 100 ns ticks since 1582-10-15, the low bits first, and 61 '
'random bits for clock sequence and node. It reveals its creation time, but does not sort by it. A clock before '
'1582-10-15 or after 5236-03-31 21:21:00.684697+00 raises an error (22008).';

CREATE FUNCTION idgen.uuid_v6(clock timestamptz DEFAULT NULL) RETURNS uuid
    LANGUAGE C VOLATILE PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'idgen_uuid_v6';

COMMENT ON FUNCTION idgen.uuid_v6(timestamptz) IS
'A time-ordered UUID of version 6 (RFC 9562 section 5.6): like version 1, but with the high bits of the ticks first. '
'It reveals its creation time. Without a clock, the results increase strictly within a session.';

CREATE FUNCTION idgen.lambert_comb(clock timestamptz DEFAULT NULL) RETURNS uuid
    LANGUAGE C VOLATILE PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'idgen_lambert_comb';

COMMENT ON FUNCTION idgen.lambert_comb(timestamptz) IS
'M. Lambert''s time-ordered UUID: the bits of version 6 with version number 13. It reveals its creation time. Without '
'a clock, the results increase strictly within a session.';

-- ---------------------------------------------------------------------------
-- COMB and short COMB
-- ---------------------------------------------------------------------------

CREATE FUNCTION idgen.comb(clock timestamptz DEFAULT NULL) RETURNS uuid
    LANGUAGE C VOLATILE PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'idgen_comb';

COMMENT ON FUNCTION idgen.comb(timestamptz) IS
'A COMB: a UUID of version 4 with 48 bits of Unix milliseconds in bytes 0 to 5, and 74 random bits. A clock before '
'1970 or after 10889-08-02 05:31:50.655999+00 raises an error (22008).';

CREATE FUNCTION idgen.short_comb(
    period interval DEFAULT '1 minute',
    prefix_bytes int DEFAULT 2,
    run_length int DEFAULT NULL,
    clock timestamptz DEFAULT NULL
) RETURNS uuid
    LANGUAGE C VOLATILE PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'idgen_short_comb';

COMMENT ON FUNCTION idgen.short_comb(interval, int, int, timestamptz) IS
'A short COMB: a UUID of version 4 whose first prefix_bytes (1 to 6) bytes are floor(Unix ms / period in ms) mod '
'256^prefix_bytes. The UUIDs of a run (run_length consecutive UUIDs of a session) also share the 32 random bits after '
'the prefix; by default, runs begin after 128 UUIDs of a session in a period, and end after 4096 UUIDs or with the '
'transaction. A period that is not a whole number of milliseconds up to 365250 days, or another argument out of range, '
'raises an error (22023).';

CREATE FUNCTION idgen.keyed_comb(
    area text,
    period interval DEFAULT '1 hour',
    clock timestamptz DEFAULT NULL
) RETURNS uuid
    LANGUAGE C VOLATILE PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'idgen_keyed_comb';

COMMENT ON FUNCTION idgen.keyed_comb(text, interval, timestamptz) IS
'A keyed COMB: a UUID of version 4 that consists of 24 bits of a hash of the area and the period, by default an hour, '
'8 bits of a hash of the twelfth of the period, and 90 random bits. The hashes depend on a secret that the server '
'draws after each start. A period that short_comb() does not accept, or an area longer than 63 bytes in UTF-8, raises '
'an error (22023).';

CREATE FUNCTION idgen.suffix_comb(clock timestamptz DEFAULT NULL) RETURNS uuid
    LANGUAGE C VOLATILE PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'idgen_suffix_comb';

COMMENT ON FUNCTION idgen.suffix_comb(timestamptz) IS
'A COMB for SQL Server (J. Nilsson): a UUID of version 4 with 74 random bits, followed by 48 bits of Unix '
'milliseconds in bytes 10 to 15. A clock before 1970 or after 10889-08-02 05:31:50.655999+00 raises an error (22008).';

CREATE FUNCTION idgen.short_suffix_comb(
    period interval DEFAULT '1 minute',
    clock timestamptz DEFAULT NULL
) RETURNS uuid
    LANGUAGE C VOLATILE PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'idgen_short_suffix_comb';

COMMENT ON FUNCTION idgen.short_suffix_comb(interval, timestamptz) IS
'A short COMB for SQL Server: a UUID of version 4 with a prefix of 16 bits in bytes 10 and 11, and 106 random bits. A '
'period that short_comb() does not accept raises an error (22023).';

CREATE FUNCTION idgen.sequence_comb(
    sequence regclass,
    block_size int DEFAULT 65536,
    block_count int DEFAULT 65536
) RETURNS uuid
    LANGUAGE C VOLATILE PARALLEL UNSAFE
    AS 'MODULE_PATHNAME', 'idgen_sequence_comb';

COMMENT ON FUNCTION idgen.sequence_comb(regclass, int, int) IS
'T. Vondra''s sequential UUID: a UUID of version 4 with the prefix ((nextval - 1) / block) mod 256^bytes, where bytes '
'is the number of bytes that block_count requires (0 to 4), and block is block_size * block_count / 256^bytes. '
'Requires USAGE or UPDATE on the sequence. A block_size or block_count below 1 raises an error (22023).';

-- ---------------------------------------------------------------------------
-- Reading and converting UUIDs
-- ---------------------------------------------------------------------------

CREATE FUNCTION idgen.uuid_version(id uuid) RETURNS int
    LANGUAGE C IMMUTABLE PARALLEL SAFE STRICT
    AS 'MODULE_PATHNAME', 'idgen_uuid_version';

COMMENT ON FUNCTION idgen.uuid_version(uuid) IS
'The version of a UUID, 0 to 15 (RFC 9562 section 4.2). NULL for variants other than that of the RFC.';

CREATE FUNCTION idgen.uuid_variant(id uuid) RETURNS text
    LANGUAGE C IMMUTABLE PARALLEL SAFE STRICT
    AS 'MODULE_PATHNAME', 'idgen_uuid_variant';

COMMENT ON FUNCTION idgen.uuid_variant(uuid) IS
'The variant of a UUID (RFC 9562 section 4.1): ''RFC 9562'', ''NCS'', ''Microsoft'' or ''future''.';

CREATE FUNCTION idgen.uuid_timestamp(id uuid) RETURNS timestamptz
    LANGUAGE C IMMUTABLE PARALLEL SAFE STRICT
    AS 'MODULE_PATHNAME', 'idgen_uuid_timestamp';

COMMENT ON FUNCTION idgen.uuid_timestamp(uuid) IS
'The time in a UUID: rounded down to the microsecond for versions 1, 6 and 13 (Lambert''s COMB), and in milliseconds '
'for version 7. NULL for other versions.';

CREATE FUNCTION idgen.uuid_text_timestamp(id text) RETURNS timestamptz
    LANGUAGE SQL IMMUTABLE PARALLEL SAFE STRICT
    RETURN idgen.uuid_timestamp(id::pg_catalog.uuid);

COMMENT ON FUNCTION idgen.uuid_text_timestamp(text) IS
'Like uuid_timestamp(), but for a UUID as text. It can be used as the time decoder of pg_partman. Text that is not a '
'uuid raises an error (22P02).';

CREATE FUNCTION idgen.comb_timestamp(id uuid) RETURNS timestamptz
    LANGUAGE C IMMUTABLE PARALLEL SAFE STRICT
    AS 'MODULE_PATHNAME', 'idgen_comb_timestamp';

COMMENT ON FUNCTION idgen.comb_timestamp(uuid) IS
'The time in a COMB, in milliseconds: the first 48 bits of a UUID of version 4. NULL for other versions. For a random '
'UUID, the result is meaningless.';

CREATE FUNCTION idgen.suffix_comb_timestamp(id uuid) RETURNS timestamptz
    LANGUAGE C IMMUTABLE PARALLEL SAFE STRICT
    AS 'MODULE_PATHNAME', 'idgen_suffix_comb_timestamp';

COMMENT ON FUNCTION idgen.suffix_comb_timestamp(uuid) IS
'The time in a suffix COMB, in milliseconds: the last 48 bits of a UUID of version 4. NULL for other versions. For a '
'random UUID, the result is meaningless.';

CREATE FUNCTION idgen.short_comb_timestamp(
    id uuid,
    period interval DEFAULT '1 minute',
    prefix_bytes int DEFAULT 2,
    clock timestamptz DEFAULT NULL
) RETURNS timestamptz
    LANGUAGE C STABLE PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'idgen_short_comb_timestamp';

COMMENT ON FUNCTION idgen.short_comb_timestamp(uuid, interval, int, timestamptz) IS
'The start of the latest period in which short_comb(period, prefix_bytes) returns this prefix, and which does not '
'begin after the clock (by default, the start of the statement). NULL for a version other than 4. An identifier older '
'than a cycle is read as a younger one.';

CREATE FUNCTION idgen.uuid_v1_to_v6(id uuid) RETURNS uuid
    LANGUAGE C IMMUTABLE PARALLEL SAFE STRICT
    AS 'MODULE_PATHNAME', 'idgen_uuid_v1_to_v6';

COMMENT ON FUNCTION idgen.uuid_v1_to_v6(uuid) IS
'The UUID of version 6 with the ticks, clock sequence and node of this UUID of version 1 (RFC 9562 section 5.6). '
'Another version raises an error (22023).';

CREATE FUNCTION idgen.uuid_v6_to_v1(id uuid) RETURNS uuid
    LANGUAGE C IMMUTABLE PARALLEL SAFE STRICT
    AS 'MODULE_PATHNAME', 'idgen_uuid_v6_to_v1';

COMMENT ON FUNCTION idgen.uuid_v6_to_v1(uuid) IS
'The UUID of version 1 with the ticks, clock sequence and node of this UUID of version 6. Another version raises an '
'error (22023).';

CREATE FUNCTION idgen.uuid_v1_to_lambert_comb(id uuid) RETURNS uuid
    LANGUAGE C IMMUTABLE PARALLEL SAFE STRICT
    AS 'MODULE_PATHNAME', 'idgen_uuid_v1_to_lambert_comb';

COMMENT ON FUNCTION idgen.uuid_v1_to_lambert_comb(uuid) IS
'M. Lambert''s time-ordered UUID (version 13) with the ticks, clock sequence and node of this UUID of version 1. '
'Another version raises an error (22023).';

CREATE FUNCTION idgen.lambert_comb_to_uuid_v1(id uuid) RETURNS uuid
    LANGUAGE C IMMUTABLE PARALLEL SAFE STRICT
    AS 'MODULE_PATHNAME', 'idgen_lambert_comb_to_uuid_v1';

COMMENT ON FUNCTION idgen.lambert_comb_to_uuid_v1(uuid) IS
'The UUID of version 1 with the ticks, clock sequence and node of this time-ordered UUID of M. Lambert (version 13). '
'Another version raises an error (22023).';

CREATE FUNCTION idgen.swap_guid_bytes(id uuid) RETURNS uuid
    LANGUAGE C IMMUTABLE PARALLEL SAFE STRICT
    AS 'MODULE_PATHNAME', 'idgen_swap_guid_bytes';

COMMENT ON FUNCTION idgen.swap_guid_bytes(uuid) IS
'The UUID with the bytes of each of its first three fields (4, 2 and 2 bytes) in reverse order, as SQL Server stores '
'them. The function is its own inverse. It converts a NEWSEQUENTIALID() to version 1, and back.';

CREATE FUNCTION idgen.comb_to_suffix_comb(id uuid) RETURNS uuid
    LANGUAGE C IMMUTABLE PARALLEL SAFE STRICT
    AS 'MODULE_PATHNAME', 'idgen_comb_to_suffix_comb';

COMMENT ON FUNCTION idgen.comb_to_suffix_comb(uuid) IS
'The UUID with bytes 0 to 5 and bytes 10 to 15 exchanged: converts a comb() to a suffix_comb(). The inverse is '
'suffix_comb_to_comb().';

CREATE FUNCTION idgen.suffix_comb_to_comb(id uuid) RETURNS uuid
    LANGUAGE C IMMUTABLE PARALLEL SAFE STRICT
    AS 'MODULE_PATHNAME', 'idgen_comb_to_suffix_comb';

COMMENT ON FUNCTION idgen.suffix_comb_to_comb(uuid) IS
'The UUID with bytes 10 to 15 and bytes 0 to 5 exchanged: converts a suffix_comb() to a comb(). The inverse is '
'comb_to_suffix_comb().';

CREATE FUNCTION idgen.short_comb_to_short_suffix_comb(id uuid) RETURNS uuid
    LANGUAGE C IMMUTABLE PARALLEL SAFE STRICT
    AS 'MODULE_PATHNAME', 'idgen_short_comb_to_short_suffix_comb';

COMMENT ON FUNCTION idgen.short_comb_to_short_suffix_comb(uuid) IS
'The UUID with bytes 0 and 1 and bytes 10 and 11 exchanged: converts a short_comb() to a short_suffix_comb(). The '
'inverse is short_suffix_comb_to_short_comb().';

CREATE FUNCTION idgen.short_suffix_comb_to_short_comb(id uuid) RETURNS uuid
    LANGUAGE C IMMUTABLE PARALLEL SAFE STRICT
    AS 'MODULE_PATHNAME', 'idgen_short_comb_to_short_suffix_comb';

COMMENT ON FUNCTION idgen.short_suffix_comb_to_short_comb(uuid) IS
'The UUID with bytes 10 and 11 and bytes 0 and 1 exchanged: converts a short_suffix_comb() to a short_comb(). The '
'inverse is short_comb_to_short_suffix_comb().';

-- ---------------------------------------------------------------------------
-- Ranges of time
-- ---------------------------------------------------------------------------

CREATE FUNCTION idgen.uuid_v7_floor(instant timestamptz) RETURNS uuid
    LANGUAGE C IMMUTABLE PARALLEL SAFE STRICT
    AS 'MODULE_PATHNAME', 'idgen_uuid_v7_floor';

COMMENT ON FUNCTION idgen.uuid_v7_floor(timestamptz) IS
'The smallest UUID of version 7 in the millisecond of this timestamp. A timestamp before 1970 is treated as the start '
'of 1970; after 10889-08-02 05:31:50.655999+00, the result is the greatest uuid.';

CREATE FUNCTION idgen.comb_floor(instant timestamptz) RETURNS uuid
    LANGUAGE C IMMUTABLE PARALLEL SAFE STRICT
    AS 'MODULE_PATHNAME', 'idgen_comb_floor';

COMMENT ON FUNCTION idgen.comb_floor(timestamptz) IS
'The smallest COMB in the millisecond of this timestamp. A timestamp before 1970 is treated as the start of 1970; '
'after 10889-08-02 05:31:50.655999+00, the result is the greatest uuid.';

CREATE FUNCTION idgen.ulid_floor(instant timestamptz) RETURNS text
    LANGUAGE C IMMUTABLE PARALLEL SAFE STRICT
    AS 'MODULE_PATHNAME', 'idgen_ulid_floor';

COMMENT ON FUNCTION idgen.ulid_floor(timestamptz) IS
'The smallest ULID in the millisecond of this timestamp. A timestamp before 1970 is treated as the start of 1970; '
'after 10889-08-02 05:31:50.655999+00, the result is the greatest ULID.';

CREATE FUNCTION idgen.object_id_floor(instant timestamptz) RETURNS text
    LANGUAGE C IMMUTABLE PARALLEL SAFE STRICT
    AS 'MODULE_PATHNAME', 'idgen_object_id_floor';

COMMENT ON FUNCTION idgen.object_id_floor(timestamptz) IS
'The smallest ObjectId in the second of this timestamp. A timestamp before 1970 is treated as the start of 1970; after '
'2106-02-07 06:28:15.999999+00, the result is the greatest ObjectId.';

CREATE FUNCTION idgen.snowflake_floor(instant timestamptz, epoch timestamptz DEFAULT '2020-01-01 00:00:00+00')
    RETURNS bigint
    LANGUAGE C IMMUTABLE PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'idgen_snowflake_floor';

COMMENT ON FUNCTION idgen.snowflake_floor(timestamptz, timestamptz) IS
'The lower bound of snowflake(epoch) in the millisecond of this timestamp, over all nodes. It is 0 before the end of '
'the epoch''s first millisecond, and 2^63 - 1 if the timestamp is more than 2^41 - 1 ms (69.7 years) after the epoch.';

CREATE FUNCTION idgen.js_id_floor(instant timestamptz, epoch timestamptz DEFAULT '2020-01-01 00:00:00+00')
    RETURNS bigint
    LANGUAGE C IMMUTABLE PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'idgen_js_id_floor';

COMMENT ON FUNCTION idgen.js_id_floor(timestamptz, timestamptz) IS
'The lower bound of js_id(epoch) in the second of this timestamp, over all nodes. It is 0 before the end of the '
'epoch''s first second, and 2^53 - 1 if the timestamp is more than 2^32 - 1 s (136 years) after the epoch.';

-- The predicates for ranges include a condition that no index supports. The planner
-- expects it to be true for all rows and, because it is LEAKPROOF like a comparison, can
-- evaluate it before the conditions of a security barrier. postgres_fdw sends it to other
-- servers, so its name stays the same in versions 1.x.

CREATE FUNCTION idgen.internal_expect_true(internal) RETURNS internal
    LANGUAGE C IMMUTABLE PARALLEL SAFE STRICT
    AS 'MODULE_PATHNAME', 'idgen_internal_expect_true';

COMMENT ON FUNCTION idgen.internal_expect_true(internal) IS
'Planner support function for conditions that nearly all rows satisfy.';

CREATE FUNCTION idgen.internal_is_version(id uuid, version int) RETURNS boolean
    LANGUAGE C IMMUTABLE PARALLEL SAFE STRICT LEAKPROOF SUPPORT idgen.internal_expect_true
    AS 'MODULE_PATHNAME', 'idgen_internal_is_version';

COMMENT ON FUNCTION idgen.internal_is_version(uuid, int) IS
'Tests whether a UUID is of this version, for uuid_v7_within() and comb_within().';

-- ulid_within() and object_id_within() call these functions.

CREATE FUNCTION idgen.is_ulid(id text) RETURNS boolean
    LANGUAGE C IMMUTABLE PARALLEL SAFE STRICT LEAKPROOF SUPPORT idgen.internal_expect_true
    AS 'MODULE_PATHNAME', 'idgen_is_ulid';

COMMENT ON FUNCTION idgen.is_ulid(text) IS
'Tests whether a string is exactly what ulid_from_uuid() returns for some uuid: 26 digits, in upper case. Never raises '
'an error.';

CREATE FUNCTION idgen.is_object_id(id text) RETURNS boolean
    LANGUAGE C IMMUTABLE PARALLEL SAFE STRICT LEAKPROOF SUPPORT idgen.internal_expect_true
    AS 'MODULE_PATHNAME', 'idgen_is_object_id';

COMMENT ON FUNCTION idgen.is_object_id(text) IS
'Tests whether a string is an ObjectId as object_id() returns it: 24 hexadecimal digits, in lower case. Never raises '
'an error.';

-- The planner inlines these predicates, and uses them for index scans and partition
-- pruning. It would not inline STRICT functions.

CREATE FUNCTION idgen.uuid_v7_within(id uuid, start timestamptz, stop timestamptz DEFAULT 'infinity') RETURNS boolean
    LANGUAGE SQL IMMUTABLE PARALLEL SAFE
    RETURN id OPERATOR(pg_catalog.>=) idgen.uuid_v7_floor(start)
       AND id OPERATOR(pg_catalog.<) idgen.uuid_v7_floor(stop)
       AND idgen.internal_is_version(id, 7);

COMMENT ON FUNCTION idgen.uuid_v7_within(uuid, timestamptz, timestamptz) IS
'Tests whether a UUID has version 7 and a time at or after start and before stop. The conditions id >= '
'uuid_v7_floor(start) AND id < uuid_v7_floor(stop) can use an index and prune partitions; the third condition is '
'uuid_version(id) = 7. Never true if start or stop is NULL.';

CREATE FUNCTION idgen.comb_within(id uuid, start timestamptz, stop timestamptz DEFAULT 'infinity') RETURNS boolean
    LANGUAGE SQL IMMUTABLE PARALLEL SAFE
    RETURN id OPERATOR(pg_catalog.>=) idgen.comb_floor(start)
       AND id OPERATOR(pg_catalog.<) idgen.comb_floor(stop)
       AND idgen.internal_is_version(id, 4);

COMMENT ON FUNCTION idgen.comb_within(uuid, timestamptz, timestamptz) IS
'Tests whether a UUID is a COMB with a time at or after start and before stop, in a column whose UUIDs of version 4 '
'are COMBs. The conditions id >= comb_floor(start) AND id < comb_floor(stop) can use an index and prune partitions; '
'the third condition is uuid_version(id) = 4. Never true if start or stop is NULL.';

-- Other collations sort differently: Estonian sorts Z before T, and Danish sorts aa after z.
CREATE FUNCTION idgen.ulid_within(id text, start timestamptz, stop timestamptz DEFAULT 'infinity') RETURNS boolean
    LANGUAGE SQL IMMUTABLE PARALLEL SAFE
    RETURN id COLLATE pg_catalog."C" OPERATOR(pg_catalog.>=) idgen.ulid_floor(start)
       AND id COLLATE pg_catalog."C" OPERATOR(pg_catalog.<) idgen.ulid_floor(stop)
       AND idgen.is_ulid(id);

COMMENT ON FUNCTION idgen.ulid_within(text, timestamptz, timestamptz) IS
'Tests whether a string is a ULID in upper case with a time at or after start and before stop. In the collation "C", '
'the conditions id >= ulid_floor(start) AND id < ulid_floor(stop) can use an index and prune partitions; the third '
'condition is is_ulid(id). Never true if start or stop is NULL.';

CREATE FUNCTION idgen.object_id_within(id text, start timestamptz, stop timestamptz DEFAULT 'infinity') RETURNS boolean
    LANGUAGE SQL IMMUTABLE PARALLEL SAFE
    RETURN id COLLATE pg_catalog."C" OPERATOR(pg_catalog.>=) idgen.object_id_floor(start)
       AND id COLLATE pg_catalog."C" OPERATOR(pg_catalog.<) idgen.object_id_floor(stop)
       AND idgen.is_object_id(id);

COMMENT ON FUNCTION idgen.object_id_within(text, timestamptz, timestamptz) IS
'Like ulid_within(), but for ObjectIds in lower case and in whole seconds, with object_id_floor() and is_object_id().';

CREATE FUNCTION idgen.snowflake_within(
    id bigint,
    start timestamptz,
    stop timestamptz DEFAULT 'infinity',
    epoch timestamptz DEFAULT '2020-01-01 00:00:00+00'
) RETURNS boolean
    LANGUAGE SQL IMMUTABLE PARALLEL SAFE
    RETURN id OPERATOR(pg_catalog.>=) idgen.snowflake_floor(start, epoch)
       AND id OPERATOR(pg_catalog.<) idgen.snowflake_floor(stop, epoch);

COMMENT ON FUNCTION idgen.snowflake_within(bigint, timestamptz, timestamptz, timestamptz) IS
'Tests whether a snowflake has a time at or after start and before stop, in a column that contains only snowflakes of '
'this epoch: id >= snowflake_floor(start, epoch) AND id < snowflake_floor(stop, epoch). These conditions can use an '
'index and prune partitions. Never true if start or stop is NULL.';

CREATE FUNCTION idgen.js_id_within(
    id bigint,
    start timestamptz,
    stop timestamptz DEFAULT 'infinity',
    epoch timestamptz DEFAULT '2020-01-01 00:00:00+00'
) RETURNS boolean
    LANGUAGE SQL IMMUTABLE PARALLEL SAFE
    RETURN id OPERATOR(pg_catalog.>=) idgen.js_id_floor(start, epoch)
       AND id OPERATOR(pg_catalog.<) idgen.js_id_floor(stop, epoch);

COMMENT ON FUNCTION idgen.js_id_within(bigint, timestamptz, timestamptz, timestamptz) IS
'Tests whether a js_id has a time at or after start and before stop, in a column that contains only js_ids of this '
'epoch: id >= js_id_floor(start, epoch) AND id < js_id_floor(stop, epoch). These conditions can use an index and prune '
'partitions. Never true if start or stop is NULL.';

-- ---------------------------------------------------------------------------
-- Checking the identifiers that clients send
-- ---------------------------------------------------------------------------

CREATE FUNCTION idgen.is_uuid(id text, version int DEFAULT NULL) RETURNS boolean
    LANGUAGE C IMMUTABLE PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'idgen_is_uuid';

COMMENT ON FUNCTION idgen.is_uuid(text, int) IS
'Tests whether a string is a UUID in canonical form: 36 characters, hexadecimal digits of either case, the variant of '
'RFC 9562, and the given version. If no version is given, versions 1 to 8, the Nil UUID and the Max UUID are accepted. '
'Bad text never raises an error; a version that is not between 0 and 15 does (22023).';

CREATE FUNCTION idgen.is_recent_short_comb(
    id uuid,
    tolerance interval DEFAULT '10 minutes',
    past_tolerance interval DEFAULT NULL,
    future_tolerance interval DEFAULT NULL,
    period interval DEFAULT '1 minute',
    prefix_bytes int DEFAULT 2,
    clock timestamptz DEFAULT NULL
) RETURNS boolean
    LANGUAGE C STABLE PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'idgen_is_recent_short_comb';

COMMENT ON FUNCTION idgen.is_recent_short_comb(uuid, interval, interval, interval, interval, int, timestamptz) IS
'Tests whether a UUID is of version 4 and has a prefix that short_comb(period, prefix_bytes) returns at some time '
'from clock - past_tolerance to clock + future_tolerance. Both tolerances default to tolerance. Raises an error '
'(22023) if a tolerance is negative or has months, or if both together exceed the cycle of prefixes minus two '
'periods.';

CREATE FUNCTION idgen.is_recent_comb(
    id uuid,
    tolerance interval DEFAULT '10 minutes',
    past_tolerance interval DEFAULT NULL,
    future_tolerance interval DEFAULT NULL,
    clock timestamptz DEFAULT NULL
) RETURNS boolean
    LANGUAGE C STABLE PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'idgen_is_recent_comb';

COMMENT ON FUNCTION idgen.is_recent_comb(uuid, interval, interval, interval, timestamptz) IS
'Tests whether a UUID is of version 4 and its first 48 bits are a time from clock - past_tolerance to clock + '
'future_tolerance, both rounded down to the millisecond. Both tolerances default to tolerance, and the clock to the '
'start of the statement. A tolerance that is negative or has months raises an error (22023).';

CREATE FUNCTION idgen.is_recent_uuid_v7(
    id uuid,
    tolerance interval DEFAULT '10 minutes',
    past_tolerance interval DEFAULT NULL,
    future_tolerance interval DEFAULT NULL,
    clock timestamptz DEFAULT NULL
) RETURNS boolean
    LANGUAGE C STABLE PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'idgen_is_recent_uuid_v7';

COMMENT ON FUNCTION idgen.is_recent_uuid_v7(uuid, interval, interval, interval, timestamptz) IS
'Tests whether a UUID is of version 7 and contains a time from clock - past_tolerance to clock + future_tolerance, '
'both rounded down to the millisecond. Both tolerances default to tolerance, and the clock to the start of the '
'statement. A tolerance that is negative or has months raises an error (22023).';

CREATE FUNCTION idgen.check_recent_short_comb(
    id uuid,
    tolerance interval DEFAULT '10 minutes',
    past_tolerance interval DEFAULT NULL,
    future_tolerance interval DEFAULT NULL,
    period interval DEFAULT '1 minute',
    prefix_bytes int DEFAULT 2,
    clock timestamptz DEFAULT NULL
) RETURNS uuid
    LANGUAGE C STABLE PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'idgen_check_recent_short_comb';

COMMENT ON FUNCTION idgen.check_recent_short_comb(uuid, interval, interval, interval, interval, int, timestamptz) IS
'Returns the identifier if is_recent_short_comb() accepts it with the same arguments. Otherwise, raises an error '
'(23514) whose constraint name is the function''s name, and whose DETAIL contains the window and the value found.';

CREATE FUNCTION idgen.check_recent_comb(
    id uuid,
    tolerance interval DEFAULT '10 minutes',
    past_tolerance interval DEFAULT NULL,
    future_tolerance interval DEFAULT NULL,
    clock timestamptz DEFAULT NULL
) RETURNS uuid
    LANGUAGE C STABLE PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'idgen_check_recent_comb';

COMMENT ON FUNCTION idgen.check_recent_comb(uuid, interval, interval, interval, timestamptz) IS
'Returns the identifier if is_recent_comb() accepts it with the same arguments. Otherwise, raises an error (23514) '
'whose constraint name is the function''s name, and whose DETAIL contains the window and the value found.';

CREATE FUNCTION idgen.check_recent_uuid_v7(
    id uuid,
    tolerance interval DEFAULT '10 minutes',
    past_tolerance interval DEFAULT NULL,
    future_tolerance interval DEFAULT NULL,
    clock timestamptz DEFAULT NULL
) RETURNS uuid
    LANGUAGE C STABLE PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'idgen_check_recent_uuid_v7';

COMMENT ON FUNCTION idgen.check_recent_uuid_v7(uuid, interval, interval, interval, timestamptz) IS
'Returns the identifier if is_recent_uuid_v7() accepts it with the same arguments. Otherwise, raises an error (23514) '
'whose constraint name is the function''s name, and whose DETAIL contains the window and the value found.';

CREATE FUNCTION idgen.check_recent_id() RETURNS trigger
    LANGUAGE C VOLATILE PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'idgen_check_recent_id';

COMMENT ON FUNCTION idgen.check_recent_id() IS
'Trigger function for BEFORE INSERT OR UPDATE OF the column FOR EACH ROW; its arguments are column, scheme '
'(''short_comb'', ''comb'' or ''uuid_v7''), and any of ''tolerance=...'', ''past_tolerance=...'', '
'''future_tolerance=...'' and, for short_comb, ''period=...'' and ''prefix_bytes=...''. Raises an error (23514) with '
'the trigger''s name as constraint name if the identifier''s time is not near the current time, unless a unique index '
'on the column already contains the identifier. An UPDATE that leaves the identifier and the partition unchanged is '
'accepted.';

CREATE FUNCTION idgen.internal_created_bound(id uuid, tolerance interval, is_last boolean) RETURNS timestamptz
    LANGUAGE C IMMUTABLE PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'idgen_internal_created_bound';

COMMENT ON FUNCTION idgen.internal_created_bound(uuid, interval, boolean) IS
'The first or the last created_at that created_near() accepts for a UUID. The planner compares it with the bounds of '
'partitions.';

CREATE FUNCTION idgen.created_near(
    id uuid,
    created_at timestamptz,
    tolerance interval DEFAULT '10 minutes'
) RETURNS boolean
    LANGUAGE SQL IMMUTABLE PARALLEL SAFE
    RETURN created_at OPERATOR(pg_catalog.>=) idgen.internal_created_bound(id, tolerance, false)
       AND created_at OPERATOR(pg_catalog.<=) idgen.internal_created_bound(id, tolerance, true);

COMMENT ON FUNCTION idgen.created_near(uuid, timestamptz, interval) IS
'Tests whether created_at is within the tolerance of uuid_timestamp(id), both ends included; false for a uuid without '
'a time. The condition prunes partitions by created_at. A NULL tolerance raises an error (22004), as does one that is '
'negative or has months (22023).';

-- ---------------------------------------------------------------------------
-- 64-bit identifiers
-- ---------------------------------------------------------------------------

-- The high-water marks of the functions that follow the clock (see src/ticker.c)
CREATE SEQUENCE idgen.snowflake_mark;
CREATE SEQUENCE idgen.trace_id_mark;
CREATE SEQUENCE idgen.js_id_mark;
CREATE SEQUENCE idgen.uuid_v7_ordered_mark;
CREATE SEQUENCE idgen.decimal_id_counter MAXVALUE 92233720200000;

-- A restored database continues above the values that the dumped database has returned.
SELECT pg_catalog.pg_extension_config_dump('idgen.snowflake_mark', '');
SELECT pg_catalog.pg_extension_config_dump('idgen.trace_id_mark', '');
SELECT pg_catalog.pg_extension_config_dump('idgen.js_id_mark', '');
SELECT pg_catalog.pg_extension_config_dump('idgen.uuid_v7_ordered_mark', '');
SELECT pg_catalog.pg_extension_config_dump('idgen.decimal_id_counter', '');

COMMENT ON SEQUENCE idgen.snowflake_mark IS
'The high-water mark that idgen.snowflake() writes: the Unix seconds of all values that the function has returned are '
'less than last_value >> 28. The low 28 bits are random.';
COMMENT ON SEQUENCE idgen.trace_id_mark IS
'The high-water mark that idgen.trace_id() writes: the Unix seconds of all values that the function has returned are '
'less than last_value >> 28. The low 28 bits are random.';
COMMENT ON SEQUENCE idgen.js_id_mark IS
'The high-water mark that idgen.js_id() writes: the Unix seconds of all values that the function has returned are less '
'than last_value >> 28. The low 28 bits are random.';
COMMENT ON SEQUENCE idgen.uuid_v7_ordered_mark IS
'The high-water mark that idgen.uuid_v7_ordered() writes: the Unix seconds of all values that the function has '
'returned are less than last_value >> 28. The low 28 bits are random.';
COMMENT ON SEQUENCE idgen.decimal_id_counter IS
'Counter and generator of idgen.decimal_id(), as generator * 922337202 + counter.';

CREATE FUNCTION idgen.snowflake(epoch timestamptz DEFAULT '2020-01-01 00:00:00+00') RETURNS bigint
    LANGUAGE C VOLATILE PARALLEL UNSAFE
    AS 'MODULE_PATHNAME', 'idgen_snowflake';

COMMENT ON FUNCTION idgen.snowflake(timestamptz) IS
'Twitter''s Snowflake, 1 to 2^63 - 1: 41 bits of milliseconds since the epoch (69.7 years), 10 bits of idgen.node_id, '
'and 12 bits of counter. It is greater than every snowflake that any session of this database has obtained with the '
'same epoch and node, even after a crash or if the clock was set back, with the exceptions in docs/tickers.md.';

CREATE FUNCTION idgen.snowflake_timestamp(id bigint, epoch timestamptz DEFAULT '2020-01-01 00:00:00+00')
    RETURNS timestamptz
    LANGUAGE C IMMUTABLE PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'idgen_snowflake_timestamp';

COMMENT ON FUNCTION idgen.snowflake_timestamp(bigint, timestamptz) IS
'The creation time of a snowflake(epoch), to the millisecond. NULL for a number below 1.';

CREATE FUNCTION idgen.snowflake_node(id bigint) RETURNS int
    LANGUAGE C IMMUTABLE PARALLEL SAFE STRICT
    AS 'MODULE_PATHNAME', 'idgen_snowflake_node';

COMMENT ON FUNCTION idgen.snowflake_node(bigint) IS
'The node of a snowflake(), 0 to 1023. NULL for a number below 1.';

CREATE FUNCTION idgen.snowflake_counter(id bigint) RETURNS int
    LANGUAGE C IMMUTABLE PARALLEL SAFE STRICT
    AS 'MODULE_PATHNAME', 'idgen_snowflake_counter';

COMMENT ON FUNCTION idgen.snowflake_counter(bigint) IS
'The counter of a snowflake() within its millisecond, 0 to 4095. NULL for a number below 1.';

CREATE FUNCTION idgen.js_id(epoch timestamptz DEFAULT '2020-01-01 00:00:00+00') RETURNS bigint
    LANGUAGE C VOLATILE PARALLEL UNSAFE
    AS 'MODULE_PATHNAME', 'idgen_js_id';

COMMENT ON FUNCTION idgen.js_id(timestamptz) IS
'An identifier that a JavaScript number represents exactly, 1 to 2^53 - 1: 32 bits of seconds since the epoch (136 '
'years), 5 bits of idgen.node_id, and 16 bits of counter. It is greater than every js_id that any session of this '
'database has obtained with the same epoch and node, even after a crash or if the clock was set back, with the '
'exceptions in docs/tickers.md.';

CREATE FUNCTION idgen.js_id_timestamp(id bigint, epoch timestamptz DEFAULT '2020-01-01 00:00:00+00') RETURNS timestamptz
    LANGUAGE C IMMUTABLE PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'idgen_js_id_timestamp';

COMMENT ON FUNCTION idgen.js_id_timestamp(bigint, timestamptz) IS
'The creation time of a js_id(epoch), to the second. NULL for a number that cannot be a js_id().';

CREATE FUNCTION idgen.js_id_node(id bigint) RETURNS int
    LANGUAGE C IMMUTABLE PARALLEL SAFE STRICT
    AS 'MODULE_PATHNAME', 'idgen_js_id_node';

COMMENT ON FUNCTION idgen.js_id_node(bigint) IS
'The node of a js_id(), 0 to 31. NULL for a number that cannot be a js_id().';

CREATE FUNCTION idgen.js_id_counter(id bigint) RETURNS int
    LANGUAGE C IMMUTABLE PARALLEL SAFE STRICT
    AS 'MODULE_PATHNAME', 'idgen_js_id_counter';

COMMENT ON FUNCTION idgen.js_id_counter(bigint) IS
'The counter of a js_id() within its second, 0 to 65535. NULL for a number that cannot be a js_id().';

CREATE FUNCTION idgen.trace_id() RETURNS bigint
    LANGUAGE C VOLATILE PARALLEL UNSAFE
    AS 'MODULE_PATHNAME', 'idgen_trace_id';

COMMENT ON FUNCTION idgen.trace_id() IS
'A TraceId, 1 to 2^63 - 1: the low 25 bits of Unix seconds (388 days), 16 bits of idgen.node_id, and 22 bits of '
'counter, which begins at 1. It never repeats within 387 days. Until the 25 bits wrap around, it is greater than every '
'TraceId that any session of this database has obtained with the same node, even after a crash or if the clock was set '
'back, with the exceptions in docs/tickers.md.';

CREATE FUNCTION idgen.trace_id_timestamp(id bigint, clock timestamptz DEFAULT NULL) RETURNS timestamptz
    LANGUAGE C STABLE PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'idgen_trace_id_timestamp';

COMMENT ON FUNCTION idgen.trace_id_timestamp(bigint, timestamptz) IS
'The creation time of a trace_id(), in seconds: the latest second that has these 25 bits and is at most a day after '
'the clock. NULL for a number that cannot be a trace_id().';

CREATE FUNCTION idgen.trace_id_node(id bigint) RETURNS int
    LANGUAGE C IMMUTABLE PARALLEL SAFE STRICT
    AS 'MODULE_PATHNAME', 'idgen_trace_id_node';

COMMENT ON FUNCTION idgen.trace_id_node(bigint) IS
'The node of a trace_id(), 0 to 65535. NULL for a number that cannot be a trace_id().';

CREATE FUNCTION idgen.trace_id_counter(id bigint) RETURNS int
    LANGUAGE C IMMUTABLE PARALLEL SAFE STRICT
    AS 'MODULE_PATHNAME', 'idgen_trace_id_counter';

COMMENT ON FUNCTION idgen.trace_id_counter(bigint) IS
'The counter of a trace_id() within its second, 1 to 4194303. NULL for a number that cannot be a trace_id().';

CREATE FUNCTION idgen.decimal_id() RETURNS bigint
    LANGUAGE C VOLATILE PARALLEL UNSAFE
    AS 'MODULE_PATHNAME', 'idgen_decimal_id';

COMMENT ON FUNCTION idgen.decimal_id() IS
'An identifier from 1 to 2^63 - 1, whose decimal digits consist of three parts: counter (1 to 922337202) * 10^10 + '
'generator (0 to 99999) * 10^5 + idgen.launch_id (1 to 99999; 0 for tests). The counter increases across all sessions '
'and restarts of the database. After its last value, it begins again with the next generator.';

CREATE FUNCTION idgen.decimal_id_parts(id bigint, OUT counter int, OUT generator int, OUT launch_id int)
    LANGUAGE C IMMUTABLE PARALLEL SAFE STRICT
    AS 'MODULE_PATHNAME', 'idgen_decimal_id_parts';

COMMENT ON FUNCTION idgen.decimal_id_parts(bigint) IS
'The counter, generator and launch of a decimal_id(). NULL for a number that cannot be a decimal_id().';

-- ---------------------------------------------------------------------------
-- ObjectId
-- ---------------------------------------------------------------------------

CREATE FUNCTION idgen.object_id(clock timestamptz DEFAULT NULL) RETURNS text
    LANGUAGE C VOLATILE PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'idgen_object_id';

COMMENT ON FUNCTION idgen.object_id(timestamptz) IS
'A new ObjectId as 24 hexadecimal digits: 32 bits of Unix seconds (until 2106-02-07 06:28:15+00), 40 random bits of '
'this session, and a counter of 24 bits that begins at a random number. Without a clock, the results increase strictly '
'within a session, in COLLATE "C". With a clock, all 64 bits after the time are random.';

CREATE FUNCTION idgen.object_id_timestamp(id text) RETURNS timestamptz
    LANGUAGE C IMMUTABLE PARALLEL SAFE STRICT
    AS 'MODULE_PATHNAME', 'idgen_object_id_timestamp';

COMMENT ON FUNCTION idgen.object_id_timestamp(text) IS
'The time in an ObjectId, to the second. Text that is not 24 hexadecimal digits raises an error (22P02).';

-- ---------------------------------------------------------------------------
-- Text forms: bases, prefixed ids, TypeID, ULID
-- ---------------------------------------------------------------------------

CREATE FUNCTION idgen.uuid_to_base(id uuid, base int) RETURNS text
    LANGUAGE C IMMUTABLE PARALLEL SAFE STRICT
    AS 'MODULE_PATHNAME', 'idgen_uuid_to_base';

COMMENT ON FUNCTION idgen.uuid_to_base(uuid, int) IS
'The uuid in digits of base 16, 32 (Crockford), 36, 58 (Bitcoin) or 62. There are always 32, 26, 25, 22 or 22 digits, '
'so that results sort like the uuids in COLLATE "C". Another base raises an error (22023).';

CREATE FUNCTION idgen.bigint_to_base(value bigint, base int) RETURNS text
    LANGUAGE C IMMUTABLE PARALLEL SAFE STRICT
    AS 'MODULE_PATHNAME', 'idgen_bigint_to_base';

COMMENT ON FUNCTION idgen.bigint_to_base(bigint, int) IS
'The number in digits of base 16, 32 (Crockford), 36, 58 (Bitcoin) or 62, without leading zeros. A negative number or '
'another base raises an error (22023).';

CREATE FUNCTION idgen.uuid_from_base(digits text, base int) RETURNS uuid
    LANGUAGE C IMMUTABLE PARALLEL SAFE STRICT
    AS 'MODULE_PATHNAME', 'idgen_uuid_from_base';

COMMENT ON FUNCTION idgen.uuid_from_base(text, int) IS
'The uuid with these digits. Leading zeros can be omitted, and in bases 16, 32 and 36, letters can be of either case. '
'Text with an invalid character, with no digits or with too many digits raises an error (22P02), as does a number of '
'more than 128 bits (22003).';

CREATE FUNCTION idgen.bigint_from_base(digits text, base int) RETURNS bigint
    LANGUAGE C IMMUTABLE PARALLEL SAFE STRICT
    AS 'MODULE_PATHNAME', 'idgen_bigint_from_base';

COMMENT ON FUNCTION idgen.bigint_from_base(text, int) IS
'The number with these digits, which are read as in uuid_from_base(). A number out of range for bigint raises an '
'error (22003).';

CREATE FUNCTION idgen.prefixed_id_from_uuid(prefix text, id uuid) RETURNS text
    LANGUAGE C IMMUTABLE PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'idgen_prefixed_id_from_uuid';

COMMENT ON FUNCTION idgen.prefixed_id_from_uuid(text, uuid) IS
'A typed identifier: the prefix, an underscore and the 25 digits of the uuid in base 36, in lower case. The prefix '
'must consist of 1 to 63 characters a-z, 0-9 and underscore, begin with a letter and not end with an underscore '
'(22023).';

CREATE FUNCTION idgen.prefixed_id_to_uuid(id text, expected_prefix text DEFAULT NULL) RETURNS uuid
    LANGUAGE C IMMUTABLE PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'idgen_prefixed_id_to_uuid';

COMMENT ON FUNCTION idgen.prefixed_id_to_uuid(text, text) IS
'The uuid in a prefixed id. Leading zeros of its digits can be omitted, and letters can be of either case. Text that '
'is not a prefixed id raises an error (22P02), as does a prefix other than the expected one (23514).';

CREATE FUNCTION idgen.prefixed_id_prefix(id text) RETURNS text
    LANGUAGE C IMMUTABLE PARALLEL SAFE STRICT
    AS 'MODULE_PATHNAME', 'idgen_prefixed_id_prefix';

COMMENT ON FUNCTION idgen.prefixed_id_prefix(text) IS
'The prefix of a prefixed id: the text before the last underscore. Text that is not a prefixed id raises an error '
'(22P02).';

CREATE FUNCTION idgen.is_prefixed_id(id text, prefix text DEFAULT NULL) RETURNS boolean
    LANGUAGE C IMMUTABLE PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'idgen_is_prefixed_id';

COMMENT ON FUNCTION idgen.is_prefixed_id(text, text) IS
'Tests whether a string is exactly what prefixed_id_from_uuid() returns for some uuid and this prefix or, if none is '
'given, any prefix. Bad text never raises an error; an invalid prefix does (22023).';

CREATE TABLE idgen.id_prefixes (
    prefix text PRIMARY KEY,
    domain regtype NOT NULL
);

-- The filter excludes rows of three kinds of domains. For a dropped domain, pg_dump would
-- write its OID, which may belong to another type after the restore. A domain in a temporary
-- schema would not exist after the restore. A domain of an extension is created and registered
-- by that extension's script. The filter is evaluated with the rights of the superuser who
-- runs pg_dump, and the planner reads the indexes of the table for it. Therefore, the filter
-- uses only pg_catalog, and no other role can alter the table.
SELECT pg_catalog.pg_extension_config_dump('idgen.id_prefixes',
    'WHERE EXISTS (SELECT FROM pg_catalog.pg_type t WHERE t.oid OPERATOR(pg_catalog.=) id_prefixes.domain'
    ' AND NOT pg_catalog.pg_is_other_temp_schema(t.typnamespace)'
    ' AND NOT EXISTS (SELECT FROM pg_catalog.pg_depend d'
    ' WHERE d.classid OPERATOR(pg_catalog.=) ''pg_catalog.pg_type''::pg_catalog.regclass'
    ' AND d.objid OPERATOR(pg_catalog.=) t.oid AND d.deptype OPERATOR(pg_catalog.=) ''e''))');

COMMENT ON TABLE idgen.id_prefixes IS
'The domains for which prefixes are registered. Written by idgen.create_id_domain(). A row whose domain was dropped '
'has no effect.';
COMMENT ON COLUMN idgen.id_prefixes.prefix IS
'The text before the last underscore of the domain''s identifiers.';
COMMENT ON COLUMN idgen.id_prefixes.domain IS
'The domain, which can be renamed.';

CREATE FUNCTION idgen.create_id_domain(domain_name text, prefix text) RETURNS regtype
    LANGUAGE C VOLATILE PARALLEL UNSAFE
    AS 'MODULE_PATHNAME', 'idgen_create_id_domain';

COMMENT ON FUNCTION idgen.create_id_domain(text, text) IS
'Creates a domain over text COLLATE "C" with the constraint prefixed_id_check, CHECK (is_prefixed_id(VALUE, prefix)), '
'and registers the prefix in idgen.id_prefixes until the domain is dropped. A prefix that is already in use raises an '
'error (23505) that names its domain.';

CREATE FUNCTION idgen.parse_prefixed_id(
    prefixed text,
    OUT domain regtype,
    OUT prefix text,
    OUT id uuid
)
    LANGUAGE SQL STABLE PARALLEL SAFE STRICT
    BEGIN ATOMIC
        SELECT (SELECT p.domain FROM idgen.id_prefixes p
                WHERE p.prefix OPERATOR(pg_catalog.=) idgen.prefixed_id_prefix(prefixed)
                  AND EXISTS (SELECT FROM pg_catalog.pg_type t WHERE t.oid OPERATOR(pg_catalog.=) p.domain)),
               idgen.prefixed_id_prefix(prefixed),
               idgen.prefixed_id_to_uuid(prefixed);
    END;

COMMENT ON FUNCTION idgen.parse_prefixed_id(text) IS
'The parts of a prefixed id: the domain for which its prefix is registered (or NULL), the prefix, and the uuid. Text '
'that is not a prefixed id raises an error (22P02).';

CREATE FUNCTION idgen.typeid_from_uuid(prefix text, id uuid) RETURNS text
    LANGUAGE C IMMUTABLE PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'idgen_typeid_from_uuid';

COMMENT ON FUNCTION idgen.typeid_from_uuid(text, uuid) IS
'A TypeID (specification version 0.3): the prefix, an underscore and the 26 digits of the uuid in base 32, in lower '
'case. The prefix must consist of at most 63 characters a-z and underscore, and begin and end with a letter (22023); '
'if it is empty, there is no underscore.';

CREATE FUNCTION idgen.typeid(prefix text DEFAULT '', clock timestamptz DEFAULT NULL) RETURNS text
    LANGUAGE SQL VOLATILE PARALLEL SAFE
    RETURN idgen.typeid_from_uuid(prefix, idgen.uuid_v7(clock));

COMMENT ON FUNCTION idgen.typeid(text, timestamptz) IS
'A new TypeID: typeid_from_uuid(prefix, uuid_v7(clock)). It reveals its creation time.';

CREATE FUNCTION idgen.typeid_to_uuid(id text, expected_prefix text DEFAULT NULL) RETURNS uuid
    LANGUAGE C IMMUTABLE PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'idgen_typeid_to_uuid';

COMMENT ON FUNCTION idgen.typeid_to_uuid(text, text) IS
'The uuid in a TypeID. The text must conform strictly to the specification: lower case, all 26 digits, and a first '
'digit of at most 7. Other text raises an error (22P02), as does a prefix other than the expected one (23514).';

CREATE FUNCTION idgen.typeid_prefix(id text) RETURNS text
    LANGUAGE C IMMUTABLE PARALLEL SAFE STRICT
    AS 'MODULE_PATHNAME', 'idgen_typeid_prefix';

COMMENT ON FUNCTION idgen.typeid_prefix(text) IS
'The prefix of a TypeID, or an empty string if there is none. Text that is not a TypeID raises an error (22P02).';

CREATE FUNCTION idgen.is_typeid(id text, prefix text DEFAULT NULL) RETURNS boolean
    LANGUAGE C IMMUTABLE PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'idgen_is_typeid';

COMMENT ON FUNCTION idgen.is_typeid(text, text) IS
'Tests whether a string is a TypeID, and has this prefix if one is given. Bad text never raises an error; an invalid '
'prefix does (22023).';

CREATE FUNCTION idgen.ulid(clock timestamptz DEFAULT NULL) RETURNS text
    LANGUAGE C VOLATILE PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'idgen_ulid';

COMMENT ON FUNCTION idgen.ulid(timestamptz) IS
'A ULID: 48 bits of Unix milliseconds and 80 random bits, as 26 digits of base 32 (Crockford). Without a clock, the '
'results increase strictly within a session in COLLATE "C": in the same millisecond, or if the clock was set back, the '
'result is the last ULID plus one.';

CREATE FUNCTION idgen.ulid_to_uuid(id text) RETURNS uuid
    LANGUAGE C IMMUTABLE PARALLEL SAFE STRICT
    AS 'MODULE_PATHNAME', 'idgen_ulid_to_uuid';

COMMENT ON FUNCTION idgen.ulid_to_uuid(text) IS
'The 16 bytes of a ULID as a uuid, which sorts like the ULID. Text that is not 26 digits as uuid_from_base(id, 32) '
'reads them raises an error (22P02).';

CREATE FUNCTION idgen.ulid_from_uuid(id uuid) RETURNS text
    LANGUAGE C IMMUTABLE PARALLEL SAFE STRICT
    AS 'MODULE_PATHNAME', 'idgen_ulid_from_uuid';

COMMENT ON FUNCTION idgen.ulid_from_uuid(uuid) IS
'The 16 bytes of a uuid as a ULID in upper case, which sorts like the uuid in COLLATE "C".';

CREATE FUNCTION idgen.ulid_timestamp(id text) RETURNS timestamptz
    LANGUAGE C IMMUTABLE PARALLEL SAFE STRICT
    AS 'MODULE_PATHNAME', 'idgen_ulid_timestamp';

COMMENT ON FUNCTION idgen.ulid_timestamp(text) IS
'The time in a ULID, to the millisecond. Text that is not a ULID raises an error (22P02).';

-- ---------------------------------------------------------------------------
-- Masks and permutations
-- ---------------------------------------------------------------------------

-- The secret keys in idgen.key_file belong to the server. A role that has EXECUTE on these
-- functions can determine the values that a key hides in any database, or test guesses. The
-- installer of this trusted extension may be the owner of any database. Therefore, it gets no
-- more privileges than PUBLIC, and only a superuser can grant EXECUTE.

CREATE FUNCTION idgen.mask_uuid_v7(id uuid, key_name text DEFAULT 'default') RETURNS uuid
    LANGUAGE C STABLE PARALLEL RESTRICTED
    AS 'MODULE_PATHNAME', 'idgen_mask_uuid_v7';

COMMENT ON FUNCTION idgen.mask_uuid_v7(uuid, text) IS
'Masks a UUID of version 7 as a UUID of version 4: applies a keyed permutation to the 122 bits other than the version '
'and variant, with a key from idgen.key_file (docs/masks.md). Another version raises an error (22023), as does an '
'unknown key (42704).';

CREATE FUNCTION idgen.unmask_uuid_v7(masked uuid, key_name text DEFAULT 'default') RETURNS uuid
    LANGUAGE C STABLE PARALLEL RESTRICTED
    AS 'MODULE_PATHNAME', 'idgen_unmask_uuid_v7';

COMMENT ON FUNCTION idgen.unmask_uuid_v7(uuid, text) IS
'The inverse of mask_uuid_v7() with the same key. Every UUID of version 4 is accepted; another version raises an '
'error (22023).';

CREATE FUNCTION idgen.permute(id bigint, area text, max_value bigint DEFAULT 9007199254740991,
                              key_name text DEFAULT 'default') RETURNS bigint
    LANGUAGE C STABLE PARALLEL RESTRICTED
    AS 'MODULE_PATHNAME', 'idgen_permute';

COMMENT ON FUNCTION idgen.permute(bigint, text, bigint, text) IS
'Permutes the numbers from 1 to max_value with a key from idgen.key_file. Each area has its own permutation. A number '
'out of this range raises an error (22023), as does an unknown key (42704).';

CREATE FUNCTION idgen.unpermute(permuted bigint, area text, max_value bigint DEFAULT 9007199254740991,
                                key_name text DEFAULT 'default') RETURNS bigint
    LANGUAGE C STABLE PARALLEL RESTRICTED
    AS 'MODULE_PATHNAME', 'idgen_unpermute';

COMMENT ON FUNCTION idgen.unpermute(bigint, text, bigint, text) IS
'The inverse of permute() with the same max_value, area and key.';

CREATE FUNCTION idgen.hmac_comb(
    area text,
    key_name text DEFAULT 'shared',
    period interval DEFAULT '1 hour'
) RETURNS uuid
    LANGUAGE C VOLATILE PARALLEL RESTRICTED
    AS 'MODULE_PATHNAME', 'idgen_hmac_comb';

COMMENT ON FUNCTION idgen.hmac_comb(text, text, interval) IS
'Like keyed_comb(), but with a key from idgen.key_file, so that applications that have the key can generate these '
'prefixes, too (docs/keyed-comb.md). An unknown key raises an error (42704). A role that may call it can generate '
'accepted keys of every area, with every secret key that its database can use.';

CREATE FUNCTION idgen.hmac_comb_at(
    instant timestamptz,
    area text,
    key_name text DEFAULT 'shared',
    period interval DEFAULT '1 hour'
) RETURNS uuid
    LANGUAGE C VOLATILE PARALLEL RESTRICTED
    AS 'MODULE_PATHNAME', 'idgen_hmac_comb_at';

COMMENT ON FUNCTION idgen.hmac_comb_at(timestamptz, text, text, interval) IS
'Like hmac_comb(), but for a given instant, for imports and tests. A role that may call it can determine the '
'times of all keys of hmac_comb(). An infinite instant raises an error (22008).';

CREATE FUNCTION idgen.is_recent_hmac_comb(
    id uuid,
    area text,
    key_name text DEFAULT 'shared',
    tolerance interval DEFAULT '10 minutes',
    past_tolerance interval DEFAULT NULL,
    future_tolerance interval DEFAULT NULL,
    period interval DEFAULT '1 hour',
    clock timestamptz DEFAULT NULL
) RETURNS boolean
    LANGUAGE C STABLE PARALLEL RESTRICTED
    AS 'MODULE_PATHNAME', 'idgen_is_recent_hmac_comb';

COMMENT ON FUNCTION idgen.is_recent_hmac_comb(uuid, text, text, interval, interval, interval, interval, timestamptz) IS
'Tests whether a UUID is of version 4 and has a prefix that hmac_comb() returns for this area and period at some time '
'from clock - past_tolerance to clock + future_tolerance (both default to tolerance). key_name is a list of one to '
'eight names, separated by white space, and each of these keys is accepted. An unknown key raises an error (42704), as '
'does a tolerance that is negative or has months, or a window of more than 64 periods (22023).';

CREATE FUNCTION idgen.check_recent_hmac_id() RETURNS trigger
    LANGUAGE C VOLATILE PARALLEL RESTRICTED
    AS 'MODULE_PATHNAME', 'idgen_check_recent_hmac_id';

COMMENT ON FUNCTION idgen.check_recent_hmac_id() IS
'Trigger function like check_recent_id(), but for keys of hmac_comb(). Its arguments are column, ''area=...'', and '
'any of ''key_name=...'', ''tolerance=...'', ''past_tolerance=...'', ''future_tolerance=...'' and ''period=...'', as '
'in is_recent_hmac_comb(). The role that creates the trigger needs the EXECUTE privilege.';

REVOKE EXECUTE ON FUNCTION idgen.mask_uuid_v7, idgen.unmask_uuid_v7, idgen.permute, idgen.unpermute,
    idgen.hmac_comb, idgen.hmac_comb_at, idgen.is_recent_hmac_comb, idgen.check_recent_hmac_id FROM PUBLIC;

-- ---------------------------------------------------------------------------
-- Creating once
-- ---------------------------------------------------------------------------

CREATE TABLE idgen.creation_identifiers (
    command_id uuid PRIMARY KEY,
    command_name text NOT NULL,
    entity_id uuid,
    entity_number bigint,
    entity_text text COLLATE "C",
    request_hash bigint,
    created_at timestamptz NOT NULL DEFAULT pg_catalog.now(),
    CONSTRAINT creation_identifiers_one_entity
        CHECK (pg_catalog.num_nonnulls(entity_id, entity_number, entity_text) = 1)
) WITH (autovacuum_vacuum_scale_factor = 0.02);     -- rows are purged continuously

CREATE INDEX creation_identifiers_created_at ON idgen.creation_identifiers (created_at);
CREATE INDEX creation_identifiers_entity_id ON idgen.creation_identifiers (entity_id)
    WHERE entity_id IS NOT NULL;
CREATE INDEX creation_identifiers_entity_number ON idgen.creation_identifiers (entity_number)
    WHERE entity_number IS NOT NULL;
CREATE INDEX creation_identifiers_entity_text ON idgen.creation_identifiers (entity_text)
    WHERE entity_text IS NOT NULL;

SELECT pg_catalog.pg_extension_config_dump('idgen.creation_identifiers', '');

COMMENT ON TABLE idgen.creation_identifiers IS
'The entity that each creation command created. Written by idgen.create_once(), which raises an error (42809) if the '
'table is unlogged or partitioned, or is a view.';
COMMENT ON COLUMN idgen.creation_identifiers.command_id IS
'The id that the client assigned to the command, which is the same in every retry.';
COMMENT ON COLUMN idgen.creation_identifiers.command_name IS
'The kind of the command, as named by the application.';
COMMENT ON COLUMN idgen.creation_identifiers.entity_id IS
'The entity that the command created, if a uuid identifies it.';
COMMENT ON COLUMN idgen.creation_identifiers.entity_number IS
'The entity that the command created, if a bigint identifies it.';
COMMENT ON COLUMN idgen.creation_identifiers.entity_text IS
'The entity that the command created, if a string identifies it.';
COMMENT ON COLUMN idgen.creation_identifiers.request_hash IS
'The first 64 bits of the SHA-256 of the request''s canonical text, which is the same on every server version and '
'machine, and in every encoding. NULL if no request was given.';
COMMENT ON COLUMN idgen.creation_identifiers.created_at IS
'The start of the transaction that recorded the command.';

CREATE FUNCTION idgen.create_once(
    command_id uuid,
    proposed_id uuid,
    command_name text,
    request jsonb DEFAULT NULL,
    OUT entity_id uuid,
    OUT created boolean
) RETURNS record
    LANGUAGE C VOLATILE PARALLEL UNSAFE
    AS 'MODULE_PATHNAME', 'idgen_create_once_uuid';

COMMENT ON FUNCTION idgen.create_once(uuid, uuid, text, jsonb) IS
'Makes a creation command safe to retry. The first call with a command id records the proposed id; later calls return '
'the recorded id, with created = false. A recorded command id with another name, request or kind of id raises an '
'error (23514, constraint name creation_identifiers_same_command).';

CREATE FUNCTION idgen.create_once_bigint(
    command_id uuid,
    proposed_id bigint,
    command_name text,
    request jsonb DEFAULT NULL,
    OUT entity_number bigint,
    OUT created boolean
) RETURNS record
    LANGUAGE C VOLATILE PARALLEL UNSAFE
    AS 'MODULE_PATHNAME', 'idgen_create_once_bigint';

COMMENT ON FUNCTION idgen.create_once_bigint(uuid, bigint, text, jsonb) IS
'Like create_once(), but for entities that a bigint identifies.';

CREATE FUNCTION idgen.create_once_text(
    command_id uuid,
    proposed_id text,
    command_name text,
    request jsonb DEFAULT NULL,
    OUT entity_text text,
    OUT created boolean
) RETURNS record
    LANGUAGE C VOLATILE PARALLEL UNSAFE
    AS 'MODULE_PATHNAME', 'idgen_create_once_text';

COMMENT ON FUNCTION idgen.create_once_text(uuid, text, text, jsonb) IS
'Like create_once(), but for entities that a string of 1 to 255 bytes identifies. Another length raises an error '
'(22023).';

CREATE FUNCTION idgen.forget_creation(command_id uuid) RETURNS boolean
    LANGUAGE C VOLATILE PARALLEL UNSAFE STRICT
    AS 'MODULE_PATHNAME', 'idgen_forget_creation';

COMMENT ON FUNCTION idgen.forget_creation(uuid) IS
'Deletes a recorded command, so that the next call with its id records a new one. Returns whether it was recorded. '
'Requires SELECT and DELETE on idgen.creation_identifiers.';

CREATE FUNCTION idgen.forget_creation_of(entity_id uuid) RETURNS bigint
    LANGUAGE C VOLATILE PARALLEL UNSAFE STRICT
    AS 'MODULE_PATHNAME', 'idgen_forget_creation_of_uuid';

COMMENT ON FUNCTION idgen.forget_creation_of(uuid) IS
'Deletes the recorded commands that created an entity, and returns their number. Requires SELECT and DELETE on '
'idgen.creation_identifiers.';

CREATE FUNCTION idgen.forget_creation_of_bigint(entity_number bigint, command_name text) RETURNS bigint
    LANGUAGE C VOLATILE PARALLEL UNSAFE STRICT
    AS 'MODULE_PATHNAME', 'idgen_forget_creation_of_bigint';

COMMENT ON FUNCTION idgen.forget_creation_of_bigint(bigint, text) IS
'Like forget_creation_of(), but for an entity that a bigint and the name of its command identify: order 17 and '
'customer 17 are two entities.';

CREATE FUNCTION idgen.forget_creation_of_text(entity_text text, command_name text) RETURNS bigint
    LANGUAGE C VOLATILE PARALLEL UNSAFE STRICT
    AS 'MODULE_PATHNAME', 'idgen_forget_creation_of_text';

COMMENT ON FUNCTION idgen.forget_creation_of_text(text, text) IS
'Like forget_creation_of(), but for an entity that a string and the name of its command identify.';

CREATE FUNCTION idgen.purge_creations(
    older_than interval,
    command_name text DEFAULT NULL,
    batch_size bigint DEFAULT 10000
) RETURNS bigint
    LANGUAGE C VOLATILE PARALLEL UNSAFE
    AS 'MODULE_PATHNAME', 'idgen_purge_creations';

COMMENT ON FUNCTION idgen.purge_creations(interval, text, bigint) IS
'Deletes recorded commands that are older than older_than (a day has 24 hours), the oldest first and at most '
'batch_size, and returns the number deleted. If command_name is not NULL, deletes only commands with this name. An '
'older_than that is negative or has months, or a batch_size below 1, raises an error (22023), as does a NULL '
'older_than or batch_size (22004).';

CREATE FUNCTION idgen.trim_creations(
    keep bigint,
    command_name text DEFAULT NULL,
    batch_size bigint DEFAULT 10000
) RETURNS bigint
    LANGUAGE C VOLATILE PARALLEL UNSAFE
    AS 'MODULE_PATHNAME', 'idgen_trim_creations';

COMMENT ON FUNCTION idgen.trim_creations(bigint, text, bigint) IS
'Deletes recorded commands except the newest "keep", the oldest first and at most batch_size, and returns the number '
'deleted. If command_name is not NULL, counts and deletes only commands with this name. A negative keep or a '
'batch_size below 1 raises an error (22023), as does a NULL keep or batch_size (22004).';

CREATE FUNCTION idgen.remember_command(history uuid[], command_id uuid, keep bigint DEFAULT 20) RETURNS uuid[]
    LANGUAGE SQL IMMUTABLE PARALLEL SAFE
    RETURN ARRAY(SELECT id FROM (
        SELECT id, n
        FROM ROWS FROM (pg_catalog.unnest(
                CASE WHEN command_id OPERATOR(pg_catalog.=) ANY (history) THEN history
                     ELSE history OPERATOR(pg_catalog.||) command_id END))
             WITH ORDINALITY AS commands (id, n)
        WHERE id IS NOT NULL
        ORDER BY id OPERATOR(pg_catalog.=) command_id DESC, n DESC
        LIMIT keep) AS kept
        ORDER BY n);

COMMENT ON FUNCTION idgen.remember_command(uuid[], uuid, bigint) IS
'The command history of an entity after one more command: newest last, truncated to the newest "keep" (NULL means '
'all), which include the given command id unless keep is 0. A command id that is already in the history keeps its '
'place. A negative keep raises an error (2201W).';

CREATE FUNCTION idgen.has_command(history uuid[], command_id uuid) RETURNS boolean
    LANGUAGE SQL IMMUTABLE PARALLEL SAFE
    RETURN CASE WHEN command_id IS NOT NULL THEN COALESCE(command_id OPERATOR(pg_catalog.=) ANY (history), false) END;

COMMENT ON FUNCTION idgen.has_command(uuid[], uuid) IS
'Tests whether a command id is in the command history of an entity. A NULL history is an empty one.';

-- ---------------------------------------------------------------------------
-- Minimum and maximum
-- ---------------------------------------------------------------------------

CREATE FUNCTION idgen.uuid_smaller(uuid, uuid) RETURNS uuid
    LANGUAGE C IMMUTABLE PARALLEL SAFE STRICT
    AS 'MODULE_PATHNAME', 'idgen_uuid_smaller';

COMMENT ON FUNCTION idgen.uuid_smaller(uuid, uuid) IS
'The smaller of two uuids; transition function of min(uuid).';

CREATE FUNCTION idgen.uuid_larger(uuid, uuid) RETURNS uuid
    LANGUAGE C IMMUTABLE PARALLEL SAFE STRICT
    AS 'MODULE_PATHNAME', 'idgen_uuid_larger';

COMMENT ON FUNCTION idgen.uuid_larger(uuid, uuid) IS
'The larger of two uuids; transition function of max(uuid).';

CREATE AGGREGATE idgen.min(uuid) (
    SFUNC = idgen.uuid_smaller,
    STYPE = uuid,
    COMBINEFUNC = idgen.uuid_smaller,
    SORTOP = OPERATOR(pg_catalog.<),
    PARALLEL = SAFE
);

COMMENT ON AGGREGATE idgen.min(uuid) IS
'The smallest uuid, read from one end of an index if there is an index.';

CREATE AGGREGATE idgen.max(uuid) (
    SFUNC = idgen.uuid_larger,
    STYPE = uuid,
    COMBINEFUNC = idgen.uuid_larger,
    SORTOP = OPERATOR(pg_catalog.>),
    PARALLEL = SAFE
);

COMMENT ON AGGREGATE idgen.max(uuid) IS
'The greatest uuid, read from one end of an index if there is an index.';

-- ---------------------------------------------------------------------------
-- Default privileges, as they were before
-- ---------------------------------------------------------------------------

DO $$
DECLARE
    installer name := (SELECT pg_get_userbyid(extowner) FROM pg_extension WHERE extname = 'idgen');
BEGIN
    EXECUTE format('ALTER DEFAULT PRIVILEGES IN SCHEMA idgen REVOKE ALL ON TABLES FROM %I', installer);
    EXECUTE format('ALTER DEFAULT PRIVILEGES IN SCHEMA idgen REVOKE ALL ON SEQUENCES FROM %I', installer);
    EXECUTE current_setting('idgen_script.default_privileges');
END $$;
