-- pgtle.sql: registers the portable edition as a Trusted Language Extension, for
-- servers with pg_tle (https://github.com/aws/pg_tle).
--
--   cd portable && psql -f pgtle.sql
--   CREATE EXTENSION idgen_portable;
--
-- The extension consists of idgen-portable.sql in this folder, without its BEGIN and
-- COMMIT, and includes both tables in dumps. Its script is tested; the call of
-- pgtle.install_extension() is not, because pg_tle is not packaged for the tests.

\set ON_ERROR_STOP on
\set script `sed -e '/^BEGIN;$/d' -e '/^COMMIT;$/d' idgen-portable.sql`

SELECT pgtle.install_extension('idgen_portable', '1.0',
    'Identifiers for primary keys: generate, check, create once (portable edition)',
    :'script' || $$
SELECT pg_catalog.pg_extension_config_dump('idgen.creation_identifiers', '');
SELECT pg_catalog.pg_extension_config_dump('idgen.id_prefixes',
    'WHERE EXISTS (SELECT FROM pg_catalog.pg_type t WHERE t.oid OPERATOR(pg_catalog.=) id_prefixes.domain)');
$$);
