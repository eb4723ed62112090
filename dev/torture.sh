#!/usr/bin/env bash
#
# torture.sh: random calls on a private server while everything around them fails.
#
#   dev/torture.sh snowflake [--seconds N] [--seed N]     default 60 seconds
#   dev/torture.sh create_once [--seconds N] [--seed N]
#   dev/torture.sh storm [--seconds N]
#
#   snowflake     sessions generate identifiers, whose sequence another changes in the ways that a
#                 superuser can, ahead of the clock. No value may occur twice, or be less than one before
#   create_once   clients create, find and forget commands. Some order of the calls must explain all
#                 answers. First, for three seconds, rows are deleted, which must be reported
#   storm         sessions call generators, create_once(), the trigger and an id domain while others
#                 grant and revoke, move catalogs and make functions. No session may be lost, no
#                 value occur twice
#
# torture/NAME.py describes the faults. --seed repeats the choices, though not their interleaving.

. "$(dirname "$0")/verdicts.sh"

seconds=60 seed=$((RANDOM + 1))
idgen_options 'seconds# seed#' "$@"
name=${arguments[*]:-}

set_up() { as_server_user psql -X -q -v ON_ERROR_STOP=1 "$@" || idgen_die "could not set up"; }

torture() {
    idgen_say "$name for $1 s, --seed=$seed"
    as_server_user timeout $(($1 + 900)) python3 "$IDGEN_BUILD/dev/torture/$name.py" "$IDGEN_WORK" "$1" "$seed" "${@:2}" 2>&1
}

torture_snowflake() {
    # recovery compares each page with its content before the crash
    idgen_start idgen.node_id=7 checkpoint_timeout=1h wal_consistency_checking=generic,sequence
    set_up -c 'CREATE EXTENSION idgen' -c 'CREATE ROLE keeper' \
        -c "SELECT setval('idgen.snowflake_mark', extract(epoch FROM now() + interval '10 hours')::bigint << 28)" \
        -c 'CREATE TABLE source WITH (parallel_workers = 2) AS SELECT generate_series(1, 20000) i' -c 'ANALYZE source'
    set_up -c CHECKPOINT
    torture "$seconds"
    verdict $? "each value occurred once, and was greater than all before"
    ! grep -E 'PANIC|TRAP|FATAL:  inconsistent page|was terminated by signal' "$IDGEN_WORK/server.log"
    verdict $? "no unintended crash, and recovery restored each page"
}

torture_create_once() {
    # without fsync, a crash of the server loses nothing
    idgen_start max_prepared_transactions=50 deadlock_timeout=20ms fsync=off
    set_up -c 'CREATE EXTENSION idgen' -c 'CREATE TABLE entities (id text PRIMARY KEY)' -c "
        CREATE FUNCTION report() RETURNS trigger LANGUAGE plpgsql AS \$\$ BEGIN
            RAISE NOTICE 'deleted % %', OLD.command_id, coalesce(OLD.entity_id::text, OLD.entity_number::text);
            RETURN NULL;
        END \$\$" -c 'CREATE TRIGGER report AFTER DELETE ON idgen.creation_identifiers FOR EACH ROW EXECUTE FUNCTION report()'
    # it ends with 3 if answers are unexplained, and otherwise if something else failed
    torture 3 sabotage | tail -n 3
    [ "${PIPESTATUS[0]}" -eq 3 ]
    verdict $? "the checker reports that rows were deleted"
    set_up -c 'TRUNCATE entities, idgen.creation_identifiers'
    torture "$seconds"
    verdict $? "some order explains all answers about each command, and each entity was created once"
    ! grep -E 'PANIC|TRAP|was terminated by signal ([0-8]|1[0-9])\b' "$IDGEN_WORK/server.log"
    verdict $? "no unintended crash"
}

torture_storm() {
    idgen_start idgen.node_id=7 idgen.launch_id=42 deadlock_timeout=20ms fsync=off
    torture "$seconds"
    verdict $? "each value and entity occurred once, each session continued, and no other error was raised" ||
        { idgen_stop; grep -E 'ERROR|FATAL|PANIC|TRAP|signal' "$IDGEN_WORK/server.log" | tail -n 8; }
}

declare -F "torture_$name" >/dev/null || idgen_die "snowflake, create_once or storm is required; see --help"
build_idgen tests
"torture_$name"
end_of_verdicts
