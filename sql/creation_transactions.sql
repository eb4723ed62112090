-- create_once() in savepoints, exception blocks, procedures and cursors of one session. Commands that are rolled back
-- are not recorded. (specs/create_once*.spec test two and three sessions, and t/022_transactions.pl tests two-phase
-- commit.)
CREATE TABLE orders (id bigint, command uuid);
CREATE FUNCTION command(n int) RETURNS uuid IMMUTABLE LANGUAGE sql RETURN lpad(n::text, 32, '0')::uuid;
-- create an order once, and return its number
CREATE FUNCTION place_order(n int, number bigint) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    o record;
BEGIN
    SELECT * INTO o FROM idgen.create_once_bigint(command(n), number, 'place order');
    IF o.created THEN
        INSERT INTO orders VALUES (o.entity_number, command(n));
    END IF;
    RETURN o.entity_number;
END $$;
-- return the recorded commands and the orders of each
CREATE VIEW recorded AS
SELECT right(command_id::text, 1) AS command, entity_number,
       (SELECT count(*) FROM orders WHERE command = command_id AND id = entity_number) AS orders
FROM idgen.creation_identifiers ORDER BY command_id;

--
-- Savepoints
--
BEGIN;
SELECT place_order(1, 10) AS recorded;
SAVEPOINT s;
SELECT place_order(1, 11) AS known, place_order(2, 20) AS recorded;
SELECT place_order(2, 21) AS known;
ROLLBACK TO s;
SELECT place_order(2, 22) AS recorded_again;
SAVEPOINT t;
SELECT place_order(3, 30) AS recorded;
RELEASE t;
SAVEPOINT u;
SELECT idgen.forget_creation(command(3));
SELECT place_order(3, 31) AS recorded_again;
ROLLBACK TO u;
SELECT place_order(3, 32) AS known;
COMMIT;
TABLE recorded;
TRUNCATE idgen.creation_identifiers, orders;

--
-- PL/pgSQL: exception blocks, and a procedure with COMMIT and ROLLBACK
--
DO $$ BEGIN
    PERFORM place_order(6, 1);
    BEGIN
        PERFORM place_order(7, 2);
        PERFORM 1 / 0;
    EXCEPTION WHEN division_by_zero THEN
        ASSERT place_order(7, 3) = 3, 'the command still exists';
    END;
    BEGIN
        PERFORM idgen.create_once_bigint(command(6), 4, 'another command');
        ASSERT false, 'another command was accepted';
    EXCEPTION WHEN check_violation THEN
        ASSERT place_order(6, 5) = 1, 'the first command is lost';
    END;
END $$;
TABLE recorded;
TRUNCATE idgen.creation_identifiers, orders;
DO $$ BEGIN
    FOR i IN 1 .. 6 LOOP
        PERFORM place_order(i, i);
        IF i % 2 = 0 THEN ROLLBACK; ELSE COMMIT; END IF;
    END LOOP;
END $$;
TABLE recorded;
TRUNCATE idgen.creation_identifiers, orders;

--
-- Commands are recorded as the rows of a cursor are fetched
--
BEGIN;
DECLARE c CURSOR FOR SELECT entity_number, created
FROM generate_series(1, 1000) i, idgen.create_once_bigint(command(i), i::bigint, 'order');
FETCH 3 FROM c;
SAVEPOINT s;
FETCH 2 FROM c;
ROLLBACK TO s;
CLOSE c;
COMMIT;
TABLE recorded;
DROP VIEW recorded;
DROP FUNCTION place_order, command;
DROP TABLE orders;
TRUNCATE idgen.creation_identifiers;
