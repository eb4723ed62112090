#!/usr/bin/env bash
#
# test-pgtle.sh: test the portable edition as extensions of pg_tle.
#
#   scripts/dev/test-pgtle.sh [--pgtle ARCHIVE] [--folder FOLDER]
#
# Installs PostgreSQL 18 in a Debian system in FOLDER/18, builds pg_tle there from
# ARCHIVE, a tar file of its sources, and runs t/082_pgtle.pl. ARCHIVE is $IDGEN_PGTLE
# by default; FOLDER is $IDGEN_MATRIX/pgtle, or /var/cache/idgen-matrix/pgtle. The
# system is kept for later runs and takes 1 GB; pg_tle is built again if the archive or
# the server changed. This requires root.
#
# Ends with a line "N passed, N failed"; the exit status is 0 if nothing failed, and
# 77 if the archive or the system is not available. Takes a minute, and the first time
# some more for the installation of the system.

set -uo pipefail
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/debian.sh"

archive=${IDGEN_PGTLE:-}
IDGEN_MATRIX=$IDGEN_MATRIX/pgtle
while [ $# -gt 0 ]; do
    case $1 in --*=*) set -- "${1%%=*}" "${1#*=}" "${@:2}" ;; esac
    case $1 in
        --pgtle) archive=${2:-} ;;
        --folder) IDGEN_MATRIX=$(realpath -m "${2:-}") ;;
        -h | --help) idgen_help; exit 0 ;;
        *) idgen_die "unknown option $1; see --help" ;;
    esac
    shift 2 || idgen_die "$1 requires a name"
done
[ -n "$archive" ] || { echo "no archive of pg_tle is given, see --help"; exit 77; }
[ -r "$archive" ] || { echo "the archive of pg_tle, $archive, does not exist"; exit 77; }

major=18
postgres=/usr/lib/postgresql/$major

# Without code for the server's JIT compiler.
build_pgtle() {
    rm -rf --one-file-system "${DEBIAN_ROOT:?}/pgtle"
    mkdir "$DEBIAN_ROOT/pgtle" &&
        tar xf "$archive" --no-same-owner --strip-components=1 -C "$DEBIAN_ROOT/pgtle" &&
        debian_run apt-get -q update &&
        debian_run apt-get -q install -y --no-install-recommends flex libkrb5-dev libssl-dev &&
        debian_run make -C /pgtle PG_CONFIG="$postgres/bin/pg_config" with_llvm=no install &&
        rm -rf --one-file-system "$DEBIAN_ROOT/pgtle"
}

debian_make "$major" || { echo "$DEBIAN_WHY"; exit 77; }
wanted="$(sha256sum <"$archive") $(debian_run "$postgres/bin/pg_config" --version)"
if [ "$(cat "$DEBIAN_ROOT/pgtle.built" 2>/dev/null)" != "$wanted" ] || [ ! -e "$DEBIAN_ROOT$postgres/lib/pg_tle.so" ]; then
    echo "Building pg_tle in $DEBIAN_ROOT; the log is $DEBIAN_ROOT.pgtle.log"
    rm -f "$DEBIAN_ROOT/pgtle.built"
    build_pgtle >"$DEBIAN_ROOT.pgtle.log" 2>&1 || idgen_die "pg_tle could not be built, see $DEBIAN_ROOT.pgtle.log"
    echo "$wanted" >"$DEBIAN_ROOT/pgtle.built"
fi
debian_copy_sources
debian_run env PG_CONFIG="$postgres/bin/pg_config" /idgen/scripts/test.sh t/082_pgtle.pl
