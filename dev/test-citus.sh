#!/usr/bin/env bash
#
# test-citus.sh: test idgen with Citus, for which Debian has no package.
#
#   IDGEN_CITUS=ARCHIVE dev/test-citus.sh
#
# The script builds Citus from the archive, a tar file of its sources, for PostgreSQL 18 in a Debian system in
# $IDGEN_MATRIX/citus (see run-on.sh). It then runs the tests that are otherwise skipped. Citus is built again if the
# archive or the server has changed. The script takes two minutes, or ten minutes the first time.

. "$(dirname "$0")/debian.sh"

idgen_no_options "$@"
archive=${IDGEN_CITUS:-}
[ -r "$archive" ] || { echo "skipped: IDGEN_CITUS does not name the archive of Citus"; exit 77; }

IDGEN_MATRIX=$IDGEN_MATRIX/citus
debian_make 18
in_folder() { debian_run env -C /citus PG_CONFIG="$(debian_pg_config 18)" "$@"; }

mkdir -p "$DEBIAN_ROOT/citus"
built=$DEBIAN_ROOT/citus.built
wanted="$(sha256sum <"$archive") $(in_folder sh -c '$PG_CONFIG --version')"
if [ "$(cat "$built" 2>/dev/null)" != "$wanted" ]; then
    echo "Building Citus in $DEBIAN_ROOT; the log is $DEBIAN_ROOT.citus.log"
    rm -rf --one-file-system "$built" "${DEBIAN_ROOT:?}/citus"/*
    { tar xf "$archive" --no-same-owner --strip-components=1 -C "$DEBIAN_ROOT/citus" &&
        debian_apt_install libicu-dev libkrb5-dev liblz4-dev libssl-dev libzstd-dev &&
        in_folder sh -ec './configure; make -j2 with_llvm=no extension; make with_llvm=no install-extension'
    } >"$DEBIAN_ROOT.citus.log" 2>&1 || idgen_die "Citus could not be built, see $DEBIAN_ROOT.citus.log"
    echo "$wanted" >"$built"
fi
debian_copy_sources
in_folder /idgen/scripts/test.sh t/080_citus.pl
