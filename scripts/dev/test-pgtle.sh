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

build_pg_tle() { debian_run make -C /pg_tle PG_CONFIG="$1" with_llvm=no install; }

debian_engine pg_tle.so "${IDGEN_PGTLE:-}" build_pg_tle 'flex libkrb5-dev libssl-dev' "$@"
debian_run env PG_CONFIG="$(debian_pg_config 18)" /idgen/scripts/test.sh t/082_pgtle.pl
