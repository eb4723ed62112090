#!/usr/bin/env bash
#
# test-citus.sh: test idgen on Citus.
#
#   scripts/dev/test-citus.sh [--citus ARCHIVE] [--folder FOLDER]
#
# Installs PostgreSQL 18 in a Debian system in FOLDER/18, builds Citus there from
# ARCHIVE, a tar file of its sources, and runs t/080_citus.pl with idgen. ARCHIVE is
# $IDGEN_CITUS by default; FOLDER is $IDGEN_MATRIX/citus, or
# /var/cache/idgen-matrix/citus. The system is kept for later runs and takes 2 GB;
# Citus is built again if the archive or the server changed. This requires root.
#
# Ends with a line "N passed, N failed"; the exit status is 0 if nothing failed, and
# 77 if the archive or the system is not available. Takes two minutes, and the first
# time up to ten, most of it for the installation of the system.

set -uo pipefail
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/debian.sh"

archive=${IDGEN_CITUS:-}
IDGEN_MATRIX=$IDGEN_MATRIX/citus
while [ $# -gt 0 ]; do
    case $1 in --*=*) set -- "${1%%=*}" "${1#*=}" "${@:2}" ;; esac
    case $1 in
        --citus) archive=${2:-} ;;
        --folder) IDGEN_MATRIX=$(realpath -m "${2:-}") ;;
        -h | --help) idgen_help; exit 0 ;;
        *) idgen_die "unknown option $1; see --help" ;;
    esac
    shift 2 || idgen_die "$1 requires a name"
done
[ -n "$archive" ] || { echo "no archive of Citus is given, see --help"; exit 77; }
[ -r "$archive" ] || { echo "the archive of Citus, $archive, does not exist"; exit 77; }

major=18
postgres=/usr/lib/postgresql/$major

# Without code for the server's JIT compiler.
build_citus() {
    rm -rf --one-file-system "${DEBIAN_ROOT:?}/citus"
    mkdir "$DEBIAN_ROOT/citus" &&
        tar xf "$archive" --no-same-owner --strip-components=1 -C "$DEBIAN_ROOT/citus" &&
        debian_run apt-get -q update &&
        debian_run apt-get -q install -y --no-install-recommends libicu-dev libkrb5-dev liblz4-dev libssl-dev libzstd-dev &&
        debian_run sh -ec "cd /citus
            ./configure PG_CONFIG=$postgres/bin/pg_config
            make -j2 with_llvm=no extension
            make with_llvm=no install-extension" &&
        rm -rf --one-file-system "$DEBIAN_ROOT/citus"
}

debian_make "$major" || { echo "$DEBIAN_WHY"; exit 77; }
wanted="$(sha256sum <"$archive") $(debian_run "$postgres/bin/pg_config" --version)"
if [ "$(cat "$DEBIAN_ROOT/citus.built" 2>/dev/null)" != "$wanted" ] || [ ! -e "$DEBIAN_ROOT$postgres/lib/citus.so" ]; then
    echo "Building Citus in $DEBIAN_ROOT; the log is $DEBIAN_ROOT.citus.log"
    rm -f "$DEBIAN_ROOT/citus.built"
    build_citus >"$DEBIAN_ROOT.citus.log" 2>&1 || idgen_die "Citus could not be built, see $DEBIAN_ROOT.citus.log"
    echo "$wanted" >"$DEBIAN_ROOT/citus.built"
fi
debian_copy_sources
debian_run env PG_CONFIG="$postgres/bin/pg_config" /idgen/scripts/test.sh t/080_citus.pl
