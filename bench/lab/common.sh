# shellcheck shell=bash
#
# common.sh: functions of all benchmarks. To be sourced.
#
# A benchmark runs on a private cluster (scripts/lib.sh) or, with --server, on
# the server of the PG* variables. There, it creates everything in the schema
# idgen_bench, and creates an extension only if it is missing.
#
#   bench_options NAMES ARGUMENT ... read options
#   bench_open [SETTING=VALUE ...]   start the private cluster, or check the server
#   bench_psql, bench_pgbench        run a client; a signal ends it at once
#   bench_value SQL                  print the result of a short query
#   bench_progress TEXT              print a line to stderr
#   bench_settings                   print the lines of settings.csv
#
# On exit, also when interrupted, the private cluster and its folder are removed,
# or the schema and the extensions that bench_open created are dropped.

BENCH=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source-path=SCRIPTDIR source=../../scripts/lib.sh
. "$BENCH/../../scripts/lib.sh"

# the output of psql, pgbench and awk is parsed
export LC_ALL=C

bench_server=0          # 1: use the server of the PG* variables
bench_packages=         # "bench": also install what the report requires
bench_child=            # the client that is running
bench_scratch=          # a folder for intermediate results
bench_schema=           # these are dropped at the end
bench_extensions=()
bench_started=$SECONDS
bench_command="$(basename "$0") $*"

# --- progress ---------------------------------------------------------------

bench_elapsed() {
    local seconds=$((SECONDS - bench_started))
    printf '%d:%02d' $((seconds / 60)) $((seconds % 60))
}

bench_progress() { printf '[%s] %s\n' "$(bench_elapsed)" "$*" >&2; }

# 5000000 as 5,000,000
bench_number() { sed -E ':a; s/([0-9])([0-9]{3})($|,)/\1,\2\3/; ta' <<<"$1"; }

# --- options ----------------------------------------------------------------

bench_need_number() {
    [[ $2 =~ ^[1-9][0-9]{0,17}$ ]] || idgen_die "$1 requires a positive whole number, not \"$2\""
}

# Read options into variables. NAMES are the variables: NAME for --NAME NUMBER,
# NAME[] for --NAME A,B,..., and "server" where --server is allowed.
bench_options() {
    local names=" $1 " name
    shift
    while [ $# -gt 0 ]; do
        case $1 in --*=*) set -- "${1%%=*}" "${1#*=}" "${@:2}" ;; esac
        name=${1#--}
        name=${name//-/_}
        case $1 in
            --help | -h) idgen_help; exit 0 ;;
            --server) [[ $names != *" server "* ]] || { bench_server=1; shift; continue; } ;;
            --*) [ $# -ge 2 ] || idgen_die "unknown option $1, or its value is missing; see --help" ;;
        esac
        if [[ $1 = --* && $names = *" ${name}[] "* ]]; then
            [[ $2 =~ ^[a-z0-9_]+(,[a-z0-9_]+)*$ ]] || idgen_die "$1 requires values separated by commas, not \"$2\""
        elif [[ $1 = --* && $1 != --server && $names = *" $name "* ]]; then
            bench_need_number "$1" "$2"
        else
            idgen_die "unknown option $1; see --help"
        fi
        declare -g "$name=$2"
        shift 2
    done
}

# --- clients ----------------------------------------------------------------

# Run a client in the background and wait for it, because bash does not handle
# signals while it waits for a command in the foreground.
bench_run() {
    local status
    "$@" <&0 &
    bench_child=$!
    wait "$bench_child"
    status=$?
    bench_child=
    return $status
}

bench_psql() { bench_run psql -X -q -A -t -F ' ' -v ON_ERROR_STOP=1 "$@"; }

bench_pgbench() { bench_run pgbench -n -M prepared "$@"; }

bench_value() { psql -X -q -A -t -F ' ' -v ON_ERROR_STOP=1 -c "$1"; }

# Wait until earlier sessions have ended and reported their statistics.
bench_settle() { bench_psql -f "$BENCH/sql/settle.sql"; }

# Quote a text for a CSV file.
bench_quoted() { echo "\"${1//\"/\"\"}\""; }

