#!/usr/bin/env bash
#
# fuzz.sh: run the libFuzzer targets in fuzz/ on idgen's decoders, converters
# and checks, under AddressSanitizer and UndefinedBehaviorSanitizer.
#
#   scripts/dev/fuzz.sh [OPTION ...] [TARGET ...]
#
#   --seconds N    time for each target (default 5)
#   --runs N       number of inputs for each target, instead of a time
#   --corpus DIR   start from the inputs in DIR/TARGET, and save new ones there
#   --input FILE   run the targets with this input only
#   --list         list the targets
#   --help         print this text
#
# A target is fuzz/fuzz_TARGET.c, see fuzz/fuzz.h. It starts from the inputs in
# fuzz/seeds/TARGET. Prints the number of inputs of each target, keeps an input
# that fails, and ends with a line "N passed, N failed". The exit status is 0 if
# nothing failed. All targets take about two minutes by default.
#
# Installs clang and lld if they are missing. PG_CONFIG=/path/to/pg_config chooses
# the server whose headers and libpgcommon are used; no server is started.

set -uo pipefail
# shellcheck source-path=SCRIPTDIR source=../lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source-path=SCRIPTDIR source=verdicts.sh
. "$(dirname "$0")/verdicts.sh"

seconds=5
runs=
corpus=
input=

list_targets() {
    local file
    for file in "$IDGEN_SOURCE"/fuzz/fuzz_*.c; do
        file=$(basename "$file" .c)
        echo "${file#fuzz_}"
    done
}

need_number() {
    [[ $2 =~ ^[1-9][0-9]{0,9}$ ]] || idgen_die "$1 requires a positive number"
}

while [ $# -gt 0 ]; do
    case $1 in --*=*) set -- "${1%%=*}" "${1#*=}" "${@:2}" ;; esac
    case $1 in
        --help|-h) idgen_help; exit 0 ;;
        --list) list_targets; exit 0 ;;
        --*) [ $# -ge 2 ] || idgen_die "unknown option $1, or its value is missing; see --help" ;;
        *) break ;;
    esac
    case $1 in
        --seconds) need_number "$1" "$2"; seconds=$2 ;;
        --runs) need_number "$1" "$2"; runs=$2 ;;
        --corpus) corpus=$2 ;;
        --input) [ -r "$2" ] || idgen_die "cannot read $2"; input=$(realpath "$2") ;;
        *) idgen_die "unknown option $1; see --help" ;;
    esac
    shift 2
done
mapfile -t targets < <(list_targets)
for target in "$@"; do
    [ -r "$IDGEN_SOURCE/fuzz/fuzz_$target.c" ] || idgen_die "unknown target $target; see --list"
