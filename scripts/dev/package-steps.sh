#!/usr/bin/env bash
#
# package-steps.sh: the steps of test-package.sh, which runs them as root in a
# Debian folder.
#
#   /idgen/scripts/dev/package-steps.sh packages MAJOR
#   /idgen/scripts/dev/package-steps.sh extension-image MAJOR
#
# The first builds, installs and removes idgen from /package/idgen-VERSION.zip:
# with make and with PGXN's client, as Debian packages, and as RPM. The second
# uses the extension image whose files are in /extensions/1.0.
#
# Not for a machine in use: it installs packages, creates and drops a cluster
# "idgen", and removes the package. Ends with a line "N passed, N failed"; the
# exit status is 0 if nothing failed.

set -uo pipefail

[ "${1:-}" != --help ] || { sed -n '3,/^$/s/^# \{0,1\}//p' "$0"; exit; }

source=$(cd "$(dirname "$0")/../.." && pwd)
phase=${1:-}
major=${2:-}

# test-package.sh copies the sources to /idgen: elsewhere, the call is a mistake
[[ $source = /idgen && $phase =~ ^(packages|extension-image)$ && $major =~ ^[1-9][0-9]$ ]] || {
    echo "package-steps.sh: run scripts/dev/test-package.sh instead" >&2
    exit 1
}

package=postgresql-$major-idgen
work=/package
library=/usr/lib/postgresql/$major/lib
share=/usr/share/postgresql/$major/extension
export PG_CONFIG=/usr/lib/postgresql/$major/bin/pg_config
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
        echo "FAILED: $title"
    fi
}

as_postgres() { runuser -u postgres -- "$@"; }

# A statement, in the database "postgres"
query() { as_postgres psql --no-psqlrc --cluster "$major/idgen" --quiet --no-align --tuples-only --set=ON_ERROR_STOP=1 "${@/#/--command=}"; }

expect() {
    local expected=$1 found
    shift
    found=$("$@")
    [ "$found" = "$expected" ] || { printf 'expected: %s\nfound:    %s\n' "$expected" "$found"; return 1; }
}

install_tools() {
    apt-get -q update &&
        apt-get -q install -y --no-install-recommends dpkg-dev debhelper fakeroot lintian autopkgtest \
            postgresql-server-dev-all rpm rpm2cpio cpio unzip
}

create_cluster() {
    pg_dropcluster --stop "$major" idgen >/dev/null 2>&1
    pg_createcluster "$major" idgen --start
}

# --- what a user of any of them does ----------------------------------------

use_idgen() {
    query "CREATE EXTENSION idgen" &&
        expect 1.0 query "SELECT extversion FROM pg_extension WHERE extname = 'idgen'" &&
        query "LOAD 'idgen'" "ALTER SYSTEM SET idgen.node_id = 5" "SELECT pg_reload_conf()" >/dev/null &&
        query "CREATE TABLE visits (id bigint PRIMARY KEY DEFAULT idgen.snowflake(), key uuid UNIQUE DEFAULT idgen.short_comb())" &&
        query "INSERT INTO visits SELECT FROM generate_series(1, 1000)" &&
        expect '1000|t|t' query "SELECT count(*), bool_and(idgen.is_recent_short_comb(key)), bool_and(idgen.snowflake_node(id) = 5) FROM visits" &&
        expect '42|t' query "SELECT * FROM idgen.create_once_bigint('018f0000-0000-7000-8000-000000000001', 42)" &&
        expect '42|f' query "SELECT * FROM idgen.create_once_bigint('018f0000-0000-7000-8000-000000000001', 43)" &&
        query "CREATE EXTENSION idgen_advisor" &&
        expect t query "SELECT leaf_pages > 0 FROM idgen.index_report('visits_pkey')"
}

stop_using() {
    query "LOAD 'idgen'" "DROP TABLE visits" "DROP EXTENSION idgen_advisor" "DROP EXTENSION idgen" "ALTER SYSTEM RESET idgen.node_id"
}

use_and_stop() { use_idgen && stop_using; }

no_files_are_left() {
    local left
    left=$(ls -d "$library"/idgen* "$library"/bitcode/idgen* "$share"/idgen* 2>/dev/null)
    [ -z "$left" ] || { printf 'left: %s\n' "$left"; return 1; }
}

# The files of both extensions for the server, and no others of it.
expected_files() {
    printf '%s\n' "$library"/idgen{,_advisor}.so "$share"/idgen{,_advisor}.control "$share"/idgen{,_advisor}--1.0.sql | sort
}

