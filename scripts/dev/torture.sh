#!/usr/bin/env bash
#
# torture.sh: change a ticker's sequence at random, in the ways that a superuser
# can, while sessions take values from the ticker and the server crashes.
#
#   scripts/dev/torture.sh [--seconds N] [--seed N]     default 60 seconds
#
# On a private server, three sessions call decimal_id(), whose ticker does not
# follow the clock. Another session chooses at random among ALTER SEQUENCE, DROP
# and CREATE EXTENSION, the same with the sequence, and renaming it, in a
# transaction that commits or rolls back, also as the first statement after a
# restart; another owner without rights, GRANT with a query that could be parallel,
# nextval(), setval() to a greater value, raise_decimal_id(), CHECKPOINT, clean and
# immediate stops, and calls in 30 other databases in turn, whose tickers do not
# fit into memory before version 17. Recovery compares
# each page with its content before the crash (wal_consistency_checking). No value
# may occur twice, and each must be greater than every value returned before its
# statement began. Values of a transaction that replaced the sequence and was
# rolled back do not count: see docs/tickers.md. Ends with a line "N passed, N
# failed"; the exit status is 0 if nothing failed. Takes N seconds, and about 10 to
# build.

set -uo pipefail
# shellcheck source-path=SCRIPTDIR source=../lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source-path=SCRIPTDIR source=verdicts.sh
. "$(dirname "$0")/verdicts.sh"

idgen_seconds_and_seed "$@"

idgen_install_packages tests
idgen_say "Building for $("$PG_CONFIG" --version)"
idgen_build || idgen_die "could not build"
idgen_start idgen.node_id=7 idgen.launch_id=42 checkpoint_timeout=1h wal_consistency_checking=generic,sequence
as_server_user psql -X -q -c 'CREATE EXTENSION idgen' \
    -c 'CREATE DATABASE other_1 TEMPLATE postgres' -c 'CREATE ROLE keeper' \
    -c 'CREATE TABLE source WITH (parallel_workers = 2) AS SELECT generate_series(1, 20000) i' -c 'ANALYZE source'
for number in {2..30}; do as_server_user psql -X -q -c "CREATE DATABASE other_$number TEMPLATE other_1"; done
as_server_user psql -X -q -c CHECKPOINT

idgen_say "Torture for $seconds s, --seed=$seed"
as_server_user python3 "$IDGEN_BUILD/scripts/dev/torture/decimal_id.py" "$IDGEN_WORK" "$seconds" "$seed" >"$IDGEN_WORK/torture.out" 2>&1
status=$?
cat "$IDGEN_WORK/torture.out"
[ $status -eq 0 ]
verdict $? "each value occurred once, and was greater than all before"
! grep -E 'PANIC|FATAL:  inconsistent page|was terminated by signal' "$IDGEN_WORK/server.log"
verdict $? "no unintended crash, and recovery restored each page"

end_of_verdicts
