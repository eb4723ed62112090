-- Install the portable edition, and install it again, as for an upgrade. The following tests are those of the
-- extension.
\set ECHO none
\getenv folder PG_ABS_SRCDIR
\cd :folder
\i uuids.sql
\i checks.sql
\i text_ids.sql
\i create_once.sql
\i uuids.sql
\i checks.sql
\i text_ids.sql
\i create_once.sql
\set ECHO all
SELECT count(*) AS extensions FROM pg_extension WHERE extname = 'idgen';
