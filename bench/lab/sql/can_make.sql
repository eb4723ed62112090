-- Fails if this server cannot generate the key in both ways of keys.txt.
BEGIN;
CREATE TEMPORARY TABLE made (id :type :column PRIMARY KEY, payload int);
INSERT INTO made (payload) VALUES (0);
INSERT INTO made (:columns)
    SELECT :values FROM (SELECT now() AS moment, 1::bigint AS i, interval '1 hour' AS period) row;
ROLLBACK;
