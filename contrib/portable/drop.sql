/*
 * drop.sql: remove all objects that the other files created, and the recorded commands.
 *
 *   psql -f drop.sql
 *
 * This file is one statement. It drops the tables, the functions listed below, and the
 * functions whose names begin with "portable_". It does not use CASCADE: if another object
 * uses one of them, the server raises an error that names this object, and nothing is
 * dropped. Other objects in the schema are preserved.
 */

DO $drop$
DECLARE
    caller_path CONSTANT pg_catalog.text := pg_catalog.current_setting('search_path');
    signatures CONSTANT pg_catalog.text[] := ARRAY[
        'uuid_v7(timestamptz)', 'named_uuid_v7(timestamptz,uuid,text)', 'comb(timestamptz)',
        'short_comb(interval,int,int,timestamptz)',
        'keyed_comb(text,interval,timestamptz)', 'uuid_version(uuid)', 'uuid_variant(uuid)', 'uuid_timestamp(uuid)',
        'uuid_text_timestamp(text)', 'comb_timestamp(uuid)', 'short_comb_timestamp(uuid,interval,int,timestamptz)',
        'uuid_v7_floor(timestamptz)', 'comb_floor(timestamptz)', 'uuid_v7_within(uuid,timestamptz,timestamptz)',
        'comb_within(uuid,timestamptz,timestamptz)', 'is_uuid(text,int)',
        'is_recent_short_comb(uuid,interval,interval,interval,interval,int,timestamptz)',
        'is_recent_comb(uuid,interval,interval,interval,timestamptz)',
        'is_recent_uuid_v7(uuid,interval,interval,interval,timestamptz)',
        'check_recent_short_comb(uuid,interval,interval,interval,interval,int,timestamptz)',
        'check_recent_comb(uuid,interval,interval,interval,timestamptz)',
        'check_recent_uuid_v7(uuid,interval,interval,interval,timestamptz)', 'check_recent_id()',
        'created_near(uuid,timestamptz,interval)', 'uuid_to_base(uuid,int)', 'uuid_from_base(text,int)',
        'prefixed_id_from_uuid(text,uuid)', 'prefixed_id_to_uuid(text,text)', 'prefixed_id_prefix(text)',
        'is_prefixed_id(text,text)', 'typeid_from_uuid(text,uuid)', 'typeid(text,timestamptz)',
        'typeid_to_uuid(text,text)', 'typeid_prefix(text)', 'is_typeid(text,text)', 'ulid_to_uuid(text)',
        'ulid_from_uuid(uuid)', 'ulid(timestamptz)', 'is_ulid(text)', 'ulid_timestamp(text)', 'ulid_floor(timestamptz)',
        'ulid_within(text,timestamptz,timestamptz)', 'create_once(uuid,uuid,text,jsonb)',
        'create_once_bigint(uuid,bigint,text,jsonb)', 'create_once_text(uuid,text,text,jsonb)', 'forget_creation(uuid)',
        'forget_creation_of(uuid)', 'forget_creation_of_bigint(bigint,text)', 'forget_creation_of_text(text,text)',
        'purge_creations(interval,text,bigint)', 'trim_creations(bigint,text,bigint)'];
BEGIN
    PERFORM pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
    IF NOT EXISTS (SELECT FROM pg_proc
                   WHERE pronamespace = to_regnamespace('idgen') AND starts_with(proname, 'portable_file_')) THEN
        RAISE NOTICE 'the portable edition of idgen is not installed, skipping';
    ELSE
        EXECUTE (SELECT 'DROP ROUTINE ' || string_agg(oid::regprocedure::text, ', ') FROM pg_proc
                 WHERE pronamespace = 'idgen'::regnamespace
                   AND (starts_with(proname, 'portable_')
                        OR oid IN (SELECT to_regprocedure('idgen.' || s) FROM unnest(signatures) s)));
        IF to_regclass('idgen.creation_identifiers') IS NOT NULL THEN
            DROP TABLE idgen.creation_identifiers;
        END IF;
        IF to_regclass('idgen.portable_secret') IS NOT NULL THEN
            DROP TABLE idgen.portable_secret;
        END IF;
        BEGIN
            DROP SCHEMA idgen;
        EXCEPTION WHEN dependent_objects_still_exist THEN
            RAISE NOTICE 'schema "idgen" contains other objects and stays';
        END;
    END IF;
    PERFORM set_config('search_path', caller_path, true);
END
$drop$;
