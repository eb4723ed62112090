#!/usr/bin/env bash
#
# demo.sh: see idgen at work, on a private cluster, in two minutes.
#
#   scripts/demo.sh [--keep] [--quick]
#
#   --keep    leave the cluster running, and print the psql line to reach it
#   --quick   without the comparison of keys, which takes a minute
#   --help    this text
#
# Installs what is missing (apt, with sudo where it is not root), builds, and
# starts a cluster in a folder of its own, which is gone afterwards. Ends with
# status 0 only if every request of the demo got the verdict it had to get.
# PG_CONFIG=/path/to/pg_config chooses the server.

# shellcheck disable=SC2119    # the functions of lib.sh need no arguments

set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

keep=
compare=1
comparison=     # its process
for argument in "$@"; do
    case $argument in
        --keep) keep=1 ;;
        --quick) compare= ;;
        --help | -h) idgen_help; exit ;;
        *) idgen_die "unknown argument $argument; see --help" ;;
    esac
done

demo=$IDGEN_SOURCE/scripts/demo

# As wide as the terminal, within reason; a pipe or file has room for a table.
if [ -t 1 ]; then width=$(tput cols 2>/dev/null || echo 80); else width=110; fi
[ "$width" -ge 60 ] || width=60
[ "$width" -le 140 ] || width=140

# Print a paragraph, as wide as the terminal but not too wide to read.
tell() {
    echo "$*" | fold -s -w "$((width < 80 ? width : 80))" | sed 's/ $//'
    echo
}

demo_psql() {
    (cd "$IDGEN_WORK" && PAGER='' exec psql -X -q -v ON_ERROR_STOP=1 -P pager=off \
        -P format=wrapped -P columns="$width" "$@")
}

# Run a file of scripts/demo: its own words, its SQL, and what that gives.
show() {
    local file=$1
    shift
    demo_psql -e "$@" <"$demo/$file" 2>&1
}

# Measure, with one line of progress a key, and show the results.
compare_keys() {
    local out=$IDGEN_WORK/comparison block='#' progress filter

    [ "$(locale charmap)" != UTF-8 ] || block='█'
    exec {progress}> >(grep --line-buffered -E '^\[.*(steady|bulk), [a-z_0-9]+: [0-9]+ bytes')
    filter=$!
    # not in the foreground, where bash would not look at signals meanwhile
    "$IDGEN_SOURCE/bench/lab/run.sh" --server --scene steady,bulk --repetitions 1 --no-report \
        --keys bigint,gen_random_uuid,uuid_v4,uuid_v7,comb,short_comb,short_comb_run \
        --steady.rows 800000 --steady.inserts 4000 --bulk.rows 400000 --bulk.inserts 10000 --out "$out" \
        >"$IDGEN_WORK/comparison.log" 2>&"$progress" &
    comparison=$!
    exec {progress}>&-
    wait "$comparison" || idgen_die "the comparison failed"
    comparison=
    wait "$filter" || true

    demo_psql -c "CREATE TABLE measured (scene text, key text, series text, x text, repetition int, metric text, value numeric)"
    demo_psql -c "COPY measured FROM STDIN (FORMAT csv, HEADER)" <"$out/measurements.csv"
    demo_psql -c "CREATE TABLE key (name text, expression text, type text, number serial)"
    demo_psql -c "COPY key (name, expression, type) FROM STDIN (FORMAT csv, HEADER)" <"$out/keys.csv"
    demo_psql -v room="$((width - 55))" -v block="$block" -f "$demo/comparison.sql"
}

# The comparison ends before its cluster does.
end_comparison() {
    if [ -n "$comparison" ]; then
        kill "$comparison" 2>/dev/null
        wait "$comparison"
    fi
}

# Leave the cluster to the user, and say how to reach it and how to be rid of it.
hand_over() {
    local psql=psql as_owner=
    IDGEN_KEEP=1
    [ -n "$psql_on_path" ] || psql=$(command -v psql)
    [ "$(id -u)" -ne 0 ] || as_owner='runuser -u postgres -- '
    echo "The cluster is still running. To reach it:"
    echo
    echo "    $psql -h $IDGEN_WORK -p $PGPORT -U $PGUSER $PGDATABASE"
    echo
    echo "To stop and remove it:"
    echo
    echo "    $as_owner$(command -v pg_ctl) -D $IDGEN_WORK/data stop && rm -rf $IDGEN_WORK"
    echo
}

psql_on_path=$(command -v psql || true)

idgen_install_packages
idgen_say "Building idgen for $("$PG_CONFIG" --version), and starting a cluster for it in /tmp"
idgen_build || idgen_die "idgen could not be built"
idgen_at_exit end_comparison
# the comparison wants no checkpoints but its own
idgen_start shared_buffers=256MB autovacuum=off checkpoint_timeout=1h max_wal_size=16GB
createdb demo
export PGDATABASE=demo
demo_psql -c "CREATE EXTENSION idgen"
echo "ok, in $IDGEN_WORK"

idgen_say "1. Keys made by the database"
tell "Orders get their primary key from idgen.short_comb(): a UUID that begins" \
    "with the number of the minute and is random otherwise."
show keys.sql

idgen_say "2. Keys made by clients"
tell "Clients may make the keys themselves, and so name an order before the database has" \
    "seen it. But a clock may be wrong, a request may come twice, or a batch a day late." \
    "Here are the requests of some clients (scripts/demo/clients.pl, which does not" \
    "use idgen), in a CSV file:"
perl "$demo/clients.pl" >"$IDGEN_WORK/requests.csv"
lines=$(tail -n +2 "$IDGEN_WORK/requests.csv" | wc -l)
cut -c "1-$((width - 1))" "$IDGEN_WORK/requests.csv"
echo
tell "The orders of step 1 make room. The file goes into a table of plain text just as it" \
    "is, so that nothing is lost:"
show stage.sql
demo_psql -e -v QUIET=off -c "COPY request FROM STDIN (FORMAT csv, HEADER)" <"$IDGEN_WORK/requests.csv"
echo
show verdicts.sql

tell "Is everything accounted for?"
demo_psql -v lines_in_file="$lines" -f "$demo/check.sql"
demo_psql -c "SELECT * FROM account"
complete=$(demo_psql -Atc "SELECT bool_and(holds) FROM account")

tell "A table can also check its ids itself, with a trigger:"
show trigger.sql

if [ -n "$compare" ]; then
    idgen_say "3. What the choice of key costs"
    tell "Seven tables, alike but for their key, get the same rows. What a key costs shows" \
        "in the WAL, which is what the server writes to its log and sends to its replicas:" \
        "the first change of a page after a checkpoint puts the whole page there, 8 kB." \
        "Random keys meet another page each time; keys of the moment share a few pages." \
        "This takes about a minute."
    compare_keys
fi

echo
[ -z "$keep" ] || hand_over
[ "$complete" = t ] || idgen_die "not everything is accounted for, see above"
echo "That was idgen. README.md tells the rest; 'scripts/test.sh' runs its tests."
