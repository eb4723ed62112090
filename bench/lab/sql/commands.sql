-- Record :rows commands of a day, with the ids :id and the entities :entity of the type :type. Prepare :added further
-- commands, and create a procedure that executes a range of them, each in its own transaction, with the function
-- :function. If :with_row is true, a command also inserts its row.
TRUNCATE idgen.creation_identifiers;
DROP TABLE IF EXISTS idgen_bench.rows, idgen_bench.commands;
CREATE TABLE idgen_bench.rows (id :type PRIMARY KEY, payload int NOT NULL) WITH (autovacuum_enabled = false);
CREATE TABLE idgen_bench.commands (number bigint PRIMARY KEY, id uuid NOT NULL, entity :type NOT NULL);

WITH arrived AS MATERIALIZED (
    SELECT i, moment, :id AS id, :entity AS entity
    FROM (SELECT timestamptz 'epoch' + (:clock + i * :spacing) * interval '1 microsecond' AS moment, i
          FROM generate_series(1, :rows::bigint) i) arrivals
), recorded AS (
    INSERT INTO idgen.creation_identifiers (command_id, command_name, :column, request_hash, created_at)
    SELECT id, 'create row', entity, i, moment FROM arrived
)
INSERT INTO idgen_bench.rows SELECT entity, i FROM arrived WHERE :with_row;

INSERT INTO idgen_bench.commands
SELECT i - :rows, :id, :entity
FROM (SELECT timestamptz 'epoch' + (:clock + i * :spacing) * interval '1 microsecond' AS moment, i
      FROM generate_series(:rows + 1::bigint, :rows + :added) i) arrivals;
ANALYZE idgen.creation_identifiers, idgen_bench.commands;

SELECT format($f$
    CREATE OR REPLACE PROCEDURE idgen_bench.execute_commands(first bigint, last bigint) LANGUAGE plpgsql AS $$
    DECLARE
        command record;
        made record;
    BEGIN
        FOR command IN SELECT * FROM idgen_bench.commands WHERE number BETWEEN first AND last ORDER BY number LOOP
            SELECT * INTO made
            FROM idgen.%I(command.id, command.entity, 'create row', '{"payload": 0}') AS once (entity, created);
            IF made.created AND %s THEN
                INSERT INTO idgen_bench.rows VALUES (made.entity, 0);
            END IF;
            COMMIT;
        END LOOP;
    END
    $$ $f$, :'function', :'with_row') \gexec