are_expected() { grep -E "^($library|$share)/" | grep -v /bitcode | sort | diff - <(expected_files); }

# --- the archive ------------------------------------------------------------

unpack() {
    rm -rf "$work/idgen" && unzip -q "$work"/idgen-*.zip -d "$work" && mv "$work"/idgen-*.[0-9] "$work/idgen" &&
        chown -R postgres "$work/idgen"
}

make_install() { make -C "$work/idgen" "$@" && make -C "$work/idgen/advisor" "$@"; }

installcheck() {
    local folder
    export PGCLUSTER=$major/idgen PGPORT
    PGPORT=$(query "SHOW port")
    for folder in "$work/idgen" "$work/idgen/advisor"; do
        as_postgres make -C "$folder" installcheck || { cat "$folder"/{,output_iso/}regression.diffs; return 1; }
    done
}

uninstall() { make_install uninstall && make_install clean && no_files_are_left; }

# As "pgxn install idgen", with the archive in place of the network.
use_pgxn_client() {
    local options=(--yes --nosudo --pg_config "$PG_CONFIG" "$work"/idgen-*.zip)
    apt-get -q install -y --no-install-recommends pgxnclient &&
        pgxn install "${options[@]}" && ls "$library/idgen.so" && pgxn uninstall "${options[@]}" && no_files_are_left
}

# --- Debian -----------------------------------------------------------------

# debian/control names the release's own PostgreSQL, which may be another one.
build_debian() {
    local version
    version=$(dpkg-parsechangelog -l "$work/idgen/debian/changelog" -S Version) &&
        tar czf "$work/postgresql-idgen_${version%-*}.orig.tar.gz" -C "$work" --exclude=idgen/debian idgen &&
        cd "$work/idgen" && pg_buildext updatecontrol &&
        apt-get -q build-dep -y --no-install-recommends "$work/idgen" &&
        dpkg-buildpackage -us -uc
}

run_lintian() { lintian --allow-root --info --fail-on error "$work"/postgresql-idgen_*.changes; }

install_debian() { apt-get -q install -y --no-install-recommends "$work/$package"{,-advisor}_*.deb; }

debian_contents() {
    local part
    for part in "$package" "$package-advisor"; do
        dpkg --listfiles "$part" | tee "$work/$part.files"
        grep -qxF "/usr/share/doc/$part/copyright" "$work/$part.files" || { echo "no copyright in $part"; return 1; }
    done
    cat "$work/$package"{,-advisor}.files | are_expected &&
        grep -q "^/usr/share/doc/$package/docs/reference.md" "$work/$package.files" &&
        ! grep -E "$library|$share" "$work/$package.files" | grep advisor
}

# The tests of debian/tests, with the installed packages. They create a cluster, and
# may give it the port of ours.
run_autopkgtest() {
    pg_ctlcluster "$major" idgen stop &&
        autopkgtest --no-built-binaries "$work"/postgresql-idgen_*.dsc "$work/$package"{,-advisor}_*.deb -- null &&
        pg_ctlcluster "$major" idgen start
}

remove_debian() { apt-get -q purge -y "$package" "$package-advisor" && no_files_are_left; }

# --- RPM --------------------------------------------------------------------

# Debian's packages of PostgreSQL are unknown to rpm, hence --nodeps.
build_rpm() {
    rm -rf "$work/rpm" &&
        rpmbuild -bb --nodeps --define "_topdir $work/rpm" --define "_sourcedir $work" --define 'debug_package %{nil}' \
            --define "pgmajorversion $major" --define "pg_config $PG_CONFIG" "$work/idgen/packaging/rpm/idgen.spec"
}

rpm_contents() {
    rpm --query --list --package "$work"/rpm/RPMS/*/*.rpm | tee "$work/rpm.files"
    are_expected <"$work/rpm.files" &&
        ! rpm --query --list --package "$work/rpm/RPMS"/*/"idgen_$major-1"*.rpm | grep -E "$library|$share" | grep advisor
}