done
[ $# -eq 0 ] || targets=("$@")

# --- building ---------------------------------------------------------------

sanitizers=('-fsanitize=fuzzer-no-link,address,undefined' -fno-sanitize-recover=undefined)

can_fuzz() {
    command -v clang >/dev/null &&
        echo 'int LLVMFuzzerTestOneInput(const char *b, long n) { return b && n < 0; }' |
        clang -x c - -fuse-ld=lld -fsanitize=fuzzer,address -o "$1" 2>/dev/null
}

install_clang() {
    local probe=$1
    can_fuzz "$probe" && return
    command -v clang >/dev/null && command -v ld.lld >/dev/null || idgen_apt_install clang lld
    can_fuzz "$probe" && return
    idgen_apt_install "libclang-rt-$(clang -dumpversion | cut -d. -f1)-dev"
    can_fuzz "$probe" || idgen_die "clang cannot make a fuzz target here"
}

# Functions of the server that a target does not reach may be missing: the
# linker removes the sections that call them. The clock is that of server.c.
compile() {
    clang -c -g -O1 -ffunction-sections -fdata-sections "${sanitizers[@]}" -Wall -Wextra -Wshadow \
        -DUSE_ASSERT_CHECKING=1 -D_GNU_SOURCE -Dclock_gettime=server_clock_gettime \
        -I"$build" -I"$IDGEN_SOURCE/src" -I"$IDGEN_SOURCE/fuzz" \
        -isystem "$("$PG_CONFIG" --includedir-server)" -o "$build/$(basename "$1" .c).o" "$1"
}

# A target that does not include server.h is linked without server.c.
link_target() {
    local server=()
    ! grep -q '^#include "server.h"' "$IDGEN_SOURCE/fuzz/fuzz_$1.c" || server=("$build/server.o")
    clang -fuse-ld=lld -fsanitize=fuzzer,address,undefined -Wl,--gc-sections -Wl,-z,start-stop-gc \
        -o "$build/$1" "$build/fuzz_$1.o" "$build/fuzz.o" "${server[@]}" "$build/idgen.a" \
        -L"$("$PG_CONFIG" --libdir)" -L"$("$PG_CONFIG" --pkglibdir)" -lpgcommon -lpgport
}

# Declarations of all SQL functions, and the schemes whose identifiers contain a
# node: fuzz/server.h and the targets of bigint identifiers read them.
make_headers() {
    sed -n 's/^PG_FUNCTION_INFO_V1(\(idgen_.*\));.*/extern Datum \1(PG_FUNCTION_ARGS);/p' "$@" >"$build/functions.h"
    sed -n 's/^PG_FUNCTION_INFO_V1(idgen_\(.*\)_node);.*/SCHEME(\1)/p' "$@" >"$build/schemes.h"
}

# shellcheck disable=SC2119
idgen_install_packages
build=$(mktemp -d /tmp/idgen-fuzz.XXXXXX)
remove_build() { rm -rf "$build"; }
idgen_at_exit remove_build
install_clang "$build/probe"

idgen_say "Building for $("$PG_CONFIG" --version)"
sources=("$IDGEN_SOURCE"/src/*.c)
make_headers "${sources[@]}"
export build IDGEN_SOURCE PG_CONFIG
export -f compile
target_sources=("${targets[@]/#/$IDGEN_SOURCE/fuzz/fuzz_}")
printf '%s\n' "${sources[@]}" "$IDGEN_SOURCE"/fuzz/{fuzz,server}.c "${target_sources[@]/%/.c}" |
    xargs -P "$(nproc)" -I{} bash -c "sanitizers=(${sanitizers[*]}); compile {}" || idgen_die "could not compile"
(cd "$build" && objects=("${sources[@]##*/}") && ar rc idgen.a "${objects[@]/%.c/.o}") || idgen_die "could not make idgen.a"
for target in "${targets[@]}"; do
    link_target "$target" || idgen_die "could not link $target"
done
echo "ok"

# --- running ----------------------------------------------------------------

export UBSAN_OPTIONS=print_stacktrace=1
export ASAN_OPTIONS=detect_leaks=1

if [ -n "$input" ]; then
    for target in "${targets[@]}"; do
        "$build/$target" "$input" || exit
    done
    exit 0
fi

findings=$(mktemp -d /tmp/idgen-fuzz-findings.XXXXXX)
total=0
limit=(-max_total_time="$seconds")
[ -z "$runs" ] || limit=(-runs="$runs")

idgen_say "Fuzzing, $([ -z "$runs" ] && echo "$seconds s" || echo "$runs inputs") a target"
for target in "${targets[@]}"; do
    folders=("$build/corpus/$target")
    [ -z "$corpus" ] || folders=("$corpus/$target")
    mkdir -p "${folders[0]}"
    [ ! -d "$IDGEN_SOURCE/fuzz/seeds/$target" ] || folders+=("$IDGEN_SOURCE/fuzz/seeds/$target")

    log=$build/$target.log
    "$build/$target" "${limit[@]}" -max_len=256 -timeout=20 -print_final_stats=1 \
        -artifact_prefix="$findings/$target-" "${folders[@]}" > "$log" 2>&1
    status=$?
    inputs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
    total=$((total + ${inputs:-0}))
    [ "$status" -eq 0 ] && [ "${inputs:-0}" -gt 0 ]
    verdict $? "$(printf '%-12s %12d inputs' "$target" "${inputs:-0}")" || {
        cp "$log" "$findings/$target.log"
        grep -vE '^(INFO|#|stat::|\s*NEW_FUNC)' "$log" | head -n 60
    }
done
printf '%d inputs in total\n' "$total"
rmdir "$findings" 2>/dev/null || printf 'The failing inputs are in %s\n' "$findings"

end_of_verdicts
