#!/usr/bin/env bash
#
# rekey.sh: change the type of keys, and of all references to them, in use.
#
#   psql -f contrib/rekey/rekey.sql                 once, as the tables' owner
#   rekey.sh plan TABLE.COLUMN ... --type bigint|integer|uuid [--fire-triggers]
#   rekey.sh run | finish | abandon | status
#   rekey.sh switch | back [--views]
#
# Connects by psql's environment (PGHOST, PGDATABASE, ...), directly, not by a pool. Each command
# can be repeated after any failure. README.md is the manual.

set -euo pipefail
usage() { sed -n '3,/^$/s/^# \{0,1\}//p' "$0"; exit "$1"; }
fail() { printf 'rekey.sh: %s\n' "$*" >&2; exit 2; }
[ $# -gt 0 ] || usage 2
command=$1; shift
type='' tables='' columns='' fire=false views=false n=0 variables=()
while [ $# -gt 0 ]; do
    case $1 in
        --type) [ $# -ge 2 ] || fail "$1 requires a type"; type=$2; shift ;;
        --fire-triggers) fire=true ;;
        --views) views=true ;;
        -*) fail "unknown option $1" ;;
        ?*.?*)
            n=$((n + 1)) column=${1##*.} column=${column#\"}
            variables+=(-v "t$n=${1%.*}" -v "c$n=${column%\"}") tables+=",:'t$n'" columns+=",:'c$n'" ;;
        *) fail "expected TABLE.COLUMN: $1" ;;
    esac
    shift
done
export PGAPPNAME=rekey PGOPTIONS="${PGOPTIONS-} -c rekey.is_direct=on -c statement_timeout=0 -c lock_timeout=0 \
    -c idle_in_transaction_session_timeout=0 -c default_transaction_isolation=read\\ committed -c row_security=off -c jit=off \
    -c default_transaction_read_only=off -c default_tablespace= -c quote_all_identifiers=off \
    -c standard_conforming_strings=on -c client_connection_check_interval=5s"

# This process becomes psql, which makes sure that settings and functions are its own before it uses them.
session() {
    exec psql -X -q -At -v ON_ERROR_STOP=1 -v SHOW_CONTEXT=never -v command="$command" -v type="$type" -v fire="$fire" \
        -v views="$views" "${variables[@]}" < <(cat - <(printf '%s\n' "$1") <<'SQL'
DO $$ BEGIN
    IF current_setting('rekey.is_direct', true) IS NULL THEN
        RAISE 'not a direct connection: the settings of the session do not arrive';
    ELSIF NOT EXISTS (SELECT FROM pg_namespace WHERE nspname = 'rekey' AND pg_get_userbyid(nspowner) = current_user) THEN
        RAISE 'schema rekey does not exist, or belongs to another role' USING HINT = 'Load rekey.sql as the tables'' owner.';
    END IF;
END $$;
SQL
)
}
case $command in
    plan)
        [ $n -gt 0 ] && [ -n "$type" ] || fail "plan requires TABLE.COLUMN and --type"
        session "SELECT rekey.plan(ARRAY[${tables#,}]::regclass[], ARRAY[${columns#,}]::name[], :'type', :'fire');" ;;
    run | switch | back | finish | abandon)
        session "SET search_path = pg_catalog, pg_temp;
            SELECT rekey.script(:'command', :'views') \gexec
            SELECT rekey.status();" ;;
    status) session 'SELECT rekey.status();' ;;
    *) usage 2 ;;
esac
