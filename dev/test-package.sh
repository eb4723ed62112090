#!/usr/bin/env bash
#
# test-package.sh: build idgen in each form in which it is distributed, install it and test it.
#
#   dev/test-package.sh [MAJOR [FORM ...]]     default: 17, and all forms
#
#   archive        the archive of "make dist", by make and PGXN's client
#   debian         the Debian packages, by autopkgtest
#   rpm            the RPM packages, by Debian's rpm
#   docker         the image of dev/packaging/docker
#   cloudnativepg  the image of dev/packaging/cloudnativepg, with the Debian packages; PostgreSQL 18 and later
#
# Runs in the Debian folder of this version (see run-on.sh), which is also the base of the images. The archive contains
# the working tree, except new files that have not been added. The packages remain in FOLDER/MAJOR/package. Takes about
# ten minutes.

. "$(dirname "$0")/debian.sh"

idgen_options '' "$@"
major=${arguments[0]:-17}
forms=("${arguments[@]:1}")
[ ${#forms[@]} -gt 0 ] || forms=(archive debian rpm docker cloudnativepg)
images=$IDGEN_MATRIX/images-$major

# Execute steps in the Debian system, each of which must succeed. $1 is the number of the version.
in_debian() {
    debian_run bash -exc "export PG_SUPPORTED_VERSIONS=\$1 PG_CONFIG=/usr/lib/postgresql/\$1/bin/pg_config
        both() { make -C /package/idgen \"\$@\" && make -C /package/idgen/contrib/advisor \"\$@\"; }
        export -f both
        install() { apt-get -q install -y --no-install-recommends \"\$@\"; }
        cd /package
        rm -rf idgen && unzip -q idgen-*.zip && mv idgen-*.[0-9] idgen
        $1
        ! find /usr/lib/postgresql/\$1/lib /usr/share/postgresql/\$1/extension -name 'idgen*' | grep ." bash "$major"
}

# shellcheck disable=SC2016  # for the inner shell
test_archive() {
    in_debian 'install pgxnclient
        both all install
        pg_virtualenv -t -v "$1" bash -c "both installcheck"
        both uninstall clean
        pgxn install --yes --nosudo --pg_config "$PG_CONFIG" ./idgen-*.zip
        ls "/usr/lib/postgresql/$1/lib/idgen.so"
        pgxn uninstall --yes --nosudo --pg_config "$PG_CONFIG" ./idgen-*.zip'
}

# debian/control names the release's own PostgreSQL version, which may be different.
# shellcheck disable=SC2016
test_debian() {
    in_debian 'install dpkg-dev debhelper fakeroot autopkgtest
        rm -f postgresql-*
        version=$(dpkg-parsechangelog -l idgen/debian/changelog -S Version)
        tar czf "postgresql-idgen_${version%-*}.orig.tar.gz" --exclude=idgen/debian idgen
        (cd idgen
            pg_buildext updatecontrol
            apt-get -q build-dep -y --no-install-recommends .
            dpkg-buildpackage -us -uc
            command=$(grep -o "apt-get install [^\`]*" dev/packaging/README.md)
            command=${command//18/$1}
            bash -exc "${command//1.0.0-1/$version} -y"
            ! dpkg-query -W "postgresql-$1-idgen*-dbgsym")
        autopkgtest --no-built-binaries postgresql-idgen_*.dsc postgresql-"$1"-idgen{,-advisor}_*.deb -- null
        apt-get -q purge -y "postgresql-$1-idgen" "postgresql-$1-idgen-advisor"'
}

# Debian's packages of PostgreSQL are unknown to rpm, so use --nodeps.
# shellcheck disable=SC2016
test_rpm() {
    in_debian 'install rpm
        rm -rf rpm
        rpmbuild -bb --nodeps --define "_topdir $PWD/rpm" --define "_sourcedir $PWD" --define "debug_package %{nil}" \
            --define "pgmajorversion $1" --define "pg_config $PG_CONFIG" idgen/dev/packaging/rpm/idgen.spec
        rpm --dbpath "$PWD/rpm/db" --install --nodeps rpm/RPMS/*/*.rpm
        pg_virtualenv -t -v "$1" bash -c "both installcheck"
        rpm --dbpath "$PWD/rpm/db" --erase "idgen_$1-advisor" "idgen_$1"'
}

on_images() { buildah --root "$images/root" --runroot "$images/run" "$@"; }
remove_images() { on_images rm --all >/dev/null 2>&1; rm -rf --one-file-system "$images"; }

# Build an image from a folder, based on the Debian system.
build_image() {
    local container folder
    command -v buildah >/dev/null || idgen_apt_install buildah
    idgen_at_exit remove_images
    remove_images
    mkdir -p "$images"
    container=$(on_images from scratch) && folder=$(on_images mount "$container") &&
        tar cf - -C "$DEBIAN_ROOT" --one-file-system --exclude=./{idgen,package,'usr/lib/llvm-*',usr/share/doc} . |
        tar xf - -C "$folder" &&
        on_images commit --quiet --rm "$container" localhost/server &&
        on_images build --isolation chroot --build-arg BASE=localhost/server --build-arg PG_MAJOR="$major" \
            --tag "localhost/$1" --file "$IDGEN_SOURCE/dev/packaging/$1/Dockerfile" "$2"
}

# The server in the image creates both extensions.
test_docker() {
    build_image docker "$DEBIAN_ROOT/idgen" &&
        on_images run --isolation chroot --user postgres --env PATH=/usr/bin:/bin \
            "$(on_images from localhost/docker)" -- pg_virtualenv -v "$major" \
            psql -v ON_ERROR_STOP=1 -c "CREATE EXTENSION idgen_advisor CASCADE" \
            -c "SELECT 1 / idgen.is_recent_short_comb(idgen.short_comb())::int AS works"
}

# A server with the paths of CloudNativePG uses the files of the image.
# shellcheck disable=SC2016
test_cloudnativepg() {
    [ "$major" -ge 18 ] || return 0
    build_image cloudnativepg "$DEBIAN_ROOT/package" &&
        rm -rf --one-file-system "$DEBIAN_ROOT/package/image" &&
        cp -r "$(on_images mount "$(on_images from localhost/cloudnativepg)")" "$DEBIAN_ROOT/package/image" &&
        in_debian 'pg_virtualenv -t -v "$1" -o "extension_control_path=\$system:/package/image/share" \
            -o "dynamic_library_path=\$libdir:/package/image/lib" bash -c "both installcheck"'
}

debian_make "$major"
debian_copy_sources
mkdir -p "$DEBIAN_ROOT/package"
rm -f "$DEBIAN_ROOT"/package/idgen-*.zip
revision=$(git -C "$IDGEN_SOURCE" stash create) &&
    make -s -C "$IDGEN_SOURCE" PG_CONFIG="${PG_CONFIG:-pg_config}" dist \
        REVISION="${revision:-HEAD}" DISTDIR="$DEBIAN_ROOT/package" &&
    debian_apt_install postgresql-server-dev-all unzip
result $? "make dist"
for form in "${forms[@]}"; do
    idgen_say "$form"
    "test_$form"
    result $? "$form"
done
end_of_results
