#!/usr/bin/env bash
#
# stress.sh: random calls on a private server during faults and changes of its catalogs.
#
#   dev/stress.sh snowflake [--seconds N] [--seed N]     default 60 seconds
#   dev/stress.sh catalogs [--seconds N]
#
#   snowflake     sessions generate identifiers, whose sequence another changes in the ways that a
#                 superuser can, ahead of the clock. No value may occur twice, or be less than one before;
#                 stress/snowflake.py describes the faults
#   catalogs      sessions call generators, create_once(), the trigger and an id domain (stress/catalogs.sql)
#                 while others grant and revoke, move catalogs and make functions. No session may be lost,
#                 no value occur twice, and the only errors are deadlocks, after which pgbench tries again
#
# --seed repeats the choices, though not their interleaving.

. "$(dirname "$0")/results.sh"

seconds=60 seed=$((RANDOM + 1))
idgen_options 'seconds# seed#' "$@"
name=${arguments[*]:-}

stress_snowflake() {
    # recovery compares each page with its content before the crash
    idgen_start idgen.node_id=7 checkpoint_timeout=1h 'wal_consistency_checking=generic,sequence'
    # pg_ctl waits a minute by default, and a checkpoint of a busy machine may take longer
    as_server_user env PGCTLTIMEOUT=600 timeout $((seconds + 900)) \
        python3 "$IDGEN_BUILD/dev/stress/snowflake.py" "$IDGEN_WORK" "$seconds" "$seed" 2>&1
    result $? "values occurred once, in order, and no other error was raised"
}

# Run pgbench with a script and options: NAME SQL OPTION ...
call() {
    local script=$IDGEN_WORK/$1.sql
    echo "$2" >"$script"
    pgbench --no-vacuum --max-tries=1000 --time="$seconds" "${@:3}" --file="$script" >"$IDGEN_WORK/$1.log" 2>&1 &
}

stress_catalogs() {
    local kinds='SEQUENCES TABLES FUNCTIONS' grant='' revoke='' kind name
    idgen_start idgen.node_id=7 idgen.launch_id=42 deadlock_timeout=20ms fsync=off
    psql -X -q -v ON_ERROR_STOP=1 -o /dev/null -f "$IDGEN_BUILD/dev/stress/catalogs.sql" || idgen_die "could not set up"
    for kind in $kinds; do
        grant+="GRANT ALL ON ALL $kind IN SCHEMA idgen, public TO other; "
        revoke+="REVOKE ALL ON ALL $kind IN SCHEMA idgen, public FROM other; "
    done
    # each time in a new session, which has nothing in its caches
    call work '\set first random(1, 2000)
        CALL work(:first);' --client=4 --connect
    call grant "BEGIN; $grant COMMIT; BEGIN; $revoke COMMIT;"
    call vacuum "VACUUM FULL pg_class; ALTER ROLE other VALID UNTIL 'infinity'; VACUUM FULL pg_authid;"
    call functions "CREATE SCHEMA many; DO \$\$ BEGIN FOR i IN 1..2500 LOOP EXECUTE
        format('CREATE FUNCTION many.f%s() RETURNS int RETURN 1', i); END LOOP; END \$\$; DROP SCHEMA many CASCADE;"
    wait
    for name in work grant vacuum functions; do
        grep -q '^number of transactions actually processed: [1-9]' "$IDGEN_WORK/$name.log" &&
            ! grep -iE 'error:|aborted|failed transactions: [1-9]' "$IDGEN_WORK/$name.log"
        result $? "$name: $(grep 'actually processed' "$IDGEN_WORK/$name.log")"
    done
}

declare -F "stress_$name" >/dev/null || idgen_die "snowflake or catalogs is required; see --help"
build_idgen tests
idgen_say "$name for $seconds s, --seed=$seed"
"stress_$name"
! grep -E 'PANIC|TRAP|FATAL:  inconsistent page|was terminated by signal' "$IDGEN_WORK/server.log"
result $? "no unintended crash, and recovery restored each page"
end_of_results