install_rpm() {
    local file
    for file in "$work"/rpm/RPMS/*/*.rpm; do
        rpm2cpio "$file" | (cd / && cpio --extract --make-directories --unconditional --quiet) || return
    done
}

remove_rpm() {
    (cd / && xargs -d '\n' rm -r <<<"$(grep idgen "$work/rpm.files" | sort -r)") && no_files_are_left
}

packages() {
    step "Install the tools" install_tools
    step "Create a cluster" create_cluster

    step "Unpack the archive" unpack
    step "Build and install it with make" make_install all install
    step "Run its regression and isolation tests" installcheck
    step "Uninstall it" uninstall
    step "Install and uninstall it with PGXN's client" use_pgxn_client

    step "Build the Debian packages" build_debian
    step "Check them with lintian" run_lintian
    step "Install them" install_debian
    step "Check their contents" debian_contents
    step "Use idgen in the cluster" use_and_stop
    step "Run the tests of the installed packages" run_autopkgtest
    step "Remove the packages" remove_debian

    step "Build the RPM packages" build_rpm
    step "Check their contents" rpm_contents
    step "Unpack them" install_rpm
    step "Use idgen in the cluster" use_and_stop
    step "Remove their files" remove_rpm
}

# --- the extension image ----------------------------------------------------

image=/extensions/idgen

image_contents() {
    (cd /extensions/1.0 && find . -type f) | sort | tee "$work/image.files" |
        diff - <(printf '%s\n' ./lib/idgen{,_advisor}.so ./share/extension/idgen{,_advisor}{.control,--1.0.sql} \
            "./licenses/$package/copyright" | sort)
}

# The paths as CloudNativePG sets them; here, the folder is a link.
use_paths() {
    ln -sfn 1.0 "$image" &&
        query "ALTER SYSTEM SET extension_control_path = '\$system:$image/share'" \
            "ALTER SYSTEM SET dynamic_library_path = '\$libdir:$image/lib'" "SELECT pg_reload_conf()" >/dev/null
}

# A later version in another folder
make_next_version() {
    local extension=/extensions/1.0.1/share/extension
    rm -rf /extensions/1.0.1 && cp -a /extensions/1.0 /extensions/1.0.1 &&
        sed -i "s/^default_version = .*/default_version = '1.0.1'/" "$extension/idgen.control" &&
        cat >"$extension/idgen--1.0--1.0.1.sql" <<'SQL'
CREATE FUNCTION idgen.random_id() RETURNS uuid
    LANGUAGE C VOLATILE PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'idgen_uuid_v4';
SQL
}

# The files of the library that a backend has loaded
loaded_by() { sed -n 's/^[^/]*\(\/.*\/idgen\.so.*\)$/\1/p' "/proc/$1/maps" | sort -u; }

# A session that is open while the link changes and the extension is updated.
replace_image() {
    local pid answer
    make_next_version || return
    coproc session { query_session; }
    # shellcheck disable=SC2154  # coproc sets it
    ask() { echo "$1" >&"${session[1]}" && read -r -t 60 answer <&"${session[0]}"; }

    ask "SELECT pg_backend_pid() FROM idgen.uuid_v4();" && pid=$answer &&
        expect /extensions/1.0/lib/idgen.so loaded_by "$pid" &&
        ln -s 1.0.1 "$image.new" && mv -T "$image.new" "$image" && rm -r /extensions/1.0 &&
        query "ALTER EXTENSION idgen UPDATE" &&
        expect 1.0.1 query "SELECT extversion FROM pg_extension WHERE extname = 'idgen'" &&
        ask "SELECT count(DISTINCT idgen.snowflake()) FROM generate_series(1, 100);" && [ "$answer" = 100 ] &&
        ask "SELECT uuid_extract_version(idgen.random_id());" && [ "$answer" = 4 ] &&
        expect '/extensions/1.0/lib/idgen.so (deleted)' loaded_by "$pid" &&
        query "INSERT INTO visits SELECT FROM generate_series(1, 1000)" &&
        expect '2000|4' query "SELECT count(*), uuid_extract_version(idgen.random_id()) FROM visits" || return
    echo '\q' >&"${session[1]}"
    # shellcheck disable=SC2154  # likewise
    wait "$session_PID"
}

query_session() {
    as_postgres psql --no-psqlrc --cluster "$major/idgen" --quiet --no-align --tuples-only
}

extension_image() {
    step "The image contains the files of both extensions" image_contents
    step "The server has no idgen of its own" no_files_are_left
    step "Create a cluster" create_cluster
    step "Set the paths in the running server" use_paths
    step "Use idgen from the image" use_idgen
    step "Replace the image and update the extension under an open session" replace_image
    step "Drop the cluster" pg_dropcluster --stop "$major" idgen
}

case $phase in
    packages) packages ;;
    extension-image) extension_image ;;
esac

printf '\n%d passed, %d failed\n' "$passed" "$failed"
[ "$failed" -eq 0 ]
