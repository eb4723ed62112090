# shellcheck shell=bash
# shellcheck disable=SC2034   # the scripts use these variables
#
# common.sh: functions for all benchmarks. Source this file.
#
# A benchmark runs on a private cluster (scripts/lib.sh) or, with --server, on the server that the PG* variables select.
# On that server, it creates everything in the schema idgen_bench. On exit, even if interrupted, it removes the cluster,
# or drops the schema, and the extension if bench_open created it.

BENCH=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source-path=SCRIPTDIR source=../../scripts/lib.sh
. "$BENCH/../../scripts/lib.sh"

# The output of psql, pgbench and awk is parsed.
export LC_ALL=C

server=0                # 1: use the server of the PG* variables
bench_packages=         # "bench": also install what the report requires
bench_child=            # the running client
bench_scratch=          # a folder for intermediate results
bench_schema=           # the schema and the extension are dropped at the end
bench_extension=
bench_started=$SECONDS

bench_progress() {
    local seconds=$((SECONDS - bench_started))
    printf '[%d:%02d] %s\n' $((seconds / 60)) $((seconds % 60)) "$*" >&2
}

# Print 5000000 as 5,000,000.
bench_number() { sed -E ':a; s/([0-9])([0-9]{3})($|,)/\1,\2\3/; ta' <<<"$1"; }

# Read options with idgen_options. In the name of a variable, an underscore replaces each dash and dot in the name of
# its option, so --age.rates sets age_rates.
bench_options() {
    local names=$1 argument given=()
    shift
    for argument; do
        [[ ! $argument =~ ^--([^=]*)(.*)$ ]] || argument=--${BASH_REMATCH[1]//[-.]/_}${BASH_REMATCH[2]}
        given+=("$argument")
    done
    idgen_options "$names" "${given[@]}"
    [ ${#arguments[@]} = 0 ] || idgen_die "unknown argument ${arguments[0]}; see --help"
}

# Run a client in the background and wait for it, because bash does not handle signals while it waits for a foreground
# command.
bench_run() {
    local status
    "$@" <&0 &
    bench_child=$!
    wait "$bench_child"
    status=$?
    bench_child=
    return $status
}

psql=(psql -X -q -A -t -F ' ' -v ON_ERROR_STOP=1)

# Print the result of statements. Use bench_psql for statements that can take long, and bench_value for short ones.
bench_psql() { bench_run "${psql[@]}" "$@"; }
bench_value() { "${psql[@]}" -c "$1"; }

# Run pgbench. Set "processed" to the number of transactions, and "tps" to the transactions per second.
bench_pgbench() {
    local log=$bench_scratch/pgbench
    # If this script is interrupted, its own messages must not go to the log.
    bench_run bash -c 'exec pgbench -n -M prepared "$@" >"$0" 2>&1' "$log" "$@" ||
        { grep -m 1 error: "$log" >&2 || cat "$log" >&2; return 1; }
    processed=$(sed -n 's/^number of transactions actually processed: \([0-9]*\).*/\1/p' "$log")
    tps=$(sed -n 's/^tps = \([0-9.]*\).*without initial.*/\1/p' "$log")
    [ -n "$processed" ] && [ -n "$tps" ]
}

bench_close() {
    [ -z "$bench_child" ] || kill "$bench_child" 2>/dev/null
    if [ "$server" = 1 ] && [ -n "$bench_schema" ]; then
        # Terminate the backends, which do not notice that their clients have exited. This psql runs detached from the
        # terminal, so that Ctrl-C does not end it.
        {
            echo "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
                  WHERE application_name = current_setting('application_name') AND pid <> pg_backend_pid();
                  DROP SCHEMA IF EXISTS $bench_schema CASCADE;"
            [ -z "$bench_extension" ] || echo "DROP EXTENSION IF EXISTS $bench_extension;"
        } | setsid -w psql -X -q -o /dev/null -v ON_ERROR_STOP=1 ||
            echo "could not clean up: please drop the schema $bench_schema" >&2
    fi
    [ -z "$bench_scratch" ] || rm -rf "$bench_scratch"
}

# Open a connection. A private cluster is started with the given settings, and has the key "default".
bench_open() {
    local where
    if [ "$server" = 0 ]; then
        bench_progress "building idgen and starting a private cluster"
        idgen_install_packages "${bench_packages:-}" >&2
        idgen_build >&2 || idgen_die "idgen could not be built"
    fi
    idgen_at_exit bench_close
    if [ "$server" = 0 ]; then
        idgen_start idgen.key_file=idgen_keys "$@"
        idgen_key 000102030405060708090a0b0c0d0e0f
    fi
    bench_scratch=$(mktemp -d /tmp/idgen.bench.XXXXXX)

    # Append the settings of all benchmarks to the caller's settings.
    export PGOPTIONS="${PGOPTIONS:-} -c synchronous_commit=off -c client_min_messages=warning\
 -c statement_timeout=0 -c max_parallel_workers_per_gather=0 -c jit=off"
    export PGAPPNAME=idgen_bench_$$

    where=$(bench_value "SELECT to_regnamespace('idgen_bench') IS NULL, current_setting('server_version'),
                                current_database()") || idgen_die "no connection to the server"
    [[ $where != f* ]] || idgen_die "the schema idgen_bench already exists; another run uses it, or drop it"
    bench_schema=idgen_bench
    bench_value "CREATE SCHEMA idgen_bench" || idgen_die "could not create the schema idgen_bench"
    if [ -z "$(bench_value "SELECT 1 FROM pg_extension WHERE extname = 'idgen'")" ]; then
        bench_extension=idgen
        bench_value "CREATE EXTENSION idgen" || idgen_die "could not create the extension idgen"
    fi
    bench_progress "PostgreSQL ${where#t }${IDGEN_WORK:+ in $IDGEN_WORK}"
}
