#!/usr/bin/env bash
#
# test-package.sh: build, install and test idgen in each form in which it is distributed.
#
#   dev/test-package.sh [MAJOR [FORM ...]]     default: 17, and all forms
#
#   archive        the archive for PGXN, by make and PGXN's client
#   debian         the Debian packages, by autopkgtest
#   rpm            the RPM packages, by Debian's rpm
#   publish        the files of the release, with a program in place of gh
#   docker         the image of dev/packaging/docker
#   cloudnativepg  the image of dev/packaging/cloudnativepg, with the Debian packages; PostgreSQL 18 and later
#
# The script runs in the Debian folder of this version (see run-on.sh), which is also the base of the images. The
# commands of .github/workflows/release.yml create the files, in a clone that contains the working tree except new files
# that have not been added. The files remain in FOLDER/MAJOR/package/source/release. The script takes about ten minutes.

. "$(dirname "$0")/debian.sh"

idgen_options '' "$@"
major=${arguments[0]:-17}
forms=("${arguments[@]:1}")
[ ${#forms[@]} -gt 0 ] || forms=(archive debian rpm publish docker cloudnativepg)
version=$(sed -n 's/^    "version": "\(.*\)",$/\1/p' "$IDGEN_SOURCE/META.json")
images=$IDGEN_MATRIX/images-$major

# Print the commands of a job in release.yml. Omit install-server.sh, because the server is already installed.
job_commands() {
    python3 - "$1" "$major" "$IDGEN_SOURCE/.github/workflows/release.yml" <<'END'
import sys, yaml
job, major, path = sys.argv[1:]
runs = [step["run"] for step in yaml.safe_load(open(path))["jobs"][job]["steps"] if "run" in step]
commands = [run.replace("${{ matrix.major }}", major) for run in runs if not run.startswith("dev/install-server.sh ")]
assert commands and all(command.startswith("dev/release.sh ") for command in commands), runs
print("\n".join(commands))
END
}

# Run the commands of a job in the clone.
run_job() {
    local commands
    commands=$(job_commands "$1") &&
        (cd "$IDGEN_WORK/clone" && GITHUB_REF_NAME=v$version PATH=$IDGEN_WORK/bin:$PATH bash -exc "$commands")
}

# Execute steps in the Debian system. Each of them must succeed. $1 is the number of the version.
in_debian() {
    debian_run bash -exc "export PG_SUPPORTED_VERSIONS=\$1 PG_CONFIG=/usr/lib/postgresql/\$1/bin/pg_config
        both() { make -C /package/idgen \"\$@\" && make -C /package/idgen/contrib/advisor \"\$@\"; }
        export -f both
        install() { apt-get -q install -y --no-install-recommends \"\$@\"; }
        cd /package
        release=/package/source/release
        rm -rf idgen && unzip -q \$release/idgen-*.zip && mv idgen-*.[0-9] idgen
        $1
        ! find /usr/lib/postgresql/\$1/lib /usr/share/postgresql/\$1/extension -name 'idgen*' | grep ." bash "$major"
}

# shellcheck disable=SC2016  # the inner shell expands them
test_archive() {
    in_debian 'install pgxnclient
        both all install
        pg_virtualenv -t -v "$1" bash -c "both installcheck"
        both uninstall clean
        pgxn install --yes --nosudo --pg_config "$PG_CONFIG" $release/idgen-*.zip
        ls "/usr/lib/postgresql/$1/lib/idgen.so"
        pgxn uninstall --yes --nosudo --pg_config "$PG_CONFIG" $release/idgen-*.zip'
}

# debian/control names the PostgreSQL version of the release, which may be a different one.
test_debian() {
    local commands
    commands=$(job_commands debian) && in_debian "install autopkgtest
        (cd source; $commands)"'
        cd idgen
        pg_buildext updatecontrol
        command=$(grep -o "apt-get install [^\`]*" dev/packaging/README.md)
        command=${command//18/$1}
        ln -sfn $release release
        bash -exc "$command -y"
        rm release
        autopkgtest --no-built-binaries $release/postgresql-"$1"-idgen{,-advisor}_*.deb . -- null
        apt-get -q purge -y "postgresql-$1-idgen" "postgresql-$1-idgen-advisor"'
}

test_rpm() {
    local commands
    commands=$(job_commands rpm) && in_debian "(cd source; $commands)"'
        rm -rf rpm
        rpm --dbpath "$PWD/rpm" --install --nodeps $release/*.rpm
        pg_virtualenv -t -v "$1" bash -c "both installcheck"
        rpm --dbpath "$PWD/rpm" --erase "idgen_$1-advisor" "idgen_$1"'
}

# The program "gh" checks the files as a user would, and prints their names and the release notes.
test_publish() {
    local published
    mkdir -p "$IDGEN_WORK/bin"
    install -m 755 /dev/stdin "$IDGEN_WORK/bin/gh" <<'END'
#!/bin/bash -e
echo "$1 $2 $3"
while [ "$1" != -- ]; do [ "$1" != --notes-file ] || head -n 3 "$2"; shift; done
shift
sha256sum --check --strict SHA256SUMS
[ $(($(wc -l <SHA256SUMS) + 1)) -eq $# ]
END
    cp "$DEBIAN_ROOT"/package/source/release/* "$IDGEN_WORK/clone/release"
    published=$(run_job publish) || return
    echo "$published"
    grep -q "^release create v$version" <<<"$published" && grep -q '^### ' <<<"$published" &&
        [ "$(grep -cE "^(idgen-$version\.(zip|tar\.gz)|(postgresql-|idgen_)$major.*): OK$" <<<"$published")" -eq 6 ]
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

# The server in the image must create both extensions.
test_docker() {
    build_image docker "$DEBIAN_ROOT/idgen" &&
        on_images run --isolation chroot --user postgres --env PATH=/usr/bin:/bin \
            "$(on_images from localhost/docker)" -- pg_virtualenv -v "$major" \
            psql -v ON_ERROR_STOP=1 -c "CREATE EXTENSION idgen_advisor CASCADE" \
            -c "SELECT 1 / idgen.is_recent_short_comb(idgen.short_comb())::int AS works"
}

# A server with the paths of CloudNativePG must be able to use the files of the image.
# shellcheck disable=SC2016
test_cloudnativepg() {
    [ "$major" -ge 18 ] || return 0
    build_image cloudnativepg "$DEBIAN_ROOT/package/source/release" &&
        rm -rf --one-file-system "$DEBIAN_ROOT/package/image" &&
        cp -r "$(on_images mount "$(on_images from localhost/cloudnativepg)")" "$DEBIAN_ROOT/package/image" &&
        in_debian 'pg_virtualenv -t -v "$1" -o "extension_control_path=\$system:/package/image/share" \
            -o "dynamic_library_path=\$libdir:/package/image/lib" bash -c "both installcheck"'
}

# Clone the repository with the changes in the working tree, and tag this commit.
clone_sources() {
    local revision
    revision=$(git -C "$IDGEN_SOURCE" stash create) &&
        git clone --quiet --shared "$IDGEN_SOURCE" "$IDGEN_WORK/clone" &&
        git -C "$IDGEN_WORK/clone" checkout --quiet "${revision:-HEAD}" &&
        git -C "$IDGEN_WORK/clone" tag --force "v$version" >/dev/null
}

debian_make "$major"
debian_copy_sources
python3 -c 'import yaml' 2>/dev/null || idgen_apt_install python3-yaml
idgen_make_work_folder
rm -rf --one-file-system "$DEBIAN_ROOT"/package
mkdir -p "$DEBIAN_ROOT/package/source"
clone_sources && run_job archives &&
    tar cf - -C "$IDGEN_WORK/clone" --exclude=./.git . | tar xf - --no-same-owner -C "$DEBIAN_ROOT/package/source" &&
    debian_apt_install postgresql-server-dev-all unzip
result $? "archives"
for form in "${forms[@]}"; do
    idgen_say "$form"
    "test_$form"
    result $? "$form"
done
end_of_results
