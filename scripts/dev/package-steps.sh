#!/usr/bin/env bash
#
# package-steps.sh: the steps of test-package.sh, which runs them as root in a
# Debian folder.
#
#   /idgen/scripts/dev/package-steps.sh MAJOR
#
# Not for a machine in use: it installs packages, creates and drops a cluster
# "idgen", and removes the package. Ends with a line "N passed, N failed"; the
# exit status is 0 if nothing failed.

set -uo pipefail

source=$(cd "$(dirname "$0")/../.." && pwd)
major=${1:-}

# test-package.sh copies the sources to /idgen: elsewhere, the call is a mistake
[ "$major" != --help ] || { sed -n '3,/^$/s/^# \{0,1\}//p' "$0"; exit; }
[[ $source = /idgen && $major =~ ^[1-9][0-9]$ ]] || {
    echo "package-steps.sh: run scripts/dev/test-package.sh instead" >&2
    exit 1
}

package=postgresql-$major-idgen
work=/package
export PG_SUPPORTED_VERSIONS=$major

passed=0
failed=0

# Run a command, and count it as one step.
step() {
    local title=$1
    shift
    printf '\n== %s\n' "$title"
    if "$@"; then
        passed=$((passed + 1))
        echo "ok: $title"
    else
        failed=$((failed + 1))
        echo "not ok: $title"
    fi
}

as_postgres() { runuser -u postgres -- psql --no-psqlrc --cluster "$major/idgen" --quiet --no-align --tuples-only --set=ON_ERROR_STOP=1 "$@"; }

expect() {
    local expected=$1 found
    shift
    found=$("$@")
    [ "$found" = "$expected" ] || { printf 'expected: %s\nfound:    %s\n' "$expected" "$found"; return 1; }
}

install_tools() {
    apt-get -q update &&
        apt-get -q install -y --no-install-recommends dpkg-dev debhelper fakeroot postgresql-server-dev-all
}

# The sources without debian/ are the upstream tar file.
unpack_sources() {
    local version
    rm -rf "$work" && mkdir -p "$work/idgen" && cp -r "$source/." "$work/idgen" &&
        version=$(dpkg-parsechangelog -l "$work/idgen/debian/changelog" -S Version) &&
        tar czf "$work/postgresql-idgen_${version%-*}.orig.tar.gz" -C "$work" --exclude=idgen/debian idgen
}

# debian/control names the release's own PostgreSQL, which may be another one.
install_build_packages() {
    (cd "$work/idgen" && pg_buildext updatecontrol) &&
        apt-get -q build-dep -y --no-install-recommends "$work/idgen"
}

build_packages() { (cd "$work/idgen" && dpkg-buildpackage -us -uc); }

install_package() { apt-get -q install -y --no-install-recommends "$work/${package}"_*.deb; }

# The files that users need: the extension and its documents
package_contents() {
    dpkg --listfiles "$package" >"$work/contents"
    cat "$work/contents"
    for file in "/usr/lib/postgresql/$major/lib/idgen.so" \
        "/usr/share/postgresql/$major/extension/idgen.control" \
        "/usr/share/postgresql/$major/extension/idgen--1.0.sql" \
        "/usr/lib/postgresql/$major/lib/idgen_advisor.so" \
        "/usr/share/postgresql/$major/extension/idgen_advisor.control" \
        "/usr/share/postgresql/$major/extension/idgen_advisor--1.0.sql" \
        "/usr/share/doc/$package/copyright" \
        "/usr/share/doc/$package/changelog.Debian.gz"; do
        grep -qxF "$file" "$work/contents" || { echo "missing: $file"; return 1; }
    done
    grep -qE "^/usr/share/doc/$package/README" "$work/contents" || { echo "missing: README"; return 1; }
}

create_cluster() {
    pg_dropcluster --stop "$major" idgen >/dev/null 2>&1 || true
    pg_createcluster "$major" idgen --start
}

use_idgen() {
    as_postgres -c "CREATE EXTENSION idgen" &&
        expect 1.0 as_postgres -c "SELECT extversion FROM pg_extension WHERE extname = 'idgen'" &&
        as_postgres -c "ALTER SYSTEM SET idgen.node_id = 5" -c "SELECT pg_reload_conf()" >/dev/null &&
        as_postgres -c "CREATE TABLE visits (id bigint PRIMARY KEY DEFAULT idgen.snowflake(), key uuid UNIQUE DEFAULT idgen.short_comb())" &&
        as_postgres -c "INSERT INTO visits SELECT FROM generate_series(1, 1000)" &&
        expect '1000|t|t' as_postgres -c "SELECT count(*), bool_and(idgen.is_recent_short_comb(key)), bool_and(idgen.snowflake_node(id) = 5) FROM visits" &&
        expect '42|t' as_postgres -c "SELECT * FROM idgen.create_once_bigint('018f0000-0000-7000-8000-000000000001', 42)" &&
        expect '42|f' as_postgres -c "SELECT * FROM idgen.create_once_bigint('018f0000-0000-7000-8000-000000000001', 43)" &&
        as_postgres -c "CREATE EXTENSION idgen_advisor" &&
        expect 'Snowflake' as_postgres -c "SELECT key_kind FROM idgen.index_report('visits')"
}

package_tests() { (cd "$work/idgen" && sh debian/tests/installcheck); }

remove_package() {
    pg_dropcluster --stop "$major" idgen &&
        apt-get -q purge -y "$package" &&
        [ ! -e "/usr/lib/postgresql/$major/lib/idgen.so" ]
}

step "Install the tools" install_tools
step "Unpack the sources" unpack_sources
step "Install the build dependencies" install_build_packages
step "Build the packages" build_packages
step "Install the package" install_package
step "Check its contents" package_contents
step "Create a cluster" create_cluster
step "Use idgen in it" use_idgen
step "Run the tests of the installed package" package_tests
step "Remove the package" remove_package

printf '\n%d passed, %d failed\n' "$passed" "$failed"
[ "$failed" -eq 0 ]
