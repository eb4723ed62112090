# shellcheck shell=bash
#
# sanitized.sh: functions that run idgen with UndefinedBehaviorSanitizer in the
# private server. To be sourced after lib.sh.
#
# The sanitizer detects arithmetic overflow, shifts and conversions out of range,
# misaligned and null pointers, and indexes beyond the end of an array. It does
# not detect other accesses beyond the end of memory: fuzz.sh does, with
# AddressSanitizer. Debian's PostgreSQL cannot run with AddressSanitizer, which
# must be loaded before all other libraries: the server then hangs in
# bindtextdomain() during its start.
#
#   sanitized_build            build and install idgen with the sanitizer
#   sanitized_probe            check that it reports; requires a running server
#   sanitized_show_reports     print its reports; false if there are none
#   probe_build, probe_call    for other tools than the sanitizer
#
# Reports are in the server's log. The process continues after one, so that one
# run finds them all.

sanitized_flags=('-fsanitize=undefined,float-cast-overflow,float-divide-by-zero' -fsanitize-recover=undefined -fno-wrapv)

sanitized_build() {
    command -v gcc >/dev/null || idgen_apt_install gcc libc6-dev
    idgen_build CC=gcc COPT="-O1 -fno-omit-frame-pointer ${sanitized_flags[*]}"
}

sanitized_show_reports() {
    find "$IDGEN_WORK" -name '*.log' -type f -exec grep -a -h 'runtime error:' {} + | grep -a -v 'probe\.c'
}

# A library with errors that a tool must report: otherwise it does not work. The
# arguments are options of the compiler.
probe_build() {
    cat >"$IDGEN_WORK/probe.c" <<'END'
#include "postgres.h"
#include "fmgr.h"

PG_MODULE_MAGIC;

PG_FUNCTION_INFO_V1(probe_overflow);
Datum
probe_overflow(PG_FUNCTION_ARGS)
{
	PG_RETURN_INT32(PG_GETARG_INT32(0) + 1);
}

PG_FUNCTION_INFO_V1(probe_uninitialized);
Datum
probe_uninitialized(PG_FUNCTION_ARGS)
{
	volatile char *bytes = malloc(100);

	PG_RETURN_INT32(bytes[PG_GETARG_INT32(0)] == 'x' ? 1 : 2);
}
END
    gcc -fPIC -shared "$@" -isystem "$("$PG_CONFIG" --includedir-server)" -o "$IDGEN_WORK/probe.so" "$IDGEN_WORK/probe.c"
}

# Call a function of the probe.
probe_call() {
    as_server_user psql -X -q -At -v ON_ERROR_STOP=1 <<END
CREATE FUNCTION $1(int) RETURNS int LANGUAGE C AS '$IDGEN_WORK/probe.so';
SELECT pg_backend_pid();
SELECT $1($2);
DROP FUNCTION $1(int);
END
}

sanitized_probe() {
    probe_build "${sanitized_flags[@]}" && probe_call probe_overflow 2147483647 >/dev/null || return 1
    if ! grep -a -q 'probe\.c.*signed integer overflow' "$IDGEN_WORK/server.log"; then
        echo "UndefinedBehaviorSanitizer does not report"
        return 1
    fi
    # the extensions must be built with it, too
    grep -q __ubsan_handle "$IDGEN_BUILD/idgen.so" && grep -q __ubsan_handle "$IDGEN_BUILD/advisor/idgen_advisor.so"
}
