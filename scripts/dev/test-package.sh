#!/usr/bin/env bash
#
# test-package.sh: build the Debian package, install it and test it.
#
#   scripts/dev/test-package.sh [MAJOR]        default: 17
#
# In the Debian folder of that version (see scripts/dev/test-matrix.sh), builds the
# source and binary packages, installs the one for that version with apt, uses
# idgen in a cluster of pg_createcluster, runs the package's own tests, and
# removes the package. Ends with a line "N passed, N failed"; the exit status is 0
# if nothing failed, and 77 if the folder cannot be made. Takes about two minutes.
# The packages remain in FOLDER/MAJOR/package.

set -uo pipefail
. "$(dirname "$0")/../lib.sh"

idgen_no_options "$@"
major=${1:-17}
[[ $major =~ ^[1-9][0-9]$ ]] || idgen_die "not a major version: $major"

. "$(dirname "$0")/debian.sh"

debian_make "$major" || { echo "$DEBIAN_WHY"; exit 77; }
debian_copy_sources
debian_run /idgen/scripts/dev/package-steps.sh "$major"
