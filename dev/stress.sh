#!/usr/bin/env bash
#
# stress.sh: random calls on a private server while everything around them fails.
#
#   dev/stress.sh snowflake [--seconds N] [--seed N]     default 60 seconds
#   dev/stress.sh catalogs [--seconds N]
#
#   snowflake     sessions generate identifiers, whose sequence another changes in the ways that a
#                 superuser can, ahead of the clock. No value may occur twice, or be less than one before
#   catalogs      sessions call generators, create_once(), the trigger and an id domain while others
#                 grant and revoke, move catalogs and make functions. No session may be lost, no
#                 value occur twice
#
# stress/NAME.py describes the faults. --seed repeats the choices, though not their interleaving.

. "$(dirname "$0")/results.sh"

seconds=60 seed=$((RANDOM + 1))
idgen_options 'seconds# seed#' "$@"
name=${arguments[*]:-}

case $name in
    # recovery compares each page with its content before the crash
    snowflake) settings=(checkpoint_timeout=1h 'wal_consistency_checking=generic,sequence') ;;
    catalogs) settings=(idgen.launch_id=42 deadlock_timeout=20ms fsync=off) ;;
    *) idgen_die "snowflake or catalogs is required; see --help" ;;
esac
build_idgen tests
idgen_start idgen.node_id=7 "${settings[@]}"
idgen_say "$name for $seconds s, --seed=$seed"
as_server_user timeout $((seconds + 900)) python3 "$IDGEN_BUILD/dev/stress/$name.py" "$IDGEN_WORK" "$seconds" "$seed" 2>&1
result $? "values occurred once, in order, and no other error was raised"
! grep -E 'PANIC|TRAP|FATAL:  inconsistent page|was terminated by signal' "$IDGEN_WORK/server.log"
result $? "no unintended crash, and recovery restored each page"
end_of_results
