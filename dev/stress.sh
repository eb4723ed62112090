#!/usr/bin/env bash
#
# stress.sh: make random calls on a private server during faults.
#
#   dev/stress.sh [--seconds N] [--seed N]     default 60 seconds
#
# Sessions generate identifiers ahead of the clock while another session changes their sequence in all ways that a
# superuser can. No value may occur twice or be less than an earlier one. stress/snowflake.py describes the faults.
# --seed repeats the random choices, but not their interleaving.

. "$(dirname "$0")/../scripts/results.sh"

seconds=60 seed=$((RANDOM + 1))
idgen_options 'seconds# seed#' "$@"

build_idgen tests
idgen_say "$seconds s, --seed=$seed"
# Recovery compares each page with its content before the crash.
idgen_start idgen.node_id=7 checkpoint_timeout=1h 'wal_consistency_checking=generic,sequence'
# By default, pg_ctl waits for a minute, but a checkpoint on a busy machine may take longer.
as_server_user env PGCTLTIMEOUT=600 timeout $((seconds + 900)) \
    python3 "$IDGEN_BUILD/dev/stress/snowflake.py" "$IDGEN_WORK" "$seconds" "$seed" 2>&1
result $? "values occurred once, in order, and no other error was raised"
! grep -E 'PANIC|TRAP|FATAL:  inconsistent page|was terminated by signal' "$IDGEN_WORK/server.log"
result $? "no unintended crash, and recovery restored each page"
end_of_results
