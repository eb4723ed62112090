-- Execute :number commands, beginning with number :first, and print the CPU time per command in microseconds. The
-- preceding command is repeated first, so that the session has its plans.
CALL idgen_bench.execute_commands(:first - 1, :first - 1);
SELECT split_part(pg_read_file('/proc/self/schedstat'), ' ', 1) AS started \gset
CALL idgen_bench.execute_commands(:first, :first + :number - 1);
SELECT 'cpu_us_per_row', round((split_part(pg_read_file('/proc/self/schedstat'), ' ', 1)::numeric - :started) / 1000
                               / :number, 3);
