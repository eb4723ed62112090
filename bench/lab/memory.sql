-- Print the memory of the backend before and after :calls calls of :call in one
-- statement: the size of its memory contexts, and VmHWM (the peak resident size)
-- and VmRSS of the operating system, if /proc has them.
\set before 'SELECT sum(total_bytes) AS contexts_before FROM pg_backend_memory_contexts'
\set after 'SELECT sum(total_bytes) AS contexts_after FROM pg_backend_memory_contexts'
SELECT pg_backend_pid() AS pid \gset
\setenv BACKEND :pid
-- some calls before, so that everything that a call requires is loaded
SELECT count(:call) FROM (SELECT generate_series(1, 10000)) calls \g /dev/null
:before \gset
\set system_before `awk '/^Vm(HWM|RSS)/ { printf "%s ", $2 }' /proc/$BACKEND/status 2>/dev/null`
SELECT count(:call) FROM (SELECT generate_series(1, :calls)) calls \g /dev/null
:after \gset
\set system_after `awk '/^Vm(HWM|RSS)/ { printf "%s ", $2 }' /proc/$BACKEND/status 2>/dev/null`
\echo :contexts_before :contexts_after :system_before :system_after
