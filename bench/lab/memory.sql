-- Print by how many kB the backend grows in :calls calls of :call in one statement: its
-- memory contexts, and VmHWM (the peak resident size) and VmRSS of the operating system;
-- without /proc, as with a server on another machine, these are unknown.
SELECT pg_backend_pid() AS pid \gset
\setenv BACKEND :pid
-- some calls before, so that everything that a call requires is loaded
SELECT count(:call) FROM (SELECT generate_series(1, 10000)) calls \g /dev/null
SELECT sum(total_bytes) AS contexts_before FROM pg_backend_memory_contexts \gset
\set system_before `awk '/^Vm(HWM|RSS)/ { printf "%s ", $2 }' /proc/$BACKEND/status 2>/dev/null`
SELECT count(:call) FROM (SELECT generate_series(1, :calls)) calls \g /dev/null
SELECT sum(total_bytes) AS contexts_after FROM pg_backend_memory_contexts \gset
\set system_after `awk '/^Vm(HWM|RSS)/ { printf "%s ", $2 }' /proc/$BACKEND/status 2>/dev/null`
SELECT format('| `%s` | %s | %s | %s |', :'call', round((:contexts_after - :contexts_before) / 1024.0),
              coalesce((a[1] - b[1])::text, '?'), coalesce((a[2] - b[2])::text, '?'))
FROM (SELECT string_to_array(rtrim(:'system_after'), ' ')::bigint[] AS a,
             string_to_array(rtrim(:'system_before'), ' ')::bigint[] AS b) system;
