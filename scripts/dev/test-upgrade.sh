#!/usr/bin/env bash
#
# test-upgrade.sh: does pg_upgrade carry idgen from one version of PostgreSQL
# to another?
#
#   scripts/dev/test-upgrade.sh OLD NEW        for example 15 17
#
# Builds idgen for both and runs t/051_pg_upgrade.pl. Where one of them is not
# on the machine, in the newer one's Debian folder (see scripts/dev/test-matrix.sh).
# Ends with a line "N passed, N failed"; the exit status is 0 when nothing
# failed, and 77 when a version cannot be had.

set -uo pipefail
. "$(dirname "$0")/../lib.sh"

idgen_no_options "$@"
[[ $# -eq 2 && $1 =~ ^[1-9][0-9]$ && $2 =~ ^[1-9][0-9]$ ]] || idgen_die "say which: $(basename "$0") OLD NEW"
old=$1
new=$2

. "$(dirname "$0")/debian.sh"

if ! debian_has "$old" || ! debian_has "$new"; then
    { debian_make "$new" && debian_add_major "$old"; } || { echo "$DEBIAN_WHY"; exit 77; }
    debian_copy_sources
    debian_run /idgen/scripts/dev/test-upgrade.sh "$old" "$new"
    exit
fi

PG_CONFIG=/usr/lib/postgresql/$old/bin/pg_config
idgen_install_packages tests
idgen_say "Building for $("$PG_CONFIG" --version), warnings as errors"
idgen_build COPT=-Werror || idgen_die "idgen could not be built"
echo "ok"

OLD_BINDIR=$IDGEN_WORK/root$("$PG_CONFIG" --bindir) \
    PG_CONFIG=/usr/lib/postgresql/$new/bin/pg_config \
    "$IDGEN_SOURCE/scripts/test.sh" t/051_pg_upgrade.pl
