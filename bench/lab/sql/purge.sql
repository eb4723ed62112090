-- Purge ten batches of :batch recorded commands. Each batch waits until the same number of further commands, beginning
-- with number :first, has been recorded.
SELECT format($f$
    DO $$
    BEGIN
        FOR step IN 1..10 LOOP
            WHILE NOT EXISTS (SELECT FROM idgen_bench.commands JOIN idgen.creation_identifiers ON command_id = id
                              WHERE number = %1$s + step * %2$s - 1)
            LOOP
                PERFORM pg_sleep(0.001);
                COMMIT;
            END LOOP;
            PERFORM idgen.purge_creations('1 hour', NULL, %2$s);
            COMMIT;
        END LOOP;
    END
    $$ $f$, :first, :batch) \gexec
