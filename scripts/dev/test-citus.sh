#!/usr/bin/env bash
#
# test-citus.sh: test idgen on Citus.
#
#   scripts/dev/test-citus.sh [--citus ARCHIVE] [--folder FOLDER]
#
# Installs PostgreSQL 18 in a Debian system in FOLDER/18, builds Citus there from
# ARCHIVE, a tar file of its sources, and runs the tests t/080 with idgen. ARCHIVE is
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

build_citus() {
    debian_run sh -ec "cd /citus
        ./configure PG_CONFIG=$1
        make -j2 with_llvm=no extension
        make with_llvm=no install-extension"
}

debian_engine citus.so "${IDGEN_CITUS:-}" build_citus 'libicu-dev libkrb5-dev liblz4-dev libssl-dev libzstd-dev' "$@"
debian_run env PG_CONFIG="$(debian_pg_config 18)" /idgen/scripts/test.sh t/080_citus.pl t/080_citus_commands.pl
