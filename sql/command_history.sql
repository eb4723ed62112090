-- Command histories, which the portable edition does not have.
--
-- The command history of an entity
--
SELECT n, right(h[1]::text, 2) AS oldest, right(h[cardinality(h)]::text, 2) AS newest, cardinality(h)
FROM (WITH RECURSIVE r (n, h) AS (
          SELECT 0, NULL::uuid[]
          UNION ALL
          SELECT n + 1, idgen.remember_command(h, ('c0000000-0000-4000-8000-' || lpad((n + 1)::text, 12, '0'))::uuid)
          FROM r WHERE n < 25)
      SELECT * FROM r) s
WHERE n IN (1, 2, 19, 20, 21, 25);

CREATE TEMP TABLE entity (id int, history uuid[]);
INSERT INTO entity VALUES (1, NULL);
UPDATE entity SET history = idgen.remember_command(history, 'c0000000-0000-4000-8000-000000000001', 3);
UPDATE entity SET history = idgen.remember_command(history, 'c0000000-0000-4000-8000-000000000002', 3);
UPDATE entity SET history = idgen.remember_command(history, 'c0000000-0000-4000-8000-000000000003', 3);
UPDATE entity SET history = idgen.remember_command(history, 'c0000000-0000-4000-8000-000000000001', 3);
SELECT history FROM entity;
UPDATE entity SET history = idgen.remember_command(history, 'c0000000-0000-4000-8000-000000000004', 3);
SELECT history FROM entity;
SELECT idgen.has_command(history, 'c0000000-0000-4000-8000-000000000004') AS newest,
       idgen.has_command(history, 'c0000000-0000-4000-8000-000000000002') AS oldest,
       idgen.has_command(history, 'c0000000-0000-4000-8000-000000000001') AS dropped,
       idgen.has_command(NULL, 'c0000000-0000-4000-8000-000000000001') AS no_history,
       idgen.has_command('{}', 'c0000000-0000-4000-8000-000000000001') AS empty,
       idgen.has_command(history, NULL) AS no_command
FROM entity;
SELECT idgen.remember_command('{}', 'c0000000-0000-4000-8000-000000000001', 0) AS keep_none,
       idgen.remember_command(history, 'c0000000-0000-4000-8000-000000000003', 1) AS known_but_cut
FROM entity;
-- a command that the history contains is kept, even if it is not among the newest
SELECT keep, ARRAY(SELECT right(id::text, 1) FROM unnest(idgen.remember_command(history, command_id, keep)) id)
    AS history
FROM (SELECT array_agg(('c0000000-0000-4000-8000-00000000000' || n)::uuid ORDER BY n) AS history
    FROM generate_series(1, 5) n) h,
     (VALUES ('c0000000-0000-4000-8000-000000000002'::uuid)) c (command_id), generate_series(0, 6) keep;
-- NULL elements are skipped
SELECT idgen.remember_command(ARRAY[NULL, 'c0000000-0000-4000-8000-000000000001', NULL, NULL]::uuid[],
    'c0000000-0000-4000-8000-000000000002') AS remembered,
       idgen.has_command(ARRAY[NULL, 'c0000000-0000-4000-8000-000000000001', NULL]::uuid[],
       'c0000000-0000-4000-8000-000000000001') AS has,
       idgen.has_command(ARRAY[NULL]::uuid[], '00000000-0000-0000-0000-000000000000') AS has_not;
-- a long history, and an array with a lower bound other than 1
SELECT cardinality(idgen.remember_command(array_agg(gen_random_uuid()), 'c0000000-0000-4000-8000-000000000001',
    100000)) AS long FROM generate_series(1, 10000);
SELECT idgen.remember_command('[5:6]={c0000000-0000-4000-8000-000000000001,c0000000-0000-4000-8000-000000000002}',
    'c0000000-0000-4000-8000-000000000003', 2) AS bounds;
