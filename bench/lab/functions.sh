#!/usr/bin/env bash
#
# functions.sh: measure the time that a call of each generator, check and conversion takes.
#
#   bench/lab/functions.sh [OPTION ...]
#
#   --calls N         calls in one timed statement (default 1000000)
#   --rounds N        rounds, of which the fastest is reported (default 5)
#   --help            this text
#
# The script subtracts the time of the same query with pg_backend_pid(), which is the fastest function, or with a plain
# column. Each round measures all functions, so that a busy moment affects all of them.

set -uo pipefail
# shellcheck source-path=SCRIPTDIR source=common.sh
. "$(dirname "$0")/common.sh"

calls=1000000 rounds=5
bench_options "calls# rounds#" "$@"

bench_open shared_buffers=256MB autovacuum=off checkpoint_timeout=1h idgen.node_id=1 idgen.launch_id=0

bench_progress "timing $rounds rounds of $(bench_number "$calls") calls"
bench_psql -v calls="$calls" -v rounds="$rounds" -f "$BENCH/functions.sql" || idgen_die "the timing failed"
