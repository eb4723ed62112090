#!/usr/bin/env bash
#
# valgrind.sh: run pg_regress, and the functions that need a key file, on a private
# server under valgrind's memcheck.
#
#   scripts/dev/valgrind.sh [TEST ...]     tests of pg_regress to run after "install";
#                                          by default all
#
# Every error in a process of the server is a failure, except for the intended
# behavior of PostgreSQL (see the suppressions below). Ends with a line "N passed,
# N failed"; the exit status is 0 if nothing failed. All tests take half an hour,
# because the processes of the server run thirty times slower.
#
# Debian builds PostgreSQL without support for memcheck, which therefore does not
# know palloc() and pfree(). It detects accesses outside of the blocks that
# palloc() divides, and every use of uninitialized memory.

set -uo pipefail
. "$(dirname "$0")/../lib.sh"
# shellcheck source-path=SCRIPTDIR source=verdicts.sh
. "$(dirname "$0")/verdicts.sh"
# shellcheck source-path=SCRIPTDIR source=sanitized.sh
. "$(dirname "$0")/sanitized.sh"

idgen_no_options "$@"

command -v valgrind >/dev/null || idgen_apt_install valgrind libc6-dbg
idgen_install_packages
idgen_say "Building for $("$PG_CONFIG" --version), with symbols"
idgen_build COPT='-g -O1 -fno-omit-frame-pointer' || exit

probe_build -g -O1 || exit

# initdb without valgrind; then the server with it
idgen_start fsync=off autovacuum=off max_connections=20 shared_buffers=16MB wal_level=minimal \
    max_wal_senders=0 jit=off idgen.mask_key_file=mask_keys
idgen_mask_key 000102030405060708090a0b0c0d0e0f
idgen_stop
logs=$IDGEN_WORK/valgrind
as_server_user mkdir "$logs"

# Intended behavior of PostgreSQL: uninitialized padding is hashed and written,
# but nothing depends on it. (PostgreSQL's own list is src/tools/valgrind.supp in
# its sources.) In a stripped server, only exported functions have names.
as_server_user tee "$IDGEN_WORK/suppressions" >/dev/null <<'EOS'
{
   the checksum of a WAL record with bytes of padding
   Memcheck:Value8
   fun:pg_comp_crc32c*
}
{
   WAL and pages with bytes of padding
   Memcheck:Param
   pwrite64(buf)
   obj:*
}
{
   the cache of regular expressions moves an entry
   Memcheck:Overlap
   fun:__mem*_chk
   fun:RE_compile_and_cache
}
{
   files of caches and statistics
   Memcheck:Param
   write(buf)
   fun:write
   fun:_IO_file_write*
}
EOS

idgen_say "Starting the server under valgrind"
as_server_user valgrind --quiet --trace-children=yes --child-silent-after-fork=no --leak-check=no \
    --track-origins=no --num-callers=30 --fullpath-after= --time-stamp=yes --error-markers=BEGIN,END \
    --suppressions="$IDGEN_WORK/suppressions" --log-file="$logs/%p.log" \
    "$(command -v postgres)" -D "$IDGEN_WORK/data" >"$IDGEN_WORK/server.log" 2>&1 &
server=$!       # idgen_stop ends it on exit
until pg_isready -q || ! kill -0 "$server" 2>/dev/null; do sleep 1; done
pg_isready -q || { tail -n 20 "$IDGEN_WORK/server.log" "$logs"/*.log >&2; idgen_die "the server did not start under valgrind"; }

idgen_say "pg_regress"
arguments=(ISOLATION=)
# install leaves the extension in the database for the other tests
[ $# -eq 0 ] || arguments+=("REGRESS=install $*")
as_server_user make -s -C "$IDGEN_BUILD" PG_CONFIG="$PG_CONFIG" with_llvm=no \
    "${arguments[@]}" installcheck 2>&1 | tee "$IDGEN_WORK/regress.log"
[ $# -gt 0 ] || as_server_user make -s -C "$IDGEN_BUILD/advisor" PG_CONFIG="$PG_CONFIG" with_llvm=no \
    installcheck 2>&1 | tee -a "$IDGEN_WORK/regress.log"
# A slow server makes tests fail that compare identifiers with the current time.
# Only the loss of the server counts as a failure.
tests=0
for result in "$IDGEN_BUILD"/{,advisor/}results/*.out; do
    [ -e "$result" ] || continue
    tests=$((tests + 1))
    ! grep -qE 'server closed the connection|connection to server was lost|could not connect' "$result"
    verdict $? "$(basename "$result" .out): the server survived"
done
[ "$tests" -gt 0 ] || verdict 1 "pg_regress ran no test"
cat "$IDGEN_BUILD"/{,advisor/}regression.diffs 2>/dev/null

idgen_say "Masks"
# results, an unknown name, and a file that is refused
masks=$(psql -X -q -At 2>&1 <<SQL
CREATE EXTENSION idgen;
SELECT bool_and(idgen.unmask_uuid_v7(idgen.mask_uuid_v7(id)) = id)
FROM (SELECT idgen.uuid_v7() AS id FROM generate_series(1, 20) OFFSET 0) made;
SELECT bool_and(idgen.unpermute(idgen.permute(id, g), g) = id)
FROM unnest('{2,3,1000,9223372036854775807}'::bigint[]) g, generate_series(1, least(g, 20)) id;
SELECT idgen.permute(1, key_name => repeat(chr(252), 100));
\! echo 'default 00' >>'$IDGEN_WORK/data/mask_keys'
\c
SELECT idgen.permute(1);
SQL
)
echo "$masks"
[ "$(grep -c '^t$' <<<"$masks")" -eq 2 ] && grep -q 'mask key "ü*" does not exist' <<<"$masks" && grep -q 'invalid line 2' <<<"$masks"
verdict $? "masks: results and errors are as expected"

control=$(probe_call probe_uninitialized 7)
idgen_stop
wait

idgen_say "Errors that memcheck found"
# the lines from BEGIN to END are one error
errors() { awk '/BEGIN$/ {inside = 1} inside {print} /END$/ {inside = 0}' "$@"; }
control_log=$logs/${control%%[!0-9]*}.log
[ -e "$control_log" ] && [ -n "$(errors "$control_log")" ]
verdict $? "memcheck reports the use of uninitialized memory"
rm -f "$control_log"
errors "$logs"/*.log | tee "$IDGEN_WORK/errors"
[ ! -s "$IDGEN_WORK/errors" ]
verdict $? "memcheck: no error in $(find "$logs" -name '*.log' | wc -l) processes"

end_of_verdicts
