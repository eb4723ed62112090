-- verdicts.sql: create orders from the requests of clients

\echo 'One function handles a request. It checks that the order id is a UUID, and that its'
\echo 'time is near the current time, or near the time recorded with the batch. Then'
\echo 'create_once() returns whether the command is new; only a new command creates an'
\echo 'order. If a step fails, the block with EXCEPTION rolls back all of them, including'
\echo 'the record of the command.'
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
        v.reason := 'order id has a wrong time';
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
\echo 'The verdict of each line of the file:'
\echo

SELECT line, note, verdict, reason
FROM request JOIN verdict AS v USING (line) ORDER BY line;

\echo 'Line 8 was a retry: the client had not received the answer, and sent the command'
\echo 'again with another id. It got the id of the first order, and no second order was'
\echo 'created:'
\echo

SELECT line, left(r.command_id, 13) AS command, left(r.order_id, 13) AS proposed,
       left(v.order_id::text, 13) AS answer, verdict
FROM request AS r JOIN verdict AS v USING (line) WHERE line IN (1, 8) ORDER BY line;
