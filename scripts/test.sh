#!/usr/bin/env bash
#
# test.sh: build idgen and run its tests on a private cluster.
#
#   scripts/test.sh                              all tests (ten minutes on two cores)
#   scripts/test.sh FOLDER ...                   the tests of . (the extension), bench/lab or contrib/NAME
#   scripts/test.sh t/NAME.pl ...                only these TAP tests
#   scripts/test.sh --regress [t/NAME.pl ...]    the regression and isolation tests, and these TAP tests
#
# The script installs missing packages, and builds with warnings as errors and with assertions, even if the server has
# none. PG_CONFIG=/path/to/pg_config selects the server.

. "$(dirname "$0")/results.sh"

idgen_options 'regress?' "$@"
cd "$IDGEN_SOURCE" || exit
if [ -z "${regress:-}" ] && [ ${#arguments[@]} -eq 0 ]; then arguments=(. bench/lab contrib/*/); fi

# The folders with regression tests, and the TAP tests
folders=() tests=()
for argument in "${arguments[@]}"; do
    [ -e "$argument" ] || idgen_die "$argument does not exist"
    if [ -d "$argument" ]; then
        folders+=("${argument%/}")
        argument=${argument%/}/t/
        for test in "${argument#./}"*.pl; do [ ! -e "$test" ] || tests+=("$test"); done
    else
        tests+=("$argument")
    fi
done
[ -z "${regress:-}" ] || folders=(. contrib/*)

idgen_install_packages tests
idgen_say "Building for $("$PG_CONFIG" --version), with warnings as errors and with assertions"
idgen_build COPT="$(idgen_warnings) -DUSE_ASSERT_CHECKING"
result $? "idgen builds" || { end_of_results; exit; }

if [ ${#folders[@]} -gt 0 ]; then
    # VACUUM and ANALYZE run only when a test requests them.
    idgen_start autovacuum=off
    for folder in "${folders[@]}"; do
        [ -e "$folder/Makefile" ] || continue
        # Run them separately, because make stops at the first test that fails.
        name=${folder##*/}
        run "Regression tests of $folder" "regress_$name" "${idgen_make[@]}" -C "$folder" installcheck ISOLATION=
        ! grep -q '^ISOLATION ' "$folder/Makefile" ||
            run "Isolation tests of $folder" "isolation_$name" "${idgen_make[@]}" -C "$folder" installcheck REGRESS=
    done
    idgen_stop
fi

[ ${#tests[@]} -eq 0 ] || run "TAP tests" tap "${idgen_prove[@]}" --jobs 2 --timer "${tests[@]}"

end_of_results
