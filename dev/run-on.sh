#!/usr/bin/env bash
#
# run-on.sh: run a command in the source tree on another version of PostgreSQL or on another architecture.
#
#   dev/run-on.sh MAJOR[-ARCHITECTURE] COMMAND [ARGUMENT ...]
#   dev/run-on.sh 18 bench/lab/run.sh --scene speed
#   dev/run-on.sh 15-i386 scripts/test.sh
#   dev/run-on.sh 17-arm64 scripts/test.sh --regress
#   IDGEN_POSTGRES=postgresql-16.4.tar.bz2 dev/run-on.sh 16 scripts/test.sh
#
# If the version is not on the machine, the script installs it in a Debian system in a folder of $IDGEN_MATRIX, by
# default /var/cache/idgen-matrix. The folder is kept, and takes 2 GB. The command runs there as root, with a copy of
# the sources. Reports of the laboratory are copied back to bench/lab/report. The exit status is the status of the
# command, or 77 if the version is not available.
#
# Debian has no packages of PostgreSQL 16. IDGEN_POSTGRES names a source tree of PostgreSQL, either a folder or an
# archive. A server of its major version is built from it once, in the Debian system.

. "$(dirname "$0")/debian.sh"

idgen_help_end=
case ${1:-} in -h | --help) idgen_help; exit 0 ;; esac
[ $# -ge 2 ] && [[ $1 =~ ^[1-9][0-9](-[a-z0-9]+)?$ ]] ||
    idgen_die "a major version and a command are required; see --help"

PG_CONFIG=$(debian_pg_config "$1")
! debian_has "$1" || exec env -C "$IDGEN_SOURCE" PG_CONFIG="$PG_CONFIG" "${@:2}"
debian_make "$1"
! debian_has_source "$1" || debian_build_server "$1" release
debian_copy_sources
debian_run env -C /idgen PG_CONFIG="$PG_CONFIG" PG_TEST_TIMEOUT_DEFAULT="${PG_TEST_TIMEOUT_DEFAULT:-180}" "${@:2}"
status=$?
reports=bench/lab/report
[ ! -d "$DEBIAN_ROOT/idgen/$reports" ] ||
    { mkdir -p "$IDGEN_SOURCE/$reports" && cp -r "$DEBIAN_ROOT/idgen/$reports/." "$IDGEN_SOURCE/$reports"; }
exit $status
