#!/usr/bin/env bash
#
# fuzz.sh: feed idgen's decoders, converters and checks with inputs that
# libFuzzer makes up, under AddressSanitizer and UndefinedBehaviorSanitizer.
#
#   scripts/dev/fuzz.sh [OPTION ...] [TARGET ...]
#
#   --seconds N    for each target (default 5)
#   --runs N       so many inputs for each target, instead of a time
#   --corpus DIR   begin with the inputs in DIR/TARGET, and keep new ones there
#   --list         names the targets
#   --help         this text
#
# A target is fuzz/fuzz_TARGET.c: it calls functions of src/, which are
# compiled as they are, and checks what must hold for every input; see
# fuzz/backend.h. Each begins with the inputs in fuzz/seeds/TARGET. Prints how
# many inputs each target had, and ends with a line "N passed, N failed". An
# input that fails is kept, and where it is is printed; run the target with it:
#
#   scripts/dev/fuzz.sh --input FILE TARGET
#
# Installs clang where it is missing. PG_CONFIG=/path/to/pg_config chooses the
# server whose headers are used; none is started.

set -uo pipefail
# shellcheck source-path=SCRIPTDIR source=../lib.sh
. "$(dirname "$0")/../lib.sh"

# the sources that the targets are made of
sources=(base clock comb convert decimal_id entropy id_text inspect int_ids object_id prefixed_id radix
         short_prefix typeid ulid uuid_time validate)

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
    [[ $2 =~ ^[1-9][0-9]{0,9}$ ]] || idgen_die "$1 wants a number from 1 on"
}

while [ $# -gt 0 ]; do
    case $1 in --*=*) set -- "${1%%=*}" "${1#*=}" "${@:2}" ;; esac
    case $1 in
        --help|-h) idgen_help; exit 0 ;;
        --list) list_targets; exit 0 ;;
        --*) [ $# -ge 2 ] || idgen_die "$1 is no option, or wants a value; see --help" ;;
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
    [ -r "$IDGEN_SOURCE/fuzz/fuzz_$target.c" ] || idgen_die "there is no target $target; see --list"
done
[ $# -eq 0 ] || targets=("$@")

# --- building ---------------------------------------------------------------

sanitizers=('-fsanitize=fuzzer-no-link,address,undefined' -fno-sanitize-recover=undefined)

can_fuzz() {
    command -v clang >/dev/null &&
        echo 'int LLVMFuzzerTestOneInput(const char *b, long n) { return b && n < 0; }' |
        clang -x c - -fsanitize=fuzzer,address -o "$1" 2>/dev/null
}

install_clang() {
    local probe=$1
    can_fuzz "$probe" && return
    command -v clang >/dev/null || idgen_apt_install clang
    can_fuzz "$probe" && return
    idgen_apt_install "libclang-rt-$(clang -dumpversion | cut -d. -f1)-dev"
    can_fuzz "$probe" || idgen_die "clang cannot make a fuzz target here"
}

compile() {
    clang -c -g -O1 -fPIC "${sanitizers[@]}" -Wall -Wextra -Wshadow -DUSE_ASSERT_CHECKING=1 -D_GNU_SOURCE \
        -I"$IDGEN_SOURCE/src" -I"$IDGEN_SOURCE/fuzz" -isystem "$("$PG_CONFIG" --includedir-server)" \
        -Wno-unused-command-line-argument -o "$build/$(basename "$1" .c).o" "$1"
}

# idgen is a library that finds a server in the program that loads it, as ever.
# What no target calls may be missing there; the clock is the target's.
link_idgen() {
    clang -shared -g "${sanitizers[@]}" -Wl,-z,lazy -Wl,--wrap=clock_gettime \
        -o "$build/idgen.so" "${sources[@]/#/$build/}"
}

link_target() {
    clang -rdynamic -fsanitize=fuzzer,address,undefined -Wl,-z,lazy -Wl,--allow-shlib-undefined \
        -Wl,-rpath,"$build" -o "$build/$1" "$build/fuzz_$1.o" "$build"/backend.o "$build"/backend_rest.o "$build/idgen.so"
}

# shellcheck disable=SC2119
idgen_install_packages
build=$(mktemp -d /tmp/idgen-fuzz.XXXXXX)
remove_build() { rm -rf "$build"; }
idgen_at_exit remove_build
install_clang "$build/probe"

idgen_say "Building for $("$PG_CONFIG" --version)"
sources=("${sources[@]/%/.o}")
{
    for source in "${sources[@]}"; do echo "$IDGEN_SOURCE/src/${source%.o}.c"; done
    for source in backend backend_rest "${targets[@]/#/fuzz_}"; do echo "$IDGEN_SOURCE/fuzz/$source.c"; done
} > "$build/list"
export build IDGEN_SOURCE PG_CONFIG
export -f compile
xargs -P "$(nproc)" -I{} bash -c "sanitizers=(${sanitizers[*]}); compile {}" < "$build/list" || idgen_die "could not compile"
link_idgen || idgen_die "could not link idgen"
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
passed=0
failed=0
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
    if [ "$status" -eq 0 ] && [ "${inputs:-0}" -gt 0 ]; then
        passed=$((passed + 1))
        total=$((total + inputs))
        printf 'ok %d - %-12s %12d inputs\n' $((passed + failed)) "$target" "$inputs"
    else
        failed=$((failed + 1))
        printf 'not ok %d - %s\n' $((passed + failed)) "$target"
        cp "$log" "$findings/$target.log"
        grep -vE '^(INFO|#|stat::|\s*NEW_FUNC)' "$log" | head -n 60
    fi
done
printf '%d inputs in all\n' "$total"
rmdir "$findings" 2>/dev/null || printf 'What failed is in %s\n' "$findings"

printf '\n%d passed, %d failed\n' "$passed" "$failed"
[ "$failed" -eq 0 ]
