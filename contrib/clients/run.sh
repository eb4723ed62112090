#!/usr/bin/env bash
#
# run.sh: run the programs of this folder that can run here.
#
#   contrib/clients/run.sh [--all] [NAME ...]      default: every program of programs.txt
#   contrib/clients/run.sh --packages              list the Debian packages of those that cannot run
#   contrib/clients/run.sh --orders NAME           one program: an order for each command id that it reads
#
# Against the database of PGHOST, PGPORT, PGUSER and PGDATABASE, in which setup.sql was
# run. Prints for each program the version of its driver or ORM, and a line for each task,
# "ok NAME: TASK" or "not ok NAME: TASK: MESSAGE"; "skip NAME: ..." for a program whose
# runtime is not installed, which with --all is a failure. Ends with a line "N passed,
# N failed"; the exit status is 0 when nothing failed.
#
# The npm packages are those in node_modules here, or else in the folder where
# contrib/clients/test-clients.sh keeps them: $IDGEN_CLIENTS or /var/cache/idgen-clients.

set -uo pipefail

clients=$(cd "$(dirname "$0")" && pwd)
all=0
packages_only=0
orders=
while [ $# -gt 0 ]; do
    case $1 in
        --all) all=1 ;;
        --packages) packages_only=1 ;;
        --orders) orders=orders ;;
        -h | --help) sed -n '3,/^$/s/^# \{0,1\}//p' "$0"; exit 0 ;;
        -*) echo "run.sh: unknown option $1; see --help" >&2; exit 2 ;;
        *) break ;;
    esac
    shift
done

passed=0
failed=0
skipped=0

# Programs run in a copy of this folder, where they may write.
work=$(mktemp -d /tmp/idgen-clients.XXXXXX)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
(cd "$clients" && tar cf - --exclude=./node_modules .) | tar xf - --no-same-owner -C "$work"
mkdir -p "$work/build"
node_modules=$clients/node_modules
if [ ! -d "$node_modules" ]; then
    lock=$(sha256sum <"$clients/package-lock.json")
    node_modules=${IDGEN_CLIENTS:-${XDG_CACHE_HOME:-/var/cache}/idgen-clients}/${lock:0:16}/node_modules
fi
[ ! -d "$node_modules" ] || ln -s "$node_modules" "$work/node_modules"

# In sh, in the copy.
in_copy() { (cd "$work" && exec sh -c "$1"); }

# NAME | TASKS | RUNTIME | PACKAGES | COMMAND; a runtime may contain "||"
read_line() {
    local rest
    IFS='|' read -r name tasks rest <<<"$1"
    name=${name//[[:space:]]/}
    tasks=${tasks//[[:space:]]/}
    runtime=${rest%% | *}
    rest=${rest#* | }
    packages=${rest%% | *}
    command=${rest#* | }
}

selected() {
    local wanted
    [ ${#names[@]} -gt 0 ] || return 0
    for wanted in "${names[@]}"; do [ "$wanted" != "$name" ] || return 0; done
    return 1
}

expected_tasks() {
    echo generator
    [ "$tasks" = generator ] ||
        printf '%s\n' 'default key' 'client key' 'create once' 'prefixed id' 'range of time'
    [[ $tasks != all && $tasks != diff ]] || echo 'bigint keys'
    [ "$tasks" != diff ] || echo 'empty diff'
}

# The version of the program's driver or ORM
print_version() {
    case $packages in
        npm:*) in_copy "node -p 'require(\"./node_modules/${packages#npm:}/package.json\").version'" ;;
        *) dpkg-query -W -f '${Version}\n' "${packages%% *}" | sed 's/^[0-9]*://' ;;
    esac 2>/dev/null | sed "s|^|# $name: ${packages%% *} |"
}

not_ok() {
    echo "not ok $name: $1"
    failed=$((failed + 1))
}

# Each expected task must have its verdict: a program that says nothing has failed.
run_program() {
    local log=$work/$name.log status task verdict complaints=0

    in_copy "$command" </dev/null >"$log" 2>&1
    status=$?
    while IFS= read -r task; do
        verdict=$(grep -E "^(not )?ok $name: $task(:|\$)" "$log")
        if [ "$verdict" = "ok $name: $task" ]; then
            passed=$((passed + 1))
            echo "$verdict"
        else
            complaints=1
            [[ $verdict == "not ok $name: "* ]] || verdict="not ok $name: $task: not one verdict"
            not_ok "${verdict#not ok "$name": }"
        fi
    done < <(expected_tasks)
    if [ "$status" -ne 0 ] && [ "$complaints" -eq 0 ]; then
        complaints=1
        not_ok "exit status $status"
    fi
    [ "$complaints" -eq 0 ] || sed 's/^/    /' "$log" | tail -n 40
}

export IDGEN_PORTABLE_FILES=$clients/../portable
names=("$@")
mapfile -t lines < <(grep -E '^[a-z]' "$clients/programs.txt")
for wanted in ${names[@]+"${names[@]}"}; do
    grep -q "^$wanted *|" "$clients/programs.txt" || { echo "no program $wanted in programs.txt" >&2; exit 2; }
done

for line in "${lines[@]}"; do
    read_line "$line"
    selected || continue
    if in_copy "$runtime" </dev/null >/dev/null 2>&1; then
        [ -z "$orders" ] || { in_copy "$command orders"; exit; }
        [ "$packages_only" -eq 1 ] || { print_version; run_program; }
    elif [ "$packages_only" -eq 1 ]; then
        echo "${packages/#npm:*/npm}"
    elif [ "$all" -eq 1 ]; then
        not_ok "the runtime is not installed: $packages"
    else
        skipped=$((skipped + 1))
        echo "skip $name: the runtime is not installed: $packages"
    fi
done

[ "$packages_only" -eq 0 ] || exit 0
printf '\n%d passed, %d failed' "$passed" "$failed"
[ "$skipped" -eq 0 ] || printf ', %d skipped' "$skipped"
echo
[ "$failed" -eq 0 ]
