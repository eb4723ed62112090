#!/usr/bin/env bash
#
# test-sanitized.sh: run tests with idgen built with UndefinedBehaviorSanitizer, or on a
# server under valgrind's memcheck.
#
#   dev/test-sanitized.sh [t/NAME.pl ...]   these TAP tests; by default pg_regress,
#                                                   isolation and some TAP tests
#   dev/test-sanitized.sh --valgrind [NAME ...]   tests of pg_regress to run after
#                                                   "install"; by default all
#
# (fuzz.sh uses AddressSanitizer, with which Debian's PostgreSQL does not start. memcheck does not know palloc().)
#
# Every report is a failure. Takes three minutes, with valgrind half an hour.

. "$(dirname "$0")/verdicts.sh"

sanitizer=('-fsanitize=undefined,float-cast-overflow,float-divide-by-zero' -fsanitize-recover=undefined -fno-wrapv)

# A library with errors that must be reported, built with these options.
build_probe() {
    cat >"$IDGEN_WORK/probe.c" <<'END'
#include "postgres.h"
#include "fmgr.h"
PG_MODULE_MAGIC;
PG_FUNCTION_INFO_V1(probe_overflow);
PG_FUNCTION_INFO_V1(probe_uninitialized);
Datum probe_overflow(PG_FUNCTION_ARGS) { PG_RETURN_INT32(PG_GETARG_INT32(0) + 1); }
Datum probe_uninitialized(PG_FUNCTION_ARGS) { PG_RETURN_INT32(((volatile char *) malloc(100))[PG_GETARG_INT32(0)] == 'x' ? 1 : 2); }
END
    gcc -fPIC -shared "$@" -isystem "$("$PG_CONFIG" --includedir-server)" -o "$IDGEN_WORK/probe.so" "$IDGEN_WORK/probe.c"
}

# Call one of its functions, and print the server's process.
call_probe() {
    as_server_user psql -X -q -At -v ON_ERROR_STOP=1 -c "CREATE FUNCTION $1(int) RETURNS int LANGUAGE C AS '$IDGEN_WORK/probe.so'" \
        -c "SELECT $1($2)" -c 'SELECT pg_backend_pid()' -c "DROP FUNCTION $1(int)" | tail -n 1
}

# Build idgen with the sanitizer, and start the cluster.
start_sanitized() {
    idgen_require 'gcc:gcc libc6-dev'
    build_idgen tests CC=gcc COPT="-O1 -fno-omit-frame-pointer ${sanitizer[*]}"
    idgen_start
    build_probe "${sanitizer[@]}" && call_probe probe_overflow 2147483647 >/dev/null &&
        grep -a -q 'probe\.c.*signed integer overflow' "$IDGEN_WORK/server.log" &&
        grep -q __ubsan_handle "$IDGEN_BUILD/idgen.so" && grep -q __ubsan_handle "$IDGEN_BUILD/contrib/advisor/idgen_advisor.so"
    verdict $? "the sanitizer works"
}

no_report_of_the_sanitizer() {
    local reports
    idgen_say "Reports"
    reports=$(find "$IDGEN_WORK" -name '*.log' -type f -exec grep -a -h 'runtime error:' {} + | grep -a -v 'probe\.c')
    echo "$reports"
    [ -z "$reports" ]
    verdict $? "no report of the sanitizer"
}