# The lines of settings.csv: the machine, and the settings on which figures depend.
bench_settings() {
    echo "name,value"
    echo "command,$(bench_quoted "$bench_command")"
    echo "date,$(date -u '+%Y-%m-%d')"
    echo "cores,$(nproc)"
    echo "processor,$(bench_quoted "$(sed -n '/^model name/ { s/.*: //p; q }' /proc/cpuinfo 2>/dev/null)")"
    echo "memory,$(sed -nE '/^MemTotal/ s/.*: *//p' /proc/meminfo 2>/dev/null)"
    echo "system,$(bench_quoted "$(uname -sr)")"
    echo "server,$(if [ "$bench_server" = 1 ]; then echo given; else echo private; fi)"
    bench_psql -f "$BENCH/sql/settings.sql"
}

# --- beginning and end ------------------------------------------------------

bench_drop() {
    local extension
    # a backend does not notice that its client has ended
    echo "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
          WHERE application_name = current_setting('application_name')
            AND pid <> pg_backend_pid();"
    [ -z "$bench_schema" ] || echo "DROP SCHEMA IF EXISTS $bench_schema CASCADE;"
    for extension in "${bench_extensions[@]}"; do
        echo "DROP EXTENSION IF EXISTS $extension;"
    done
}

bench_close() {
    [ -z "$bench_child" ] || kill "$bench_child" 2>/dev/null
    if [ "$bench_server" = 1 ] && [ -n "$bench_schema" ]; then
        # without the terminal, whose Ctrl-C would also end this psql
        bench_drop | setsid -w psql -X -q -o /dev/null -v ON_ERROR_STOP=1 ||
            echo "could not clean up: please drop the schema $bench_schema" >&2
    fi
    [ -z "$bench_scratch" ] || rm -rf "$bench_scratch"
    # without results, remove the folder
    [ -z "${bench_out:-}" ] || rmdir -p --ignore-fail-on-non-empty "$bench_out" 2>/dev/null
}

# Create an extension if it is missing, to be dropped at the end.
bench_extension() {
    local name=$1
    [ -z "$(bench_value "SELECT 1 FROM pg_extension WHERE extname = '$name'")" ] || return 0
    # dropped in the reverse order, because an extension may require one before it
    bench_extensions=("$name" "${bench_extensions[@]}")
    bench_value "CREATE EXTENSION $name" || idgen_die "could not create the extension $name"
}

# Give a private cluster a key for mask_uuid_v7() and permute(), which bench_open
# has named in its settings.
bench_mask_key() {
    [ "$bench_server" = 1 ] || idgen_mask_key 000102030405060708090a0b0c0d0e0f
}

bench_open() {
    local where

    if [ "$bench_server" = 0 ]; then
        bench_progress "building idgen and starting a private cluster"
        idgen_install_packages "${bench_packages:-}" >&2
        # shellcheck disable=SC2119
        idgen_build >&2 || idgen_die "idgen could not be built"
    fi
    idgen_at_exit bench_close
    [ "$bench_server" = 1 ] || idgen_start "$@"
    bench_scratch=$(mktemp -d /tmp/idgen.bench.XXXXXX)

    # the caller's settings, and then those of every benchmark
    export PGOPTIONS="${PGOPTIONS:-} -c synchronous_commit=off -c client_min_messages=warning\
 -c statement_timeout=0 -c max_parallel_workers_per_gather=0 -c jit=off"
    export PGAPPNAME=idgen_bench_$$

    where=$(bench_value "SELECT current_setting('server_version_num')::int >= 150000,
                         to_regnamespace('idgen_bench') IS NULL,
                         current_setting('server_version'), current_database()") ||
        idgen_die "no connection to the server"
    [[ $where != f* ]] || idgen_die "the server is older than PostgreSQL 15"
    [[ $where != 't f'* ]] ||
        idgen_die "the schema idgen_bench already exists; another run uses it, or drop it"
    bench_schema=idgen_bench
    bench_value "CREATE SCHEMA idgen_bench" || idgen_die "could not create the schema idgen_bench"
    bench_extension idgen
    bench_progress "PostgreSQL ${where#t t }"
}
