-- Installs the portable edition, and a second time, which is its upgrade. The tests
-- that follow are those of the C edition.
\set ECHO none
\getenv folder PG_ABS_SRCDIR
\set file :folder '/portable/idgen-portable.sql'
\i :file
\i :file
\set ECHO all
SELECT count(*) AS extensions FROM pg_extension WHERE extname = 'idgen';
