#!/usr/bin/env bash
#
# test-package.sh: build idgen in every form in which it is distributed, install it and test it.
#
#   dev/test-package.sh [MAJOR[-ARCHITECTURE]]     default: 17
#
#   archive      the archive of "make dist" with make and PGXN's client
#   debian       the Debian packages, with lintian and autopkgtest
#   rpm          the RPM packages, with Debian's rpm
#   images       the images of dev/packaging/docker and, from PostgreSQL 18 on, dev/packaging/cloudnativepg,
#                of the Debian packages. Not for other architectures
#
# In the Debian folder of that version (see run-on.sh), which also is the base of the images. The
# archive is that of the working tree, without new files that were not added. The packages remain in
# FOLDER/MAJOR/package. Takes about ten minutes.

. "$(dirname "$0")/debian.sh"

idgen_no_options "$@"
major=${1:-17}
[[ $major =~ ^[1-9][0-9](-[a-z0-9]+)?$ ]] || idgen_die "not a major version: $major"

steps() { run_script debian_run /idgen/dev/package-steps.sh "$1" "${major%-*}"; }

# The archive of the working tree; a release is made of a commit.
make_archive() {
    local revision
    mkdir -p "$DEBIAN_ROOT/package"
    rm -f "$DEBIAN_ROOT"/package/idgen-*.zip
    revision=$(git -C "$IDGEN_SOURCE" stash create) &&
        make -s -C "$IDGEN_SOURCE" PG_CONFIG="${PG_CONFIG:-pg_config}" dist REVISION="${revision:-HEAD}" \
            DISTDIR="$DEBIAN_ROOT/package"
}

images=$IDGEN_MATRIX/images-$major

on_images() { buildah --root "$images/root" --runroot "$images/run" "$@"; }
remove_images() { on_images rm --all >/dev/null 2>&1; rm -rf --one-file-system "$images"; }

make_base() {
    local container folder left_out=(idgen package extensions 'usr/lib/llvm-*' usr/share/doc var/cache/apt)
    container=$(on_images from scratch) && folder=$(on_images mount "$container") &&
        tar cf - -C "$DEBIAN_ROOT" --one-file-system "${left_out[@]/#/--exclude=./}" . | tar xf - -C "$folder" &&
        on_images commit --quiet --rm "$container" localhost/server
}

build_image() {
    on_images build --isolation chroot --build-arg BASE=localhost/server --build-arg PG_MAJOR="$major" \
        --tag "localhost/$1" --file "$IDGEN_SOURCE/dev/packaging/$1/Dockerfile" "$2"
}

# The server of the image of dev/packaging/docker creates both extensions.
try_server_image() {
    local container
    container=$(on_images from localhost/docker) &&
        on_images run --isolation chroot --user postgres --env PATH=/usr/bin:/bin "$container" -- \
            pg_virtualenv -v "$major" psql -v ON_ERROR_STOP=1 -c "CREATE EXTENSION idgen_advisor CASCADE" \
            -c "SELECT 1 / idgen.is_recent_short_comb(idgen.short_comb())::int AS works"
}

copy_extension_image() {
    local container folder
    container=$(on_images from localhost/cloudnativepg) && folder=$(on_images mount "$container") &&
        rm -rf --one-file-system "$DEBIAN_ROOT/extensions" && mkdir "$DEBIAN_ROOT/extensions" &&
        cp -r "$folder" "$DEBIAN_ROOT/extensions/1.0"
}

test_images() {
    command -v buildah >/dev/null || idgen_apt_install buildah
    idgen_at_exit remove_images
    remove_images
    mkdir -p "$images"
    make_base
    verdict $? "The Debian folder is the base of the images" || return
    build_image docker "$DEBIAN_ROOT/idgen"
    verdict $? "The server image is built" && try_server_image
    verdict $? "Its server has idgen and idgen_advisor"
    [ "$major" -ge 18 ] || return
    build_image cloudnativepg "$DEBIAN_ROOT/package" && copy_extension_image
    verdict $? "The extension image is built" && steps extension-image
}

debian_make "$major"
debian_copy_sources
make_archive
verdict $? "make dist"
for form in archive debian rpm; do steps "$form"; done
[[ $major = *-* ]] || test_images
end_of_scripts
