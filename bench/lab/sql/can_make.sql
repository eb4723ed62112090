-- Can this server make the key, in each way that keys.txt says?
BEGIN;
CREATE TEMPORARY TABLE made (id :type :column PRIMARY KEY, payload int);
INSERT INTO made (payload) VALUES (0);
INSERT INTO made (:columns)
    SELECT :values FROM (SELECT now() AS moment, 1::bigint AS i) row;
ROLLBACK;
