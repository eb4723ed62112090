-- check.sql: compare the results with the expected ones. Requires lines_in_file.

CREATE VIEW account AS
SELECT what, found, expected, found = expected AS holds
FROM (VALUES
    ('lines of the file in the table of requests',
        (SELECT count(*) FROM request), :lines_in_file),
    ('lines with a verdict',
        (SELECT count(*) FROM verdict), :lines_in_file),
    ('lines 1, 2, 3, 10, 13 and 14 created an order',
        (SELECT count(*) FROM verdict
         WHERE verdict = 'created' AND line IN (1, 2, 3, 10, 13, 14)), 6),
    ('line 8 got the order of line 1',
        (SELECT count(*) FROM verdict AS first JOIN verdict AS again USING (order_id)
         WHERE first.line = 1 AND again.line = 8 AND again.verdict = 'replayed'), 1),
    ('lines that were refused',
        (SELECT count(*) FROM verdict WHERE verdict = 'refused'), 8),
    ('orders',
        (SELECT count(*) FROM orders), 6),
    ('recorded commands that have their order',
        (SELECT count(*) FROM idgen.creation_identifiers JOIN orders ON id = entity_id), 6),
    ('recorded commands without an order',
        (SELECT count(*) FROM idgen.creation_identifiers
         WHERE entity_id NOT IN (SELECT id FROM orders)), 0),
    ('orders without a recorded command',
        (SELECT count(*) FROM orders
         WHERE id NOT IN (SELECT entity_id FROM idgen.creation_identifiers)), 0)
) AS entries (what, found, expected);
