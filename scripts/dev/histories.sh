#!/usr/bin/env bash
#
# histories.sh: check that some order of the calls explains all answers of
# create_once() and its functions, while everything around them fails.
#
#   scripts/dev/histories.sh [--seconds N] [--seed N]     default 60 seconds
#
# On a private server, five clients create, find and forget a few commands, alone
# and in transactions of the three isolation levels, with savepoints, prepared
# transactions, purge_creations(), trim_creations() and DISCARD ALL. Another session
# kills server processes and the server, terminates and cancels sessions, and runs
# REINDEX CONCURRENTLY, VACUUM FULL, CLUSTER and ALTER TABLE. The clients record when
# they sent each call, and its answer, error, or that the connection was lost. For
# each command, a checker then searches for an order that explains all of them
# (scripts/dev/histories/create_once.py has the model); and the entities that exist
# must be those that were acknowledged, or whose answer was lost.
#
# First, for three seconds, rows are deleted in between, which the checker must
# report. --seed repeats the choices, though not their interleaving. Ends with a line
# "N passed, N failed"; the exit status is 0 if nothing failed. Takes N seconds, and
# about 15 to build and to check the checker.

set -uo pipefail
# shellcheck source-path=SCRIPTDIR source=../lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source-path=SCRIPTDIR source=verdicts.sh
. "$(dirname "$0")/verdicts.sh"

idgen_seconds_and_seed "$@"
idgen_install_packages tests
idgen_say "Building for $("$PG_CONFIG" --version)"
# shellcheck disable=SC2119
idgen_build || idgen_die "could not build"
# without fsync, a crash of the server loses nothing
idgen_start max_prepared_transactions=50 deadlock_timeout=20ms fsync=off
as_server_user psql -X -q -v ON_ERROR_STOP=1 <<'EOF' || idgen_die "could not set up"
CREATE EXTENSION idgen;
CREATE TABLE entities (id text PRIMARY KEY);
CREATE FUNCTION report() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE NOTICE 'deleted % %', OLD.command_id, coalesce(OLD.entity_id::text, OLD.entity_number::text);
    RETURN NULL;
END $$;
CREATE TRIGGER report AFTER DELETE ON idgen.creation_identifiers FOR EACH ROW EXECUTE FUNCTION report();
EOF

# Ends with 0, with 3 if answers are unexplained, or otherwise if something else failed.
histories() {
    idgen_say "Histories for $* (seconds, seed)"
    as_server_user psql -X -q -c 'TRUNCATE entities, idgen.creation_identifiers'
    # a server that hangs fails the test
    as_server_user timeout $(($1 + 900)) python3 "$IDGEN_BUILD/scripts/dev/histories/create_once.py" "$IDGEN_WORK" "$@" 2>&1
}

histories 3 "$seed" sabotage | tail -n 3
[ "${PIPESTATUS[0]}" -eq 3 ]
verdict $? "the checker reports that rows were deleted"
histories "$seconds" "$seed"
verdict $? "some order explains all answers about each command, and each entity was created once"
! grep -E 'PANIC|TRAP|was terminated by signal ([0-8]|1[0-9])\b' "$IDGEN_WORK/server.log"
verdict $? "no unintended crash"

end_of_verdicts
