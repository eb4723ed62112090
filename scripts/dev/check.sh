#!/usr/bin/env bash
#
# check.sh: check the sources with compilers and other tools, without running
# them.
#
#   scripts/dev/check.sh [CHECK ...]       these checks, by default all
#
#   gcc, clang       build with -Wall -Wextra -Wshadow, with warnings as errors
#   clang-tidy       the checks in .clang-tidy
#   cppcheck         all of its checks except those excluded below
#   format           src/ and advisor/ have the format of clang-format, except for
#                    columns: see
#                    .clang-format and check/statements.pl
#   shell            the warnings and errors of shellcheck
#   perl, python     tests and scripts compile
#   yaml             .github and packaging can be read
#
# Installs missing tools. Ends with a line "N passed, N failed"; the exit status
# is 0 if nothing failed. Takes about a minute.

set -uo pipefail
. "$(dirname "$0")/../lib.sh"
# shellcheck source-path=SCRIPTDIR source=verdicts.sh
. "$(dirname "$0")/verdicts.sh"

idgen_no_options "$@"

all_checks=(gcc clang clang-tidy cppcheck format shell perl python yaml)

# --- the tools --------------------------------------------------------------

install_tools() {
    local check missing=()
    for check in "${checks[@]}"; do
        case $check in
            gcc) command -v gcc >/dev/null || missing+=(gcc libc6-dev) ;;
            clang) command -v clang >/dev/null || missing+=(clang) ;;
            clang-tidy) command -v clang-tidy >/dev/null || missing+=(clang-tidy) ;;
            cppcheck) command -v cppcheck >/dev/null || missing+=(cppcheck) ;;
            format) command -v clang-format >/dev/null || missing+=(clang-format) ;;
            shell) command -v shellcheck >/dev/null || missing+=(shellcheck) ;;
            perl) perl -MIPC::Run -e 1 2>/dev/null || missing+=(libipc-run-perl) ;;
            python) command -v python3 >/dev/null || missing+=(python3) ;;
            yaml) python3 -c "import yaml" 2>/dev/null || missing+=(python3-yaml) ;;
            *) idgen_die "unknown check $check; the checks are: ${all_checks[*]}" ;;
        esac
    done
    [ ${#missing[@]} -eq 0 ] || idgen_apt_install "${missing[@]}"
    idgen_install_packages
}

# Run a command, and count it as one check. Its output is shown if it fails.
check() {
    local title=$1 log=$IDGEN_WORK/check.log
    shift
    "$@" >"$log" 2>&1
    verdict $? "$title" || cat "$log"
}

# --- the sources ------------------------------------------------------------

# A copy of the sources, without results of a build.
copy_sources() {
    mkdir "$IDGEN_WORK/$1"
    (cd "$IDGEN_SOURCE" && tar cf - --exclude='*.o' --exclude='*.so' Makefile exports.txt idgen.control ./*.sql src advisor) |
        tar xf - -C "$IDGEN_WORK/$1"
}

build_with() {
    local folder build=$IDGEN_WORK/build-$1
    copy_sources "build-$1" || return
    for folder in "$build" "$build/advisor"; do
        make -s -C "$folder" PG_CONFIG="$PG_CONFIG" with_llvm=no CC="$1" \
            COPT="$(idgen_warnings) $2" all || return
    done
    [ -e "$build/idgen.so" ] && [ -e "$build/advisor/idgen_advisor.so" ]
}

# Warnings of the server's headers are not reported.
compiler_options() {
    printf '%s\n' "-I$IDGEN_SOURCE/src" "-I$IDGEN_SOURCE/advisor" -isystem "$("$PG_CONFIG" --includedir-server)" \
        -D_GNU_SOURCE -Wall -Wextra -Wshadow
}

clang_tidy() {
    local options
    mapfile -t options < <(compiler_options)
    clang-tidy --quiet --warnings-as-errors='*' "$IDGEN_SOURCE"/{src,advisor}/*.c -- "${options[@]}"
}

# Excluded messages of cppcheck:
#   missingInclude...     for speed, it does not read the server's headers
#   unknownMacro, unassignedVariable
#                         for the same reason, their macros and types are unknown
#   unusedStructMember    padding
#   variableScope         declarations are at the top of a block
#   constParameter...     the server prescribes the signatures of functions
#   checkersReport, ...   messages about cppcheck itself
run_cppcheck() {
    local left_out=(missingInclude missingIncludeSystem unknownMacro unassignedVariable unusedStructMember
        variableScope constParameter constParameterPointer constParameterCallback constVariablePointer
        checkersReport normalCheckLevelMaxBranches unmatchedSuppression)
    cppcheck --quiet --enable=warning,style,performance,portability --inline-suppr --std=c99 \
        --error-exitcode=1 -j 2 -I "$IDGEN_SOURCE/src" -I "$IDGEN_SOURCE/advisor" -DPG_VERSION_NUM="$(version_number)" \
        '-DPG_FUNCTION_INFO_V1(name)=' '-DPG_MODULE_MAGIC=' \
        '-DFLEXIBLE_ARRAY_MEMBER=' '-DUINT64CONST(x)=(x##UL)' '-DINT64CONST(x)=(x##L)' \
        "${left_out[@]/#/--suppress=}" "$IDGEN_SOURCE"/{src,advisor}
}

# 15.20 is 150020.
version_number() {
    "$PG_CONFIG" --version | sed -E 's/^[^0-9]*([0-9]+)(\.([0-9]+))?.*/\1 \3/' |
        { read -r major minor; printf '%d%04d\n' "$major" "${minor:-0}"; }
}

# The changes of clang-format other than to columns, see check/statements.pl.
check_format() {
    local source statements=$IDGEN_SOURCE/scripts/dev/check/statements.pl status=0
    for source in "$IDGEN_SOURCE"/{src,advisor}/*.[ch] "$IDGEN_SOURCE"/scripts/dev/*/*.c; do
        perl "$statements" "$source" >"$IDGEN_WORK/is" &&
            clang-format --style="file:$IDGEN_SOURCE/.clang-format" "$source" |
            perl "$statements" >"$IDGEN_WORK/shall" &&
            diff -U 1 --label "${source#"$IDGEN_SOURCE"/}" --label 'formatted' \
                "$IDGEN_WORK/is" "$IDGEN_WORK/shall" || status=1
        ! grep -Hn '[[:blank:]]$' "$source" || status=1
    done
    return $status
}

# --- scripts and tests ------------------------------------------------------

run_shellcheck() { (cd "$IDGEN_SOURCE" && shellcheck --external-sources --source-path=SCRIPTDIR --severity=warning "$@"); }

# PostgreSQL's test modules are among its development files.
compile_perl() {
    local modules file status=0
    modules=$(dirname "$("$PG_CONFIG" --pgxs)")/../../src/test/perl
    for file in "$@"; do
        # a test that requires a missing tool skips all before it is compiled
        (cd "$IDGEN_SOURCE" && perl -I "$modules" -I t/lib -c "$file") || status=1
    done
    return $status
}

compile_python() {
    (cd "$IDGEN_SOURCE" && PYTHONPYCACHEPREFIX=$IDGEN_WORK/pycache python3 -W error -m py_compile "$@")
}

# --- all of it --------------------------------------------------------------

checks=("${all_checks[@]}")
[ $# -eq 0 ] || checks=("$@")
install_tools
idgen_make_work_folder

shopt -s nullglob globstar
cd "$IDGEN_SOURCE" || exit
for name in "${checks[@]}"; do
    case $name in
        gcc) check "gcc: src and advisor build without a warning" build_with gcc '' ;;
        # the server's makefiles add options of gcc
        clang) check "clang: src and advisor build without a warning" build_with clang '-Wno-ignored-optimization-argument -Wno-unknown-warning-option' ;;
        clang-tidy) check "clang-tidy: src and advisor" clang_tidy ;;
        cppcheck) check "cppcheck: src and advisor" run_cppcheck ;;
        format) check "clang-format: src and advisor" check_format ;;
        shell)
            check "shellcheck: scripts" run_shellcheck scripts/**/*.sh clients/*.sh .ci/run
            check "shellcheck: bench" run_shellcheck bench/**/*.sh
            ;;
        perl)
            check "perl: tests" compile_perl {t,advisor/t}/**/*.p[lm]
            check "perl: scripts" compile_perl scripts/**/*.p[lm]
            ;;
        python) check "python: tests, scripts, benchmarks and clients" compile_python {t,scripts,bench,clients}/**/*.py ;;
        yaml) check "yaml: .github and packaging" python3 -c 'import sys, yaml; [list(yaml.safe_load_all(open(name))) for name in sys.argv[1:]]' {.github,packaging}/**/*.y*ml ;;
    esac
done

end_of_verdicts
