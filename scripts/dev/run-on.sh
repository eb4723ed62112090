#!/usr/bin/env bash
#
# run-on.sh: run a command of the sources on another version of PostgreSQL, or on
# another architecture.
#
#   scripts/dev/run-on.sh MAJOR[-ARCHITECTURE] COMMAND [ARGUMENT ...]
#   scripts/dev/run-on.sh 18 bench/lab/long.sh --out /var/tmp/long
#   scripts/dev/run-on.sh 15-i386 scripts/test.sh
#   scripts/dev/run-on.sh 17-s390x scripts/test.sh --regress
#
# As test-matrix.sh does: in the Debian folder of that version, with a copy of the
# sources. Reports of the laboratory are copied back to bench/lab/report. Requires
# root; the exit status is that of the command, or 77 if the version is not available.

set -uo pipefail
. "$(dirname "$0")/../lib.sh"

case ${1:-} in -h | --help) idgen_help; exit 0 ;; esac
[ $# -ge 2 ] && [[ $1 =~ ^[1-9][0-9](-[a-z0-9]+)?$ ]] || idgen_die "a major version and a command are required; see --help"

. "$(dirname "$0")/debian.sh"

debian_make "$1" || { echo "$DEBIAN_WHY" >&2; exit 77; }
debian_copy_sources
reports=bench/lab/report
debian_run env -C /idgen PG_CONFIG="$(debian_pg_config "$1")" "${@:2}"
status=$?
[ ! -d "$DEBIAN_ROOT/idgen/$reports" ] || { mkdir -p "$IDGEN_SOURCE/$reports" && cp -r "$DEBIAN_ROOT/idgen/$reports/." "$IDGEN_SOURCE/$reports"; }
debian_leave
exit $status
