#!/usr/bin/env bash
#
# test-engine.sh: test idgen with an extension of which Debian has no package.
#
#   IDGEN_CITUS=ARCHIVE dev/test-engine.sh citus
#   IDGEN_PGTLE=ARCHIVE dev/test-engine.sh pgtle
#
# Builds it from the archive, a tar file of its sources, for the PostgreSQL 18 of a Debian system in
# $IDGEN_MATRIX/citus or $IDGEN_MATRIX/pgtle (see run-on.sh), again if the archive or the server
# changed, and runs the tests that are skipped without it. Takes two minutes, the first time ten.

. "$(dirname "$0")/debian.sh"

idgen_no_options "$@"
engine=${1:-}
case $engine in
    citus)
        archive=${IDGEN_CITUS:-}
        packages=(libicu-dev libkrb5-dev liblz4-dev libssl-dev libzstd-dev)
        build='./configure; make -j2 with_llvm=no extension; make with_llvm=no install-extension'
        tests=(t/080_citus.pl t/083_citus_commands.pl)
        ;;
    pgtle)
        archive=${IDGEN_PGTLE:-}
        packages=(flex libkrb5-dev libssl-dev)
        build='make with_llvm=no install'
        tests=(contrib/portable/t/005_pgtle.pl)
        ;;
    *) idgen_die "citus or pgtle is required; see --help" ;;
esac
[ -r "$archive" ] || { echo "skipped: IDGEN_${engine^^} does not name the archive of $engine"; exit 77; }

IDGEN_MATRIX=$IDGEN_MATRIX/$engine
debian_make 18
in_folder() { debian_run env -C /"$engine" PG_CONFIG="$(debian_pg_config 18)" "$@"; }

mkdir -p "$DEBIAN_ROOT/$engine"
built=$DEBIAN_ROOT/$engine.built
wanted="$(sha256sum <"$archive") $(in_folder sh -c '$PG_CONFIG --version')"
if [ "$(cat "$built" 2>/dev/null)" != "$wanted" ]; then
    echo "Building $engine in $DEBIAN_ROOT; the log is $DEBIAN_ROOT.$engine.log"
    rm -rf --one-file-system "$built" "${DEBIAN_ROOT:?}/$engine"/*
    { tar xf "$archive" --no-same-owner --strip-components=1 -C "$DEBIAN_ROOT/$engine" &&
        debian_apt_install "${packages[@]}" && in_folder sh -ec "$build"; } >"$DEBIAN_ROOT.$engine.log" 2>&1 ||
        idgen_die "$engine could not be built, see $DEBIAN_ROOT.$engine.log"
    echo "$wanted" >"$built"
fi
debian_copy_sources
in_folder /idgen/scripts/test.sh "${tests[@]}"
