-- Wait until earlier sessions have ended and reported their statistics.
DO $$
BEGIN
    WHILE EXISTS (SELECT FROM pg_stat_activity
                  WHERE application_name = current_setting('application_name')
                    AND pid <> pg_backend_pid())
    LOOP
        PERFORM pg_sleep(0.01);
        PERFORM pg_stat_clear_snapshot();
    END LOOP;
END
$$;
