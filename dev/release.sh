#!/usr/bin/env bash
#
# release.sh: create the files of a release. .github/workflows/release.yml calls this script for a new tag.
#
#   dev/release.sh archives [TAG]     create the source archives: zip, for PGXN, and tar.gz; default: HEAD
#   dev/release.sh debian MAJOR       create the Debian packages for this server
#   dev/release.sh rpm MAJOR          create the RPM packages for this server
#   dev/release.sh publish TAG        create the checksums, and a release on GitHub with all files
#
# The files are written to the folder release/. Packages are built from the archives in this folder, for a server that
# is installed. The script installs missing tools.

. "$(dirname "$0")/../scripts/lib.sh"

set -euo pipefail
shopt -s nullglob

make_archives() {
    local name=idgen-$version
    [[ $# -eq 0 || $1 == "v$version" ]] || idgen_die "the tag of this version is v$version, not $1"
    make -s PG_CONFIG=: srcdir=. dist REVISION="${1:-HEAD}" DISTDIR="$files"
    git archive --prefix="$name/" --output="$files/$name.tar.gz" "${1:-HEAD}"
}

# debian/control lists all versions for which packages are built.
make_debian() {
    idgen_require dpkg-buildpackage:dpkg-dev fakeroot
    cp "$files/idgen-$version.tar.gz" "$IDGEN_WORK/postgresql-idgen_$version.orig.tar.gz"
    tar xf "$files/idgen-$version.tar.gz" -C "$IDGEN_WORK"
    cd "$IDGEN_WORK/idgen-$version"
    dpkg-checkbuilddeps 2>/dev/null || apt-get -q build-dep -y --no-install-recommends .
    export PG_SUPPORTED_VERSIONS=$1 DEB_BUILD_OPTIONS=noautodbgsym
    pg_buildext updatecontrol
    dpkg-buildpackage -us -uc
    cp ../*.deb "$files"
}

# rpm does not know that Debian's packages provide PostgreSQL.
make_rpm() {
    local options=(--define "pgmajorversion $1") spec=$IDGEN_SOURCE/dev/packaging/rpm/idgen.spec
    if command -v dnf >/dev/null; then
        dnf -q install -y rpm-build dnf-plugins-core
        dnf -q builddep -y "${options[@]}" "$spec"
    else
        idgen_require make gcc unzip rpmbuild:rpm
        options+=(--nodeps --define "pg_config /usr/lib/postgresql/$1/bin/pg_config")
    fi
    rpmbuild -bb "${options[@]}" --define "_topdir $IDGEN_WORK" --define "_sourcedir $files" \
        --define "debug_package %{nil}" "$spec"
    cp "$IDGEN_WORK"/RPMS/*/*.rpm "$files"
}

# The release notes are the section of CHANGELOG.md.
make_publish() {
    cd "$files"
    sha256sum -- *.{zip,tar.gz,deb,rpm} >SHA256SUMS
    sed "1,/^## $version /d; /^## /,\$d" "$IDGEN_SOURCE/CHANGELOG.md" >"$IDGEN_WORK/notes.md"
    gh release create "$1" --verify-tag --title "idgen $version" --notes-file "$IDGEN_WORK/notes.md" \
        -- SHA256SUMS *.{zip,tar.gz,deb,rpm}
}

idgen_options '' "$@"
form=${arguments[0]:-}
[[ ${#arguments[@]} -eq 2 && $form =~ ^(archives|debian|rpm|publish)$ || ${arguments[*]} == archives ]] ||
    idgen_die "unknown form or wrong number of arguments; see --help"
cd "$IDGEN_SOURCE"
version=$(sed -n 's/^    "version": "\(.*\)",$/\1/p' META.json)
files=$IDGEN_SOURCE/release
mkdir -p "$files"
idgen_make_work_folder
"make_$form" "${arguments[@]:1}"
