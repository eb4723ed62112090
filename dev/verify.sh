#!/usr/bin/env bash
#
# verify.sh: check a model of the tickers with Spin, in every order of the steps.
#
# Spin visits all states of dev/model/ticker.pml in the configurations below, and must find each bug
# that a macro of the model plants: two searches at a time, in 4 GB each at most, 100 s of two cores.

. "$(dirname "$0")/verdicts.sh"

idgen_no_options "$@"
idgen_require spin 'gcc:gcc libc6-dev'
idgen_make_work_folder
cd "$IDGEN_WORK" || exit

# Macros of the model, and for a planted bug the error to be found. With LOOPS, the search
# is for endless loops instead of failed assertions and deadlocks.
searches=(
    'SESSIONS=2 VALUES=3 CRASH REPLACE|'
    'SESSIONS=2 VALUES=3 CRASH SETVAL EVICT|'
    'SESSIONS=3 VALUES=2 EVICT|'
    'SESSIONS=2 VALUES=2 REPLACE LONG_TRANSACTIONS CANCELS=1|'
    'LOOPS SESSIONS=2 VALUES=3 CRASH|'
    'LOOPS SESSIONS=3 VALUES=2|'
    'LOOPS SESSIONS=2 VALUES=2 SETVAL CANCELS=1|'
    'LOOPS SESSIONS=2 VALUES=2 REPLACE|'
    'VALUES=2 CRASH BUG_PUBLISH_FIRST|assertion violated'
    'VALUES=2 CRASH BUG_NO_FLUSH|assertion violated'
    'VALUES=2 BUG_NO_RENEWAL_LOCK|assertion violated'
    'VALUES=2 EVICT BUG_EVICT_CONNECTED|assertion violated'
    'VALUES=2 CRASH REPLACE BUG_NO_SECOND_LOOKUP|assertion violated'
    'VALUES=2 CRASH REPLACE BUG_PUBLISH_PRIVATE|assertion violated'
    'VALUES=2 REPLACE BUG_LOCK_ORDER|invalid end state'
    'LOOPS VALUES=2 BUG_NO_RENEWAL|non-progress cycle'
)

# Search the states of the model with these macros, in a folder named after them.
search() {
    local macros kind=-DSAFETY option=()
    read -ra macros <<<"$1"
    [ "${macros[0]}" != LOOPS ] || { kind=-DNP option=(-l); }
    mkdir "$1" && cd "$1" &&
        spin -a "${macros[@]/#/-D}" "$IDGEN_SOURCE/dev/model/ticker.pml" >log 2>&1 &&
        gcc -O2 $kind -DCOLLAPSE -DMEMLIM=4000 -o pan pan.c >>log 2>&1 &&
        ./pan "${option[@]}" -w25 -m100000 >>log 2>&1
}
export -f search
export IDGEN_SOURCE

printf '%s\n' "${searches[@]%|*}" | xargs -d '\n' -P 2 -I '{}' bash -c 'search "$1"' bash '{}'

# Did the search visit all states, or end with this error?
for line in "${searches[@]}"; do
    name=${line%|*}
    error=${line#*|}
    found=$(sed -n 's/^ *\([0-9.e+]*\) states, stored.*/\1/p' "$name/log")
    ! grep -qE 'max search depth|out of memory|aborted' "$name/log" &&
        grep -q "errors: $([ "$error" ] && echo 1 || echo 0)\$" "$name/log" && grep -q "${error:-States:\|State-vector}" "$name/log"
    verdict $? "$name: ${error:-$found states}" || cat "$name/log"
done

end_of_verdicts
