-- Sample the wait events of the run's active sessions every 10 ms, until there is a
-- row in sampling_ends. Prints the events and their counts; "none" is a session that
-- runs, or waits for a processor. Writes no WAL.
DO $$
DECLARE
    counts jsonb := '{}';
    sampled record;
BEGIN
    WHILE NOT EXISTS (SELECT FROM idgen_bench.sampling_ends) LOOP
        PERFORM pg_stat_clear_snapshot();
        FOR sampled IN
            SELECT coalesce(wait_event_type || ':' || wait_event, 'none') AS event, count(*)
            FROM pg_stat_activity
            WHERE application_name = current_setting('application_name')
              AND pid <> pg_backend_pid() AND state = 'active'
            GROUP BY 1
        LOOP
            counts := counts || jsonb_build_object(sampled.event, coalesce((counts ->> sampled.event)::bigint, 0) + sampled.count);
        END LOOP;
        PERFORM pg_sleep(0.01);
    END LOOP;
    DELETE FROM idgen_bench.sampling_ends;
    PERFORM set_config('idgen_bench.counts', counts::text, false);
END
$$;
SELECT key, value FROM jsonb_each_text(current_setting('idgen_bench.counts')::jsonb);
