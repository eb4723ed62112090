-- keys.sql: a table whose primary key is a short COMB, and the parts of its keys

CREATE TABLE orders (
    id       uuid PRIMARY KEY DEFAULT idgen.short_comb(),
    customer text NOT NULL,
    amount   numeric(10,2) NOT NULL
);
\echo

INSERT INTO orders (customer, amount)
VALUES ('Ann', 10), ('Bob', 20), ('Cid', 30)
RETURNING *;

\echo 'The keys begin with the same four digits, the number of this minute. The other'
\echo 'digits are random. So new rows are side by side in the index, as with a bigint,'
\echo 'but a key cannot be guessed. The prefix increases by one each minute, and starts'
\echo 'again after 45.5 days:'
\echo

SELECT n AS minutes_from_now,
       idgen.short_comb(clock => now() + n * interval '1 minute')
FROM generate_series(0, 3) AS n;

\echo 'The database can read the time of a key, and check whether it is within ten'
\echo 'minutes of now. One random UUID in three thousand passes this check:'
\echo

SELECT left(id::text, 4) AS prefix,
       idgen.uuid_version(id) AS version,
       idgen.short_comb_timestamp(id) AS made_in_the_minute,
       idgen.is_recent_short_comb(id) AS made_about_now,
       idgen.is_recent_short_comb(gen_random_uuid()) AS random_passes
FROM orders LIMIT 1;
