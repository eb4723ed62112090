#!/usr/bin/env bash
#
# coverage.sh: measure which lines of src/ `make installcheck` executes.
#
#   dev/coverage.sh
#
# The server's settings differ from the defaults, because the tests must also pass with these settings, and must restore
# them. (dev/test-jit.sh runs the tests with JIT.) The script fails if less than 95 % of the lines are executed, and
# lists the lines that are not.

. "$(dirname "$0")/../scripts/results.sh"

idgen_no_options "$@"
cd "$IDGEN_SOURCE" || exit
build_idgen '' COPT='-O0 --coverage' LDFLAGS_SL=--coverage

idgen_start autovacuum=off max_parallel_workers_per_gather=0 timezone=Asia/Kathmandu datestyle='SQL, DMY' \
    intervalstyle=iso_8601 shared_preload_libraries=idgen idgen.node_id=31 idgen.launch_id=99 idgen.key_file=idgen_keys
idgen_key fedcba98765432100123456789abcdef
psql -qX -c "ALTER SYSTEM SET idgen.key_file = 'idgen_keys'"
settings="SELECT name, setting, sourcefile FROM pg_file_settings WHERE name LIKE 'idgen.%' ORDER BY seqno"
before=$(psql -qAtX -c "$settings")
run "make installcheck" installcheck "${idgen_make[@]}" installcheck
[ "$(psql -qAtX -c "$settings")" = "$before" ]
result $? "the settings are as they were before"
idgen_stop

# gcov prints "File 'NAME'" and "Lines executed:PERCENT% of COUNT", and writes the lines to NAME.gcov.
cd "$IDGEN_BUILD" || exit
idgen_say "Lines that are not executed"
as_server_user env -C "$IDGEN_BUILD" gcov -o src src/*.c >gcov.log 2>/dev/null
grep -nH '^ *#####:' ./*.c.gcov | sed -E 's|^\./([^:]+)\.gcov:[0-9]+: *#####: *([0-9]+):|\1:\2: |'
percent=$(awk -F '[:%]' '/^File/ { ours = /src\// }
    /^Lines executed/ && ours { split($0, part, " of "); lines += part[2]; executed += $2 * part[2] / 100 }
    END { printf "%.1f", 100 * executed / lines }' gcov.log)
idgen_say "make installcheck executes $percent % of the lines of src/"
awk -v percent="$percent" 'BEGIN { exit !(percent >= 95) }'
result $? "at least 95 % of the lines are executed"
end_of_results