test_sanitized() {
    start_sanitized
    if [ $# -eq 0 ]; then
        run "pg_regress and isolation tests" installcheck "${idgen_make[@]}" installcheck
        run "pg_regress tests of the advisor" advisor "${idgen_make[@]}" -C contrib/advisor installcheck
        set -- t/0{01_clock_steps,02_processes,03_properties,05_text_ids,08_masks,09_key_file}.pl \
            t/0{11_ticker_clock,30_crash}.pl contrib/advisor/t/004_damaged_pages.pl
    fi
    idgen_stop
    run "TAP tests" tap "${idgen_prove[@]}" --verbose "$@"
    no_report_of_the_sanitizer
}

# Intended behavior of PostgreSQL: uninitialized padding is hashed and written. (Its own list is
# src/tools/valgrind.supp.) In a stripped server, only exported functions have names.
suppressions() {
    printf '{\n%b\n}\n' 'the checksum of a WAL record\nMemcheck:Value8\nfun:pg_comp_crc32c*' \
        'WAL and pages\nMemcheck:Param\npwrite64(buf)\nobj:*' \
        'files of caches and statistics\nMemcheck:Param\nwrite(buf)\nfun:write\nfun:_IO_file_write*' \
        'the cache of regular expressions moves an entry\nMemcheck:Overlap\nfun:__mem*_chk\nfun:RE_compile_and_cache'
}

start_under_valgrind() {
    # initdb without valgrind
    idgen_start fsync=off autovacuum=off max_connections=20 shared_buffers=16MB wal_level=minimal \
        max_wal_senders=0 jit=off idgen.key_file=idgen_keys
    idgen_key 000102030405060708090a0b0c0d0e0f
    idgen_stop
    logs=$IDGEN_WORK/valgrind
    as_server_user mkdir "$logs"
    suppressions >"$IDGEN_WORK/suppressions"
    cat >"$IDGEN_WORK/valgrind_postgres" <<END
#!/bin/sh
exec valgrind --quiet --trace-children=yes --child-silent-after-fork=no --leak-check=no \\
    --track-origins=no --num-callers=30 --fullpath-after= --time-stamp=yes --error-markers=BEGIN,END \\
    --suppressions='$IDGEN_WORK/suppressions' --log-file='$logs/%p.log' '$(command -v postgres)' "\$@"
END
    chmod +x "$IDGEN_WORK/valgrind_postgres"
    idgen_pg_ctl -t 300 -p "$IDGEN_WORK/valgrind_postgres" start || idgen_die "the server did not start under valgrind"
}

# The lines from BEGIN to END are one error.
memcheck_errors() { awk '/BEGIN$/ {inside = 1} inside {print} /END$/ {inside = 0}' "$@"; }

# Tests that compare identifiers with the current time fail; only the loss of the server counts.
test_under_valgrind() {
    local results masks control
    idgen_require valgrind:'valgrind libc6-dbg' 'gcc:gcc libc6-dev'
    build_idgen '' COPT='-g -O1 -fno-omit-frame-pointer'
    build_probe -g -O1 || exit
    start_under_valgrind

    idgen_say "pg_regress"
    # install leaves the extension in the database for the other tests
    as_server_user "${idgen_make[@]}" ISOLATION= ${1:+REGRESS="install $*"} installcheck
    [ $# -gt 0 ] || as_server_user "${idgen_make[@]}" -C contrib/advisor installcheck
    mapfile -t results < <(find "$IDGEN_BUILD"/{,contrib/advisor/}results -name '*.out' 2>/dev/null)
    [ ${#results[@]} -gt 0 ] && ! grep -HE 'server closed the connection|connection to server was lost|could not connect' "${results[@]}"
    verdict $? "the server survived ${#results[@]} tests"
    cat "$IDGEN_BUILD"/{,contrib/advisor/}regression.diffs 2>/dev/null

    # results, an unknown name, and a file that is refused: pg_regress has no key file
    masks=$(psql -X -q -At 2>&1 <<END
CREATE EXTENSION idgen;
SELECT bool_and(idgen.unmask_uuid_v7(idgen.mask_uuid_v7(id)) = id)
FROM (SELECT idgen.uuid_v7() AS id FROM generate_series(1, 20) OFFSET 0) made;
SELECT bool_and(idgen.unpermute(idgen.permute(id, g), g) = id)
FROM unnest('{2,3,1000,9223372036854775807}'::bigint[]) g, generate_series(1, least(g, 20)) id;
SELECT idgen.permute(1, key_name => repeat(chr(252), 100));
\! echo 'default 00' >>'$IDGEN_WORK/data/idgen_keys'
\c
SELECT idgen.permute(1);
END
    )
    echo "$masks"
    [ "$(grep -c '^t$' <<<"$masks")" -eq 2 ] && grep -q 'key "ü*" does not exist' <<<"$masks" && grep -q 'invalid line 2' <<<"$masks"
    verdict $? "masks: results and errors are as expected"

    control=$logs/$(call_probe probe_uninitialized 7).log
    idgen_stop

    idgen_say "Reports"
    [ -n "$(memcheck_errors "$control")" ]
    verdict $? "memcheck reports the use of uninitialized memory"
    rm -f "$control"
    memcheck_errors "$logs"/*.log | tee "$IDGEN_WORK/errors"
    [ ! -s "$IDGEN_WORK/errors" ]
    verdict $? "memcheck: no error in $(find "$logs" -name '*.log' | wc -l) processes"
}

valgrind=
idgen_options 'valgrind?' "$@"
[ "$valgrind" ] && tests=test_under_valgrind || tests=test_sanitized
"$tests" "${arguments[@]}"
end_of_verdicts
