-- keys.sql: a table whose primary key is a short COMB, and what its keys are

CREATE TABLE orders (
    id       uuid PRIMARY KEY DEFAULT idgen.short_comb(),
    customer text NOT NULL,
    amount   numeric(10,2) NOT NULL
);
\echo

INSERT INTO orders (customer, amount)
VALUES ('Ann', 10), ('Bob', 20), ('Cid', 30)
RETURNING *;

\echo 'The keys begin with the same four digits, the number of this minute. The rest'
\echo 'is random. So new rows lie side by side in the index, as with a bigint, but'
\echo 'nobody can guess a key. Each minute counts the prefix up by one, and after 45.5'
\echo 'days it begins again:'
\echo

SELECT n AS minutes_from_now,
       idgen.short_comb(clock => now() + n * interval '1 minute')
FROM generate_series(0, 3) AS n;

\echo 'The database can read a key, and tell whether it was made within ten minutes of'
\echo 'now. Of random UUIDs, one in three thousand would pass:'
\echo

SELECT left(id::text, 4) AS prefix,
       idgen.uuid_version(id) AS version,
       idgen.short_comb_timestamp(id) AS made_in_the_minute,
       idgen.is_recent_short_comb(id) AS made_about_now,
       idgen.is_recent_short_comb(gen_random_uuid()) AS random_passes
FROM orders LIMIT 1;
