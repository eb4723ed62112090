#!/usr/bin/env bash
#
# test-upgrade.sh: test pg_upgrade of a database with idgen from one version of
# PostgreSQL to another.
#
#   scripts/dev/test-upgrade.sh OLD NEW        for example 15 17
#
# Builds idgen for both versions and runs t/051_pg_upgrade.pl; in the newer
# version's Debian folder (see run-on.sh) unless the machine has both. Ends with a
# line "N passed, N failed"; the exit status is 0 if nothing failed, and 77 if a
# version is not available. Takes about half a minute.

set -uo pipefail
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/debian.sh"

idgen_no_options "$@"
[[ $# -eq 2 && $1 =~ ^[1-9][0-9]$ && $2 =~ ^[1-9][0-9]$ ]] || idgen_die "two major versions are required, see --help"

if ! debian_has "$1" || ! debian_has "$2"; then
    { debian_make "$2" && debian_add_major "$1"; } || { echo "$DEBIAN_WHY"; exit 77; }
    debian_copy_sources
    debian_run /idgen/scripts/dev/test-upgrade.sh "$@"
    exit
fi

PG_CONFIG=$(debian_pg_config "$1")
idgen_install_packages tests
idgen_build COPT=-Werror || idgen_die "idgen could not be built"

OLD_BINDIR=$IDGEN_WORK/root$("$PG_CONFIG" --bindir) PG_CONFIG=$(debian_pg_config "$2") \
    "$IDGEN_SOURCE/scripts/test.sh" t/051_pg_upgrade.pl
