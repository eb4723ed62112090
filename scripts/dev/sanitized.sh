# shellcheck shell=bash
#
# sanitized.sh: idgen under UndefinedBehaviorSanitizer, in the private server.
# To be sourced after lib.sh.
#
# It sees arithmetic that overflows, shifts and conversions out of range,
# misaligned and null pointers, and indexes beyond an array. Accesses beyond
# the end of memory are for fuzz.sh to find, which has AddressSanitizer, too:
# that must be loaded ahead of all other libraries, and Debian's PostgreSQL
# then hangs in bindtextdomain() before it has begun.
#
#   sanitized_build            build and install idgen with it
#   sanitized_probe            check that it tells; a server must be up
#   sanitized_show_reports     print its reports; false where there are none
#
# Reports go to where a server's error output goes, its log, and the process
# goes on, so that one run finds all there is.

sanitized_flags=('-fsanitize=undefined,float-cast-overflow,float-divide-by-zero' -fsanitize-recover=undefined -fno-wrapv)

sanitized_build() {
    command -v gcc >/dev/null || idgen_apt_install gcc libc6-dev
    idgen_build CC=gcc COPT="-O1 -fno-omit-frame-pointer ${sanitized_flags[*]}"
}

sanitized_show_reports() {
    find "$IDGEN_WORK" -name '*.log' -type f -exec grep -a -h 'runtime error:' {} + | grep -a -v 'probe\.c'
}

# A sanitizer that is not at work reports nothing, either. A function that does
# what it must not shows that this one does.
sanitized_probe() {
    local probe=$IDGEN_WORK/probe
    cat > "$probe.c" <<'END'
#include "postgres.h"
#include "fmgr.h"

PG_MODULE_MAGIC;

PG_FUNCTION_INFO_V1(probe_add_one);
Datum
probe_add_one(PG_FUNCTION_ARGS)
{
	PG_RETURN_INT32(PG_GETARG_INT32(0) + 1);
}
END
    gcc -fPIC -shared "${sanitized_flags[@]}" -isystem "$("$PG_CONFIG" --includedir-server)" \
        -o "$probe.so" "$probe.c" || return 1
    as_server_user psql -X -q -o /dev/null -v ON_ERROR_STOP=1 <<END || return 1
CREATE FUNCTION probe_add_one(int) RETURNS int LANGUAGE C AS '$probe.so';
SELECT probe_add_one(2147483647);
DROP FUNCTION probe_add_one(int);
END
    if ! grep -a -q 'probe\.c.*signed integer overflow' "$IDGEN_WORK/server.log"; then
        echo "UndefinedBehaviorSanitizer does not report"
        return 1
    fi
    # and the extensions are built with it
    grep -q __ubsan_handle "$IDGEN_BUILD/idgen.so" && grep -q __ubsan_handle "$IDGEN_BUILD/advisor/idgen_advisor.so"
}
