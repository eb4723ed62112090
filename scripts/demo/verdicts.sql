-- verdicts.sql: from the requests of clients to orders

\echo 'Then one function takes a request. Is its order id a UUID? Was that made about'
\echo 'now, or about the time that whoever collected the batch recorded with it? Then'
\echo 'create_once() tells whether the command is new, and only a new one makes an'
\echo 'order. Whatever fails half way is undone by the block with EXCEPTION, the record'
\echo 'of the command included.'
\echo

CREATE TABLE verdict (
    line     int PRIMARY KEY REFERENCES request,
    verdict  text NOT NULL CHECK (verdict IN ('created', 'replayed', 'refused')),
    order_id uuid,
    reason   text
);
\echo

CREATE FUNCTION take(r request) RETURNS verdict LANGUAGE plpgsql AS $$
DECLARE
    v   verdict;
    was record;
BEGIN
    v.line := r.line;
    v.verdict := 'refused';
    IF idgen.is_uuid(r.command_id) IS NOT TRUE THEN
        v.reason := 'command id is not a UUID';
    ELSIF idgen.is_uuid(r.order_id) IS NOT TRUE THEN
        v.reason := 'order id is not a UUID';
    ELSIF NOT idgen.is_recent_short_comb(r.order_id::uuid, clock => r.batch_clock::timestamptz) THEN
        v.reason := 'order id is not of this time';
    ELSE
        was := idgen.create_once(r.command_id::uuid, r.order_id::uuid,
                                 'create order', r.request::jsonb);
        IF was.created THEN
            INSERT INTO orders
            SELECT was.entity_id, o.customer, o.amount
            FROM jsonb_populate_record(NULL::orders, r.request::jsonb) AS o;
        END IF;
        v.order_id := was.entity_id;
        v.verdict := CASE WHEN was.created THEN 'created' ELSE 'replayed' END;
    END IF;
    RETURN v;
EXCEPTION WHEN OTHERS THEN
    v.reason := SQLSTATE || ': ' || SQLERRM;
    RETURN v;
END $$;
\echo

INSERT INTO verdict
SELECT v.* FROM (SELECT r FROM request AS r ORDER BY line) AS next, take(next.r) AS v;

\echo
\echo 'Every line of the file got its verdict:'
\echo

SELECT line, note, verdict, reason
FROM request JOIN verdict AS v USING (line) ORDER BY line;

\echo 'Line 8 was a retry: the client had not seen the answer, and asked again with'
\echo 'another id. It got the id of its order back, and no second order was made:'
\echo

SELECT line, left(r.command_id, 13) AS command, left(r.order_id, 13) AS proposed,
       left(v.order_id::text, 13) AS answer, verdict
FROM request AS r JOIN verdict AS v USING (line) WHERE line IN (1, 8) ORDER BY line;
