#!/usr/bin/env bash
#
# verify.sh: check a model of the tickers with Spin, in every order of the steps.
#
#   scripts/dev/verify.sh            without options
#
# Spin visits all states of verification/ticker.pml for two sessions that take three
# values each and for three that take two, with a crash at any step, setval()
# elsewhere, eviction, a transaction that replaces the sequence, and failing calls.
# Then it must find each bug that a macro of the model plants. Ends with a line "N
# passed, N failed"; the exit status is 0 if nothing failed. A search uses at most
# 4 GB. Installs Spin and gcc if they are missing.

set -uo pipefail
# shellcheck source-path=SCRIPTDIR source=../lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source-path=SCRIPTDIR source=verdicts.sh
. "$(dirname "$0")/verdicts.sh"

idgen_no_options "$@"
command -v spin >/dev/null && command -v gcc >/dev/null || idgen_apt_install spin gcc libc6-dev

build=$(mktemp -d /tmp/idgen-verify.XXXXXX)
remove_build() { rm -rf "$build"; }
idgen_at_exit remove_build
cd "$build" || exit

# Search the states of the model with these macros; "-l" for loops instead of the
# assertions and deadlocks. Sets "states" and "found", the error or nothing; false
# if the search did not end.
search() {
    local kind=(-DSAFETY) option=()
    [ "$1" != -l ] || { kind=(-DNP); option=(-l); shift; }
    found="" states=0
    spin -a "${@/#/-D}" "$IDGEN_SOURCE/verification/ticker.pml" >spin.log 2>&1 &&
        gcc -O2 "${kind[@]}" -DCOLLAPSE -DMEMLIM=4000 -o pan pan.c >gcc.log 2>&1 &&
        ./pan "${option[@]}" -m1000000 >pan.log 2>&1 || { cat spin.log gcc.log pan.log; return 1; }
    ! grep -E 'max search depth|out of memory|aborted' pan.log || return 1
    found=$(sed -n 's/^pan:[0-9]*: \(.*\) (at depth .*/\1/p' pan.log)
    states=$(sed -n 's/^ *\([0-9.e+]*\) states, stored.*/\1/p' pan.log)
    grep -q 'errors: [01]$' pan.log
}

holds() {
    search "$@" && [ -z "$found" ]
    verdict $? "$(printf '%10s states: %s' "$states" "$*")" || echo "        $found"
}

finds() {
    local error=$1
    shift
    search "$@" && [[ $found == *"$error"* ]]
    verdict $? "${*: -1} is found: $found"
}

idgen_say "The model"
holds SESSIONS=2 VALUES=3 CRASHES=1 EVICT WEAK_MEMORY
holds SESSIONS=2 VALUES=3 CRASHES=1 SETVAL
holds SESSIONS=2 VALUES=2 CRASHES=1 REPLACE
holds SESSIONS=2 VALUES=2 REPLACE LONG_TRANSACTIONS CANCELS=1
holds SESSIONS=3 VALUES=2 WEAK_MEMORY
holds -l SESSIONS=2 VALUES=2 SETVAL CANCELS=1

idgen_say "Planted bugs"
finds 'assertion violated' VALUES=2 CRASHES=1 BUG_PUBLISH_FIRST
finds 'assertion violated' VALUES=2 CRASHES=1 BUG_NO_FLUSH
finds 'assertion violated' VALUES=3 BUG_NO_RENEWAL_LOCK
finds 'assertion violated' VALUES=2 EVICT BUG_EVICT_CONNECTED
finds 'assertion violated' VALUES=2 CRASHES=1 REPLACE BUG_NO_SECOND_LOOKUP
finds 'assertion violated' VALUES=2 CRASHES=1 REPLACE BUG_PUBLISH_PRIVATE
finds 'invalid end state' VALUES=2 REPLACE BUG_LOCK_ORDER

end_of_verdicts
