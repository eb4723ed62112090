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
\echo 'The batch is checked by the time recorded with it instead:'
\echo

BEGIN;
ALTER TABLE invoices DISABLE TRIGGER check_id;
INSERT INTO invoices
SELECT idgen.check_recent_short_comb(order_id::uuid, clock => batch_clock::timestamptz), line
FROM request WHERE line IN (13, 14)
RETURNING *;
ALTER TABLE invoices ENABLE TRIGGER check_id;
COMMIT;
