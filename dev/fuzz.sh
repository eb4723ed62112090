#!/usr/bin/env bash
#
# fuzz.sh: run the libFuzzer targets in dev/fuzz/, which call idgen's functions that read text, under AddressSanitizer
# and UndefinedBehaviorSanitizer.
#
#   dev/fuzz.sh [--seconds N] [TARGET ...]     default: all targets, 10 seconds each
#
# A target is a function fuzz_TARGET() in dev/fuzz/ (see dev/fuzz/fuzz.h). It starts with the inputs in
# dev/fuzz/seeds/TARGET, which has one input per line, with the escapes of printf. If an input fails, the script keeps
# it. To run it again, add it to the seeds. PG_CONFIG=/path/to/pg_config selects the headers and libpgcommon.

. "$(dirname "$0")/../scripts/results.sh"

seconds=10
idgen_options 'seconds#' "$@"
mapfile -t targets < <(sed -n 's/^fuzz_\([a-z_]*\)(Input \*input)$/\1/p' "$IDGEN_SOURCE"/dev/fuzz/fuzz_*.c)
[ ${#arguments[@]} -eq 0 ] || targets=("${arguments[@]}")

can_fuzz() {
    echo 'int LLVMFuzzerTestOneInput(const char *b, long n) { return b && n < 0; }' |
        clang -x c - -fuse-ld=lld -fsanitize=fuzzer,address -o "$build/probe" 2>/dev/null
}

compile() {
    clang -c -g -O1 -ffunction-sections -fdata-sections -Wall -Wextra -Wshadow -Wno-unused-parameter \
        -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=undefined \
        -DUSE_ASSERT_CHECKING=1 -D_GNU_SOURCE \
        -I"$build" -I"$IDGEN_SOURCE/src" -I"$IDGEN_SOURCE/dev/fuzz" \
        -isystem "$("$PG_CONFIG" --includedir-server)" -o "$build/$(basename "$1" .c).o" "$1"
}

# Server functions that a target does not reach may be missing, because the linker removes the sections that call them.
link_target() {
    clang -fuse-ld=lld -fsanitize=fuzzer,address,undefined -Wl,--gc-sections -Wl,-z,start-stop-gc \
        -Wl,--defsym=fuzz_target="fuzz_$1" -o "$build/$1" "$build"/{fuzz_*,server}.o "$build/idgen.a" \
        -L"$("$PG_CONFIG" --libdir)" -L"$("$PG_CONFIG" --pkglibdir)" -lpgcommon -lpgport
}

idgen_install_packages
idgen_require clang ld.lld:lld
idgen_make_work_folder
build=$IDGEN_WORK
can_fuzz || idgen_apt_install "libclang-rt-$(clang -dumpversion | cut -d. -f1)-dev"

idgen_say "Building for $("$PG_CONFIG" --version)"
sources=("$IDGEN_SOURCE"/src/*.c)
# dev/fuzz/fuzz.h includes the declarations of all SQL functions.
sed -nE 's/^PG_FUNCTION_INFO_V1\((idgen_\w+)\).*/extern Datum \1(PG_FUNCTION_ARGS);/p' "${sources[@]}" \
    >"$build/functions.h"
export build IDGEN_SOURCE PG_CONFIG
export -f compile
printf '%s\n' "${sources[@]}" "$IDGEN_SOURCE"/dev/fuzz/*.c |
    xargs -P "$(nproc)" -I{} bash -c 'compile {}' || idgen_die "could not compile"
(cd "$build" && objects=("${sources[@]##*/}") && ar rc idgen.a "${objects[@]/%.c/.o}") ||
    idgen_die "could not make idgen.a"
for target in "${targets[@]}"; do
    link_target "$target" || idgen_die "could not link $target"
done

export UBSAN_OPTIONS=print_stacktrace=1 ASAN_OPTIONS=detect_leaks=1
findings=$(mktemp -d /tmp/idgen-fuzz-findings.XXXXXX)
idgen_say "Fuzzing for $seconds s each"
for target in "${targets[@]}"; do
    corpus=$build/corpus/$target
    mkdir -p "$corpus"
    number=0
    while IFS= read -r input; do
        number=$((number + 1))
        printf %b "$input" >"$corpus/$number"
    done <"$IDGEN_SOURCE/dev/fuzz/seeds/$target"

    log=$build/$target.log
    "$build/$target" -max_total_time="$seconds" -max_len=256 -timeout=20 -print_final_stats=1 \
        -artifact_prefix="$findings/$target-" "$corpus" > "$log" 2>&1
    status=$?
    inputs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
    [ "$status" -eq 0 ] && [ "${inputs:-0}" -gt 0 ]
    result $? "$(printf '%-12s %12d inputs' "$target" "${inputs:-0}")" || {
        cp "$log" "$findings/$target.log"
        grep -vE '^(INFO|#|stat::|\s*NEW_FUNC)' "$log" | head -n 60
    }
done
rmdir "$findings" 2>/dev/null || printf 'The failing inputs are in %s\n' "$findings"

end_of_results
