#!/usr/bin/env bash
#
# package-steps.sh: the steps of test-package.sh, which runs them as root in a Debian folder.
#
#   /idgen/dev/package-steps.sh FORM MAJOR
#
# FORM is archive, debian or rpm, which build, install, test and remove idgen from
# /package/idgen-VERSION.zip, or extension-image, whose files are in /extensions/1.0. Not for a machine
# in use: it installs and removes packages.

form=${1:-}
major=${2:-}

# test-package.sh copies the sources to /idgen: elsewhere, the call is a mistake
[[ $0 = /idgen/* && $form =~ ^(archive|debian|rpm|extension-image)$ && $major =~ ^[1-9][0-9]$ ]] ||
    { echo "package-steps.sh: run dev/test-package.sh instead" >&2; exit 1; }

# the server that uses the image; it ends with the script
[ "$form" != extension-image ] || [ -n "${PGPORT:-}" ] || exec pg_virtualenv -t -v "$major" "$0" "$@"

package=postgresql-$major-idgen
library=/usr/lib/postgresql/$major/lib
share=/usr/share/postgresql/$major/extension
export PG_CONFIG=/usr/lib/postgresql/$major/bin/pg_config
export PG_SUPPORTED_VERSIONS=$major

. /idgen/dev/verdicts.sh
cd /package || exit

# Run functions, each of which ends at its first error, and count them.
steps() {
    local step
    for step; do
        printf '\n== %s\n' "${step//_/ }"
        (set -e; "$step")
        verdict $? "${step//_/ }"
    done
}

install_packages() { apt-get -q install -y --no-install-recommends "$@"; }
install_tools() { apt-get -q update && install_packages postgresql-server-dev-all unzip "${tools[@]}"; }
unpack() { rm -rf idgen && unzip -q idgen-*.zip && mv idgen-*.[0-9] idgen; }

make_both() {
    local folder
    for folder in idgen idgen/contrib/advisor; do make -C "$folder" "$@" || return; done
}

# The regression and isolation tests of what is installed
installcheck() {
    export -f make_both
    pg_virtualenv -t -v "$major" bash -c 'make_both installcheck' ||
        { find idgen -name regression.diffs -exec cat {} +; return 1; }
}

no_files_are_left() { ! find "$library" "$share" -name 'idgen*' | grep .; }

# The files of an extension for the server: NAME FOLDER
files_of() {
    (cd "$2" && printf "$share/%s\n" "$1.control" "$1"--*.sql)
    echo "$library/$1.so"
}

# The list is that of its files, and of no others of the server.
are_files_of() { grep -E "^($library|$share)/" | grep -v /bitcode | sort | diff - <(files_of "$@" | sort); }
make_install() { make_both all install; }
make_uninstall() { make_both uninstall clean && no_files_are_left; }

# As "pgxn install idgen", with the archive in place of the network.
use_pgxn_client() {
    local options=(--yes --nosudo --pg_config "$PG_CONFIG" ./idgen-*.zip)
    pgxn install "${options[@]}"
    ls "$library/idgen.so"
    pgxn uninstall "${options[@]}"
    no_files_are_left
}

# debian/control names the release's own PostgreSQL, which may be another one.
build_debian() {
    local version
    rm -f postgresql-*
    version=$(dpkg-parsechangelog -l idgen/debian/changelog -S Version)
    tar czf "postgresql-idgen_${version%-*}.orig.tar.gz" --exclude=idgen/debian idgen
    cd idgen
    pg_buildext updatecontrol
    apt-get -q build-dep -y --no-install-recommends .
    dpkg-buildpackage -us -uc
}

run_lintian() { lintian --allow-root --info --fail-on error postgresql-idgen_*.changes; }
install_debian() { install_packages "./$package"{,-advisor}_*.deb; }

debian_contents() {
    dpkg --listfiles "$package" | are_files_of idgen idgen
    dpkg --listfiles "$package-advisor" | are_files_of idgen_advisor idgen/contrib/advisor
    ls /usr/share/doc/"$package"/{copyright,docs/reference.md*} "/usr/share/doc/$package-advisor/copyright"
}

run_autopkgtest() { autopkgtest --no-built-binaries postgresql-idgen_*.dsc "$package"{,-advisor}_*.deb -- null; }
remove_debian() { apt-get -q purge -y "$package" "$package-advisor" && no_files_are_left; }

# Debian's packages of PostgreSQL are unknown to rpm, hence --nodeps.
build_rpm() {
    rm -rf rpm
    rpmbuild -bb --nodeps --define "_topdir $PWD/rpm" --define "_sourcedir $PWD" --define 'debug_package %{nil}' \
        --define "pgmajorversion $major" --define "pg_config $PG_CONFIG" idgen/dev/packaging/rpm/idgen.spec
}

# Without the errors of every package that is not built and signed by a distribution of RPM.
run_rpmlint() {
    local errors='no-signature|no-packager-tag|no-group-tag|missing-hash-section'
    echo "addFilter(': E: ($errors|non-versioned-file-in-library-package /usr/lib/.build-id)')" >rpm/rpmlintrc
    rpmlint --rpmlintrc rpm/rpmlintrc rpm/RPMS/*/*.rpm
}

rpm_contents() {
    rpm --query --list --package rpm/RPMS/*/"idgen_$major-1"*.rpm | are_files_of idgen idgen
    rpm --query --list --package rpm/RPMS/*/"idgen_$major-advisor-1"*.rpm | are_files_of idgen_advisor idgen/contrib/advisor
}

install_rpm() { rpm --dbpath "$PWD/rpm/db" --install --nodeps rpm/RPMS/*/*.rpm; }
remove_rpm() { rpm --dbpath "$PWD/rpm/db" --erase "idgen_$major-advisor" "idgen_$major" && no_files_are_left; }

image_contents() {
    find /extensions/1.0 -type f -printf '%f\n' | sort |
        diff - <({ files_of idgen idgen; files_of idgen_advisor idgen/contrib/advisor; echo copyright; } | sed 's|.*/||' | sort)
}

# The paths as CloudNativePG sets them
set_paths() {
    psql -X -q -v ON_ERROR_STOP=1 -c "ALTER SYSTEM SET extension_control_path = '\$system:/extensions/1.0/share'" \
        -c "ALTER SYSTEM SET dynamic_library_path = '\$libdir:/extensions/1.0/lib'" -c "SELECT pg_reload_conf()"
}

run_tests() { make_both installcheck; }

case $form in
    archive)
        tools=(pgxnclient)
        steps install_tools unpack make_install installcheck make_uninstall use_pgxn_client
        ;;
    debian)
        tools=(dpkg-dev debhelper fakeroot lintian autopkgtest)
        steps install_tools unpack build_debian run_lintian install_debian debian_contents run_autopkgtest remove_debian
        ;;
    rpm)
        tools=(rpm rpmlint)
        steps install_tools unpack build_rpm run_rpmlint rpm_contents install_rpm installcheck remove_rpm
        ;;
    extension-image) steps image_contents no_files_are_left set_paths run_tests ;;
esac
end_of_verdicts
