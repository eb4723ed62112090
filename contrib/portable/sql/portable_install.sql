-- Installs the portable edition, and a second time, which is its upgrade. The tests
-- that follow are those of the C edition.
\set ECHO none
\getenv folder PG_ABS_SRCDIR
\set uuids :folder '/uuids.sql'
\set text_ids :folder '/text_ids.sql'
\set create_once :folder '/create_once.sql'
\i :uuids
\i :text_ids
\i :create_once
\i :uuids
\i :text_ids
\i :create_once
\set ECHO all
SELECT count(*) AS extensions FROM pg_extension WHERE extname = 'idgen';
