#!/usr/bin/env bash
#
# demo.sh: demonstrate idgen on a private cluster.
#
#   scripts/demo.sh [--keep]
#
#   --keep    leave the cluster running, and print the psql command to connect to it
#   --help    this text
#
# Installs missing packages (apt, with sudo unless run as root), builds idgen, and
# starts a cluster in a folder of its own, which is removed at the end. Exits with
# status 0 only if every request of the demo got the expected verdict.
# PG_CONFIG=/path/to/pg_config selects the server.

set -euo pipefail
. "$(dirname "$0")/lib.sh"

keep=
idgen_options 'keep?' "$@"

# Leave the cluster running, and print how to connect to it and how to remove it.
hand_over() {
    local as_owner=
    IDGEN_KEEP=1
    [ "$(id -u)" -ne 0 ] || as_owner='runuser -u postgres -- '
    printf '%s\n\n' "The cluster is still running. To connect to it:" \
        "    $(command -v psql) -h $IDGEN_WORK -p $PGPORT -U $PGUSER $PGDATABASE" \
        "To stop and remove it:" \
        "    $as_owner$(command -v pg_ctl) -D $IDGEN_WORK/data stop && rm -rf $IDGEN_WORK"
}

idgen_install_packages
idgen_say "Building idgen for $("$PG_CONFIG" --version), and starting a cluster for it in /tmp"
idgen_build || idgen_die "idgen could not be built"
idgen_start
echo "ok, in $IDGEN_WORK"

# the width of the terminal; a pipe or file has room for a table
if [ -t 1 ]; then width=$(tput cols 2>/dev/null || echo 80); else width=110; fi
PAGER='' psql -X -q -v ON_ERROR_STOP=1 -P pager=off -P format=wrapped -P columns="$width" \
    <"$IDGEN_SOURCE/scripts/demo.sql" 2>&1 ||
    idgen_die "not everything is as expected, see above"

[ -z "$keep" ] || hand_over
echo "This was the demonstration. README.md describes idgen; bench/compare.sh compares the cost of keys."
