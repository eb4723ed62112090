-- idgen-portable-drop.sql: removes what idgen-portable.sql created, with the recorded
-- commands and prefixes. Domains of create_id_domain(), and columns and constraints that
-- use the functions, are an error that names them; nothing is dropped with CASCADE.
-- What else is in the schema idgen stays, and the schema with it.

DO $drop$
DECLARE
    names text[] := ARRAY[
        'uuid_v4', 'uuid_v5', 'uuid_v7', 'comb', 'short_comb',
        'uuid_version', 'uuid_variant', 'uuid_timestamp', 'uuid_text_timestamp', 'comb_timestamp', 'short_comb_timestamp',
        'uuid_v7_floor', 'uuid_v7_ceil', 'uuid_v7_within', 'comb_floor', 'comb_ceil', 'comb_within',
        'ulid_floor', 'ulid_ceil', 'ulid_within',
        'is_uuid', 'is_recent_short_comb', 'is_recent_comb', 'is_recent_uuid_v7',
        'check_recent_short_comb', 'check_recent_comb', 'check_recent_uuid_v7', 'check_on_insert',
        'uuid_to_base', 'uuid_from_base', 'bigint_to_base', 'bigint_from_base', 'prefixed_id', 'prefixed_id_to_uuid', 'prefixed_id_prefix', 'is_prefixed_id',
        'create_id_domain', 'parse_prefixed_id', 'typeid', 'typeid_from_uuid', 'typeid_to_uuid', 'typeid_prefix',
        'ulid', 'ulid_to_uuid', 'ulid_from_uuid', 'ulid_timestamp',
        'create_once', 'create_once_bigint', 'find_creation', 'forget_creation', 'forget_creation_of',
        'forget_creation_of_bigint', 'purge_creations', 'trim_creations', 'remember_command', 'has_command',
        'uuid_smaller', 'uuid_larger', 'min', 'max'];
    caller_search_path text := current_setting('search_path');
    ours oid[];
    users text;
BEGIN
    PERFORM set_config('search_path', 'pg_catalog, pg_temp', true);

    IF EXISTS (SELECT FROM pg_extension WHERE extname IN ('idgen', 'idgen_portable')) THEN
        RAISE EXCEPTION 'idgen is installed as an extension'
            USING ERRCODE = 'object_not_in_prerequisite_state', HINT = 'Use DROP EXTENSION.';
    END IF;
    SELECT array_agg(oid) INTO ours
    FROM pg_proc
    WHERE pronamespace = to_regnamespace('idgen') AND (proname = ANY (names) OR proname LIKE 'portable\_%');
    IF ours IS NULL THEN
        RAISE NOTICE 'the portable edition of idgen is not installed, skipping';
        RETURN;
    END IF;

    SELECT string_agg(DISTINCT pg_describe_object(classid, objid, objsubid), ', ') INTO users
    FROM pg_depend
    WHERE refclassid = 'pg_proc'::regclass AND refobjid = ANY (ours) AND deptype IN ('n', 'a')
      AND NOT (classid = 'pg_proc'::regclass AND objid = ANY (ours));
    IF users IS NOT NULL THEN
        RAISE EXCEPTION 'other objects use the portable edition of idgen'
            USING ERRCODE = 'dependent_objects_still_exist', DETAIL = format('They are: %s.', users),
                  HINT = 'Drop them first, or change them.';
    END IF;

    EXECUTE (SELECT 'DROP ROUTINE ' || string_agg(oid::regprocedure::text, ', ') FROM pg_proc WHERE oid = ANY (ours));
    DROP TABLE idgen.creation_identifiers, idgen.id_prefixes;
    IF EXISTS (SELECT FROM pg_depend WHERE refclassid = 'pg_namespace'::regclass AND refobjid = 'idgen'::regnamespace) THEN
        RAISE NOTICE 'schema "idgen" contains other objects and stays';
    ELSE
        DROP SCHEMA idgen;
    END IF;
    PERFORM set_config('search_path', caller_search_path, true);
END
$drop$;
