#!/usr/bin/env bash
#
# test-upgrade.sh: test pg_upgrade of databases with idgen, and restores of their dumps.
#
#   dev/test-upgrade.sh OLD NEW        for example 15 17
#
# The script runs in the Debian folder of the newer version (see run-on.sh), unless the machine has both versions.

. "$(dirname "$0")/debian.sh"

# Also install this older PostgreSQL version in the Debian system.
add_major() {
    local release
    [ ! -e "$DEBIAN_ROOT/usr/lib/postgresql/$1/lib/pgxs" ] || return 0
    release=$(debian_release "$1") || exit
    echo "Installing PostgreSQL $1 in $DEBIAN_ROOT; the log is $DEBIAN_ROOT.$1.log"
    debian_apt_source "$release"
    debian_apt_install "postgresql-$1" "postgresql-server-dev-$1" >"$DEBIAN_ROOT.$1.log" 2>&1 ||
        debian_unavailable "PostgreSQL $1 could not be installed in $DEBIAN_ROOT, see $DEBIAN_ROOT.$1.log"
}

idgen_no_options "$@"
[[ $# -eq 2 && $1 =~ ^[1-9][0-9]$ && $2 =~ ^[1-9][0-9]$ ]] || idgen_die "two major versions are required, see --help"

if ! debian_has "$1" || ! debian_has "$2"; then
    debian_make "$2"
    add_major "$1"
    debian_copy_sources
    debian_run /idgen/dev/test-upgrade.sh "$@"
    exit
fi

PG_CONFIG=$(debian_pg_config "$1")
idgen_install_packages tests
idgen_build COPT=-Werror || idgen_die "idgen could not be built"

OLD_BINDIR=$IDGEN_WORK/root$("$PG_CONFIG" --bindir) PG_CONFIG=$(debian_pg_config "$2") \
    "$IDGEN_SOURCE/scripts/test.sh" t/042_restore.pl t/051_pg_upgrade.pl
