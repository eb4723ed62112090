#!/usr/bin/env bash
#
# rekey.sh: change the primary key of a table, and all references to it, in use.
#
#   psql -f tools/rekey.sql                    once, as the tables' owner
#   tools/rekey.sh plan TABLE --type TYPE [OPTION ...]
#   tools/rekey.sh run | verify | switch | back | finish | abandon | status
#   tools/rekey.sh rename [--accept-errors]
#
#   --value EXPRESSION     the new key of an old row, from its columns; without it, keys
#                          keep their numbers in a wider type of integers
#   --default EXPRESSION   the new key of a new row
#   --old-default EXPRESSION   the old key of a new row, if it has no default
#   --suffix _new          of the new columns
#   --fire-triggers        the triggers of the tables may fire for each row
#   --dependents-ok        views of the columns, and functions of the rows' type: to be made
#                          again for the new columns before finish
#   --publications-ok      the subscribers have the new columns; requires REPLICA IDENTITY FULL
#   --pause MS             after each 50 pages
#   --max-bytes N          refuse to plan what needs more space
#
# Connects by psql's environment (PGHOST, PGDATABASE, ...), directly, not by a pool.
# docs/rekey.md is the manual. Each command can be repeated after any failure.

set -euo pipefail

usage() { sed -n '3,/^$/s/^# \{0,1\}//p' "$0"; exit "$1"; }
fail() { printf 'rekey.sh: %s\n' "$*" >&2; exit 2; }

[ $# -gt 0 ] || usage 2
command=$1
shift
table='' type='' variables=(-v value= -v default= -v old_default= -v suffix=_new -v accept_errors=false) options=()
while [ $# -gt 0 ]; do
    name=${1#--} name=${name//-/_}
    case $1 in
        --type | --value | --default | --old-default | --suffix | --pause | --max-bytes)
            [ $# -ge 2 ] || fail "$1 requires a value" ;;&
        --type) type=$2; shift ;;
        --value | --default | --old-default | --suffix) variables+=(-v "$name=$2"); shift ;;
        --pause | --max-bytes)
            [[ $2 =~ ^[0-9]+$ ]] || fail "$1 requires a number"
            options+=("\"$name\": $2"); shift ;;
        --fire-triggers | --dependents-ok | --publications-ok) options+=("\"$name\": true") ;;
        --accept-errors) variables+=(-v accept_errors=true) ;;
        -*) fail "unknown option $1" ;;
        *) [ -z "$table" ] || fail "more than one table"; table=$1 ;;
    esac
    shift
done

export PGAPPNAME=rekey PGOPTIONS="${PGOPTIONS-} -c statement_timeout=0 -c lock_timeout=0 -c idle_in_transaction_session_timeout=0 \
    -c default_transaction_isolation=read\\ committed -c default_transaction_read_only=off -c row_security=off -c jit=off \
    -c default_tablespace= -c standard_conforming_strings=on -c quote_all_identifiers=off"

# One session, in which this process becomes psql; the statements are calls, whose arguments it quotes.
session() {
    exec psql -X -q -v ON_ERROR_STOP=1 -v command="$command" -v target="$table" -v type="$type" "${variables[@]}" \
        -v options="{$(IFS=,; echo "${options[*]-}")}" -f - "$@"
}

case $command in
    plan)
        [ -n "$table" ] && [ -n "$type" ] || fail "plan requires a table and --type"
        session <<'SQL'
SELECT :'target'::pg_catalog.regclass::pg_catalog.oid AS target \gset
SET search_path = pg_catalog, pg_temp;
SELECT n AS step, what, kind, rows, pg_size_pretty(bytes) AS bytes, pg_size_pretty(wal) AS wal
FROM rekey.plan(:target::regclass, :'type', nullif(:'value', ''), nullif(:'default', ''), :'suffix', :'options', nullif(:'old_default', ''));
SELECT * FROM rekey.space();
SELECT * FROM rekey.warnings();
SQL
        ;;
    run | verify | switch | back | rename | finish | abandon)
        session -At <<'SQL'
SET search_path = pg_catalog, pg_temp;
SELECT rekey.begin_command(:'command', :'accept_errors') AS command \gset
SELECT rekey.script(:'command') \gexec
SELECT rekey.status();
SQL
        ;;
    status) session -At <<<'SELECT rekey.status();' ;;
    help | --help | -h) usage 0 ;;
    *) fail "unknown command $command" ;;
esac
