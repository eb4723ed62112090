#!/usr/bin/env bash
#
# coverage.sh: measure the share of src/ and advisor/ that the tests run.
#
#   scripts/dev/coverage.sh [--uncovered] [t/NAME.pl ...]
#
#   --uncovered    also print the lines that no test runs
#   t/NAME.pl      run only these TAP tests; "none" for no TAP test
#
# Builds with gcov's counters, runs pg_regress, the isolation tests and the TAP
# tests on a private cluster, and prints the share of lines that were run in
# each file. (The counts of a process that ends by kill -9 are lost.) Ends with
# a line "N passed, N failed"; the exit status is 0 if no test failed and at
# least 95 % of all lines were run. Takes somewhat longer than scripts/test.sh.

set -uo pipefail
. "$(dirname "$0")/../lib.sh"

least=95        # percent
uncovered=
tests=()
while [ $# -gt 0 ]; do
    case $1 in
        --uncovered) uncovered=1 ;;
        --help | -h) idgen_help; exit ;;
        -*) idgen_die "unknown option $1; see --help" ;;
        *) tests+=("$1") ;;
    esac
    shift
done
[ ${#tests[@]} -gt 0 ] ||
    mapfile -t tests < <(idgen_tap_tests)
[ "${tests[*]}" != none ] || tests=()

# The counters are gcc's, so that gcov reads them.
command -v gcov >/dev/null || idgen_apt_install gcc libc6-dev
idgen_install_packages tests
idgen_say "Building for $("$PG_CONFIG" --version), with counters"
# gcov's functions are not exported, like idgen's
idgen_build CC=gcc COPT='--coverage -O0 -fno-inline -Wno-error' SHLIB_LINK=-Wl,--exclude-libs,ALL || exit

status=0
make_check() { as_server_user make -s -C "$IDGEN_BUILD" PG_CONFIG="$PG_CONFIG" with_llvm=no "$@"; }

idgen_say "pg_regress and isolation tests"
idgen_start
make_check installcheck >"$IDGEN_WORK/regress.log" 2>&1 || status=1
make_check -C advisor installcheck >>"$IDGEN_WORK/regress.log" 2>&1 || status=1
grep -E '^(not ok|test .*FAILED)|All .* tests passed|of .* failed' "$IDGEN_WORK/regress.log"
idgen_stop

if [ ${#tests[@]} -gt 0 ]; then
    idgen_say "TAP tests"
    as_server_user "${idgen_prove[@]}" "${tests[@]}" || status=1
fi

# gcov writes lines of "COUNT: LINE: SOURCE" for each source. COUNT is "-" for a
# line without code and "#####" for one that was not run.
idgen_say "Lines of src/ and advisor/ that were run"
# shellcheck disable=SC2016    # $f is for the inner shell
as_server_user env -C "$IDGEN_BUILD" sh -c \
    'for f in src/*.c; do
         mkdir -p "gcov/$f" && gcov --object-directory src "$f" >/dev/null && mv ./*.gcov "gcov/$f/"
     done
     cd advisor && for f in *.c; do
         mkdir -p "../gcov/advisor/$f" && gcov "$f" >/dev/null && mv ./*.gcov "../gcov/advisor/$f/"
     done'
# a header has counts for each source that includes it; the server's headers are
# left out
mapfile -t counted < <(
    for source in "$IDGEN_BUILD"/{src,advisor}/*.[ch]; do
        find "$IDGEN_BUILD/gcov" -name "${source##*/}.gcov"
    done
)
awk -F: -v least="$least" -v uncovered="$uncovered" '
    FNR == 1 {source = FILENAME; sub(/.*\//, "", source); sub(/\.gcov$/, "", source)}
    $2 + 0 == 0 || $1 ~ /^ *-$/ {next}
    {
        # a header is read once for each file that includes it
        line = source ":" ($2 + 0)
        if (!(line in ran)) {order[++n] = line; file[line] = source; ran[line] = 0
                             text[line] = $0; sub(/^[^:]*:[^:]*:/, "", text[line])}
        if ($1 !~ /#####|=====/) ran[line] = 1
    }
    END {
        for (i = 1; i <= n; i++) {
            line = order[i]
            if (!(file[line] in lines)) files[++m] = file[line]
            lines[file[line]]++; all++
            if (ran[line]) {hit[file[line]]++; all_hit++}
            else if (uncovered) printf "not run: %s:%s\n", line, text[line]
        }
        printf "\n%-20s %6s %6s %8s\n", "file", "lines", "run", "share"
        for (i = 1; i <= m; i++)
            printf "%-20s %6d %6d %7.1f%%\n", files[i], lines[files[i]], hit[files[i]], 100 * hit[files[i]] / lines[files[i]]
        printf "%-20s %6d %6d %7.1f%%\n", "all", all, all_hit, 100 * all_hit / all
        exit all == 0 || 100 * all_hit / all < least
    }' "${counted[@]}" || { echo "less than $least %"; status=1; }
[ $status -eq 0 ] && echo '1 passed, 0 failed' || echo '0 passed, 1 failed'
exit $status
