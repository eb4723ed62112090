#!/usr/bin/env bash
#
# test-sanitized.sh: run tests on a build of idgen with UndefinedBehaviorSanitizer.
#
#   dev/test-sanitized.sh [t/NAME.pl ...]   run these TAP tests; by default the regression and isolation tests, and
#                                           some TAP tests
#
# Debian's PostgreSQL does not start with AddressSanitizer, so only fuzz.sh uses that sanitizer.
#
# Each report of the sanitizer is a failure. The tests take three minutes.

. "$(dirname "$0")/../scripts/results.sh"

sanitizer=('-fsanitize=undefined,float-cast-overflow,float-divide-by-zero' -fsanitize-recover=undefined -fno-wrapv)

# Check that loading a library that contains an error causes a report.
sanitizer_works() {
    local probe=$IDGEN_WORK/probe
    cat >"$probe.c" <<'END'
#include "postgres.h"
#include "fmgr.h"
PG_MODULE_MAGIC;
PG_FUNCTION_INFO_V1(probe_overflow);
Datum probe_overflow(PG_FUNCTION_ARGS) { PG_RETURN_INT32(PG_GETARG_INT32(0) + 1); }
END
    gcc -fPIC -shared "${sanitizer[@]}" -isystem "$("$PG_CONFIG" --includedir-server)" -o "$probe.so" "$probe.c" &&
        as_server_user psql -X -q -v ON_ERROR_STOP=1 \
            -c "CREATE FUNCTION probe_overflow(int) RETURNS int LANGUAGE C AS '$probe.so'" \
            -c 'SELECT probe_overflow(2147483647)' -c 'DROP FUNCTION probe_overflow' >/dev/null &&
        grep -a -q 'probe\.c.*signed integer overflow' "$IDGEN_WORK/server.log" &&
        grep -q __ubsan_handle "$IDGEN_BUILD/idgen.so" &&
        grep -q __ubsan_handle "$IDGEN_BUILD/contrib/advisor/idgen_advisor.so"
}

idgen_options '' "$@"
idgen_require 'gcc:gcc libc6-dev'
build_idgen tests CC=gcc COPT="-O1 -fno-omit-frame-pointer ${sanitizer[*]}"
idgen_start
sanitizer_works
result $? "the sanitizer works"
if [ ${#arguments[@]} -eq 0 ]; then
    run "pg_regress and isolation tests" installcheck "${idgen_make[@]}" installcheck
    run "pg_regress tests of the advisor" advisor "${idgen_make[@]}" -C contrib/advisor installcheck
    arguments=(t/00{1_clock_steps,2_processes,3_properties,5_text_ids,8_masks,9_key_file}.pl
        t/0{11_ticker_clock,30_crash}.pl contrib/advisor/t/004_damaged_pages.pl)
fi
idgen_stop
run "TAP tests" tap "${idgen_prove[@]}" --jobs 2 --timer "${arguments[@]}"

idgen_say "Reports"
! find "$IDGEN_WORK" -name '*.log' -type f -exec grep -a -h 'runtime error:' {} + | grep -a -v 'probe\.c'
result $? "no report of the sanitizer"
end_of_results
