-- trigger.sql: a table that checks its ids with a trigger, and a late batch

CREATE TABLE invoices (id uuid PRIMARY KEY, line int);
\echo

CREATE TRIGGER check_id BEFORE INSERT ON invoices
FOR EACH ROW EXECUTE FUNCTION idgen.check_on_insert('id', 'short_comb');

\echo
\echo 'Now the table refuses the ids of yesterday:'
\echo

\set ON_ERROR_STOP off
INSERT INTO invoices SELECT order_id::uuid, line FROM request WHERE line IN (13, 14);
\set ON_ERROR_STOP on

\echo
\echo 'The session that loads the batch sets the clock to the time recorded with it. This'
\echo 'requires superuser rights, or GRANT SET ON PARAMETER idgen.clock:'
\echo

\set ECHO none
SELECT batch_clock FROM request WHERE line = 13 \gset
\set ECHO queries

BEGIN;
SET LOCAL idgen.clock = :'batch_clock';
INSERT INTO invoices SELECT order_id::uuid, line FROM request WHERE line IN (13, 14)
RETURNING *;
COMMIT;
