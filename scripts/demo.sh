#!/usr/bin/env bash
#
# demo.sh: demonstrate idgen on a private cluster.
#
# The script installs missing packages (with apt, using sudo unless run as root), builds idgen, and starts a cluster in
# its own folder, which is removed at the end unless IDGEN_KEEP=1. The exit status is 0 only if all requests receive the
# expected answers. PG_CONFIG=/path/to/pg_config selects the server.

set -euo pipefail
. "$(dirname "$0")/lib.sh"

idgen_no_options "$@"
idgen_install_packages
idgen_say "Building idgen for $("$PG_CONFIG" --version), and starting a cluster for it in /tmp"
idgen_build || idgen_die "idgen could not be built"
idgen_start
echo "ok, in $IDGEN_WORK"

psql -X -q -v ON_ERROR_STOP=1 -P pager=off -P format=wrapped <"$IDGEN_SOURCE/scripts/demo.sql" 2>&1 ||
    idgen_die "not everything is as expected, see above"

[ "$IDGEN_KEEP" != 1 ] ||
    echo "The cluster is still running: $(command -v psql) -h $IDGEN_WORK -p $PGPORT -U $PGUSER $PGDATABASE"
echo
echo "This was the demonstration. README.md describes idgen; scripts/test.sh runs its tests, and"
echo "bench/compare.sh compares the cost of keys on this machine."
