-- Until the sessions before are gone, and their statistics with them known to all.
DO $$
BEGIN
    WHILE EXISTS (SELECT FROM pg_stat_activity
                  WHERE application_name = current_setting('application_name')
                    AND pid <> pg_backend_pid())
    LOOP
        PERFORM pg_sleep(0.01);
        PERFORM pg_stat_clear_snapshot();
    END LOOP;
    -- the collector of version 14 writes what it was told twice a second
    IF current_setting('server_version_num')::int < 150000 THEN
        PERFORM pg_sleep(1);
    END IF;
END
$$;
