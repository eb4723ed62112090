#!/usr/bin/env bash
#
# check.sh: check the sources with compilers and other tools, without running them.
#
#   dev/check.sh [CHECK ...]       these checks, by default all but format
#
#   gcc, clang       build with -Wall -Wextra -Wshadow, with warnings as errors
#   clang-tidy, shell (shellcheck)
#   format           check that pgindent changes nothing in src/ and contrib/advisor/; only on version 18 or later:
#                    dev/run-on.sh 18 dev/check.sh format
#   python           check that scripts compile
#   yaml             check that the files in .github can be parsed, that the scripts they call exist, and that tests.yml
#                    runs each script of .ci/run and nightly.sh
#   lines            at most 120 columns in SQL, Perl, Python and shell scripts, and at most 500 lines in a C file
#   expected         check that expected output contains no error caused by a mistake in the test itself
#
# The script installs missing tools. It takes about a minute.

. "$(dirname "$0")/../scripts/results.sh"

# The server's makefiles contain options of gcc that clang does not support.
build_with() {
    local folder build=$IDGEN_WORK/build-$1
    mkdir "$build" &&
        tar cf - --exclude='*.o' --exclude='*.so' Makefile exports.txt idgen.control ./*.sql src contrib/advisor |
        tar xf - -C "$build" || return
    for folder in "$build" "$build/contrib/advisor"; do
        make -s -C "$folder" PG_CONFIG="$PG_CONFIG" with_llvm=no CC="$1" \
            COPT="$(idgen_warnings) -Wno-ignored-optimization-argument -Wno-unknown-warning-option" all || return
    done
}

check_gcc() { build_with gcc; }
check_clang() { build_with clang; }

check_clang-tidy() {
    clang-tidy --quiet --warnings-as-errors='*' {src,contrib/advisor}/*.c -- -Isrc -Icontrib/advisor \
        -isystem "$("$PG_CONFIG" --includedir-server)" -D_GNU_SOURCE -Wall -Wextra -Wshadow
}

# Use the typedefs of the server and of the sources.
check_format() {
    local bindir types
    bindir=$("$PG_CONFIG" --bindir)
    types=$(perl -0777 -ne 'print "$1 " while /(?:^\}\s*|^typedef\s[^;{]*?)\b(\w+);/gm' {src,contrib/advisor}/*.[ch])
    "$bindir/pgindent" --check --diff --indent="$bindir/pg_bsd_indent" \
        --typedefs="$("$PG_CONFIG" --sharedir)/typedefs.list" --list-of-typedefs="$types" src contrib/advisor
}

check_shell() {
    shellcheck --external-sources --source-path=SCRIPTDIR --severity=warning {scripts,bench,contrib,dev}/**/*.sh .ci/run
}

check_python() {
    PYTHONPYCACHEPREFIX=$IDGEN_WORK/pycache python3 -W error -m py_compile {t,bench,contrib,dev}/**/*.py
}

check_yaml() {
    python3 - .github/**/*.y*ml <<'END'
import os, re, sys, yaml

def scripts(*names):
    text = "".join(open(name).read() for name in names)
    return set(re.findall(r"\b(?:dev|scripts|contrib)/[\w./-]*\.sh\b", text))

for name in sys.argv[1:]:
    yaml.safe_load(open(name))
absent = [name for name in scripts(*sys.argv[1:]) if not os.access(name, os.X_OK)]
hidden = scripts(".ci/run", "dev/nightly.sh") - scripts(".github/workflows/tests.yml") - {"scripts/results.sh"}
sys.exit(f"no such script: {absent}, not in tests.yml: {hidden}" if absent or hidden else 0)
END
}

check_lines() {
    local file long
    long=$(git ls-files '*.sql' '*.pl' '*.pm' '*.spec' '*.py' '*.sh' | while read -r file; do
        expand -t 4 "$file" | grep -nHE --label="$file" '.{121}'
    done)
    long+=$(wc -l {src,contrib/advisor}/*.[ch] | awk '$1 > 500 && $2 != "total" { print $2 ": " $1 " lines" }')
    [ -z "$long" ] || { echo "$long"; return 1; }
}

# Find errors that are usually caused by typos, unless a test expects them.
check_expected() {
    local about='function idgen.one_of_two(unknown) is not unique
sequence "idgen.decimal_id_counter" does not exist
sequence "idgen.js_id_mark" does not exist
schema "nowhere" does not exist
type "Invoice_ID" does not exist
relation with OID 0 does not exist
key "elsewhere" does not exist
key "missing" does not exist
42704; key "
column "nothing" of relation "t" does not exist
column "ctid" of relation "t" does not exist
identifier scheme "serial" does not exist
identifier scheme "hmac_comb" does not exist
identifier scheme "" does not exist
identifier scheme "Short_Comb" does not exist
kind "COMB" does not exist'
    ! grep -HE 'is ambiguous|syntax error|(does|do) not exist|is not unique' {expected,contrib/*/expected}/*.out |
        grep -vF "$about"
}

idgen_options '' "$@"
[ ${#arguments[@]} -gt 0 ] || arguments=(gcc clang clang-tidy shell python yaml lines expected)
idgen_install_packages
idgen_make_work_folder
shopt -s nullglob globstar
cd "$IDGEN_SOURCE" || exit

for name in "${arguments[@]}"; do
    case $name in
        format | lines | expected) ;;
        gcc | clang | clang-tidy) idgen_require "$name" ;;
        shell) idgen_require shellcheck ;;
        python) idgen_require python3 ;;
        yaml) python3 -c 'import yaml' 2>/dev/null || idgen_apt_install python3-yaml ;;
        *) idgen_die "unknown check $name; see --help" ;;
    esac
    "check_$name" >"$IDGEN_WORK/check.log" 2>&1
    result $? "$name" || cat "$IDGEN_WORK/check.log"
done
end_of_results
