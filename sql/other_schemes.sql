-- The results of readers, conversions and conditions for identifiers of every scheme, and for text in other forms. "="
-- is the time of the samples, "v" is another value, "t" and "f" are true and false, "-" is NULL, and E is an error
-- (22023, 22P02 or 23514). (sql/keys.sql tests functions that use the key file.)
SET timezone = 'UTC';
SET datestyle = 'ISO, YMD';

CREATE FUNCTION outcome(expression text, id text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    at text := '2026-11-20 03:44:00+00';    -- the time of all samples
    result text;
BEGIN
    expression := regexp_replace(expression, '\mid\M', quote_literal(id));
    EXECUTE 'SELECT (idgen.' || regexp_replace(expression, '\mat\M', quote_literal(at)) || ')::text' INTO result;
    RETURN CASE result WHEN 'true' THEN 't' WHEN 'false' THEN 'f' WHEN at THEN '='
        ELSE CASE WHEN result IS NULL THEN '-' WHEN length(result) <= 2 THEN result ELSE 'v' END END;
EXCEPTION WHEN OTHERS THEN
    RETURN CASE WHEN SQLSTATE IN ('22023', '22P02', '23514') THEN 'E' ELSE SQLSTATE END;
END $$;

--
-- UUIDs. "laravel" has 48 bits of 10 us, "ncs" is a ULID in a column of type uuid, and the results of md5() have a
-- version and variant by chance.
--
SELECT expression, sample, outcome(expression, id) AS cell
FROM unnest(ARRAY['uuid_version(id)', 'uuid_timestamp(id)', 'uuid_text_timestamp(id)', 'comb_timestamp(id)',
        'suffix_comb_timestamp(id)', 'short_comb_timestamp(id, clock => at)', 'uuid_v7_within(id, ''-infinity'')',
        'comb_within(id, ''-infinity'')', 'is_recent_uuid_v7(id, clock => at)', 'is_recent_comb(id, clock => at)',
        'is_recent_short_comb(id, clock => at)', 'check_recent_uuid_v7(id, clock => at)',
        'check_recent_comb(id, clock => at)', 'check_recent_short_comb(id, clock => at)', 'created_near(id, at)',
        'uuid_v1_to_v6(id)', 'uuid_v6_to_v1(id)', 'uuid_v1_to_lambert_comb(id)',
        'lambert_comb_to_uuid_v1(id)']) expression,
    (VALUES ('v1', '9f0e4000-e494-11f1-8a2b-0123456789ab'), ('v4', '919108f7-52d1-4320-9bac-f847db4148a8'),
        ('v5', '2ed6657d-e927-568b-95e1-2665a8aea6a2'), ('v6', '1f1e4949-f0e4-6000-8a2b-0123456789ab'),
        ('v7', '01a1f70d-d000-7abc-8def-0123456789ab'), ('v13', '1f1e4949-f0e4-d000-8a2b-0123456789ab'),
        ('comb', '01a1f70d-d000-4abc-8def-0123456789ab'), ('suffix', '9abc8def-0123-4abc-8def-01a1f70dd000'),
        ('short', '8780c1ac-3f5e-4d0e-9a51-0b8e4d3c2a17'), ('laravel', 'a3448165-4000-4abc-8def-0123456789ab'),
        ('ncs', '01a1f70d-d000-7abc-0def-0123456789ab'), ('md1', '07cdfd23-373b-17c6-b337-251c22b7ea57'),
        ('md6', '02a32ad2-669e-6fe2-98e6-07fe7cc0e1a0'), ('md7', '01882513-d5fa-7c32-9e94-0dda99b12147'),
        ('md13', '08d98638-c6fc-d194-a4b1-e6992063e944'), ('nil', '00000000-0000-0000-0000-000000000000'),
        ('max', 'ffffffff-ffff-ffff-ffff-ffffffffffff')) s (sample, id)
WHERE to_regproc('idgen.' || split_part(expression, '(', 1)) IS NOT NULL
\crosstabview

--
-- Text: each form in upper and lower case, and a ULID with letters that are read as digits
--
SELECT expression, sample, outcome(expression, id) AS cell
FROM unnest(ARRAY['is_ulid(id)', 'ulid_timestamp(id)', 'ulid_to_uuid(id)', 'ulid_within(id, ''-infinity'')',
        'is_object_id(id)', 'object_id_timestamp(id)', 'object_id_within(id, ''-infinity'')', 'is_typeid(id)',
        'typeid_to_uuid(id)', 'typeid_prefix(id)', 'is_prefixed_id(id)', 'prefixed_id_to_uuid(id)',
        'prefixed_id_prefix(id)',
        'parse_prefixed_id(id)', 'is_uuid(id)', 'uuid_text_timestamp(id)', 'uuid_from_base(id, 32)']) expression,
    (VALUES ('ULID', '01M7VGVM00FAY8VVR14D2PF2DB'), ('ulid', '01m7vgvm00fay8vvr14d2pf2db'),
        ('alias', '0lM7VGVMO0FAY8VVR14D2PF2DB'), ('object', '6affc2000123456789abcdef'),
        ('OBJECT', '6AFFC2000123456789ABCDEF'), ('typeid', 'user_01m7vgvm00fay8vvr14d2pf2db'),
        ('TYPEID', 'user_01M7VGVM00FAY8VVR14D2PF2DB'), ('prefix', 'acct_03h9oy13cdxgblsxzhv45ndm3'),
        ('PREFIX', 'acct_03H9OY13CDXGBLSXZHV45NDM3'), ('uuid', '01a1f70d-d000-7abc-8def-0123456789ab'),
        ('UUID', '01A1F70D-D000-7ABC-8DEF-0123456789AB'), ('braces', '{01a1f70d-d000-7abc-8def-0123456789ab}'),
        ('word', 'no identifier')) s (sample, id)
WHERE to_regproc('idgen.' || split_part(expression, '(', 1)) IS NOT NULL
\crosstabview

--
-- Numbers
--
SELECT expression, sample, outcome(expression, id) AS cell
FROM unnest(ARRAY['snowflake_timestamp(id)', 'snowflake_node(id)', 'snowflake_counter(id)',
        'snowflake_within(id, ''-infinity'')', 'js_id_timestamp(id)', 'js_id_node(id)', 'js_id_counter(id)',
        'js_id_within(id, ''-infinity'')', 'trace_id_timestamp(id, at)', 'trace_id_node(id)', 'trace_id_counter(id)',
        'decimal_id_parts(id)']) expression,
    (VALUES ('snowflake', '911461853429764101'), ('twitter', '2123623365473210373'), ('js_id', '455730926780417'),
        ('trace', '4607323156292567041'), ('decimal', '14150009200065'), ('sonyflake', '646957366247882755'),
        ('sequence', '1000'), ('zero', '0'), ('negative', '-1')) s (sample, id)
WHERE to_regproc('idgen.' || split_part(expression, '(', 1)) IS NOT NULL
\crosstabview
DROP FUNCTION outcome;
