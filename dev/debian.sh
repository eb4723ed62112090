# shellcheck shell=bash
#
# debian.sh: functions that install PostgreSQL versions that are not on the machine. Each version is in a Debian system
# in its own folder under $IDGEN_MATRIX. Source this file. It sources scripts/results.sh.
#
# debootstrap creates a folder, which is kept for later runs. To re-create a folder, remove it. Commands run in the
# folder as root, with chroot, in their own mount and process namespaces, which end with the script. If a folder is not
# available, the script exits with status 77. MAJOR can end with another architecture, which qemu-user-static emulates
# if necessary: 15-i386, 17-arm64 or 15-s390x.
#
# IDGEN_POSTGRES can name a source tree of PostgreSQL, either a folder or an archive. A server of its major version is
# built from it. Debian provides the other versions.

# shellcheck source=scripts/results.sh
. "$(dirname "${BASH_SOURCE[0]}")/../scripts/results.sh"

IDGEN_MATRIX=$(realpath -m "${IDGEN_MATRIX:-${XDG_CACHE_HOME:-/var/cache}/idgen-matrix}")

DEBIAN_ROOT=
debian_child=
debian_source_version=

# The Debian releases that have packages of each PostgreSQL version. Version 19 is in experimental, which is an addition
# to sid.
declare -A debian_releases=([15]=bookworm [17]=trixie [18]=forky [19]=sid)

debian_pg_config() { echo "/usr/lib/postgresql/${1%-*}/bin/pg_config"; }

# Succeed if this PostgreSQL is installed on the machine, with its development files.
debian_has() { [[ $1 != *-* ]] && ! debian_has_source "$1" && idgen_can_build "$(debian_pg_config "$1")"; }

# Succeed if IDGEN_POSTGRES names a source tree of this version.
debian_has_source() { [[ $debian_source_version =~ ^${1%-*}[^0-9] ]]; }

# Print the version of the source tree that IDGEN_POSTGRES names, such as 16.4.
debian_read_version() {
    if [ -d "$IDGEN_POSTGRES" ]; then
        cat "$IDGEN_POSTGRES/configure"
    else
        tar xOf "$IDGEN_POSTGRES" --wildcards --no-wildcards-match-slash '*/configure'
    fi | sed -n "s/^PACKAGE_VERSION='\(.*\)'$/\1/p" | grep . || idgen_die "$IDGEN_POSTGRES is no source of PostgreSQL"
}

# Print the Debian release for this PostgreSQL.
debian_release() {
    local name=${debian_releases[${1%-*}]:-}
    [ -n "$name" ] || ! debian_has_source "$1" || name=trixie
    echo "$name" | grep . || debian_unavailable "Debian has no package of PostgreSQL ${1%-*}; see IDGEN_POSTGRES"
}

# Print the machine's own mirror, or the default mirror of debootstrap.
debian_mirror() {
    local site
    # shellcheck disable=SC2016  # apt replaces $(SITE)
    site=$(apt-get indextargets --format '$(SITE)' 'Created-By: Packages' 'Label: Debian' 2>/dev/null | head -n 1)
    echo "${site:-$(sed -n 's/^DEF_MIRROR="\(.*\)"$/\1/p' "$(command -v debootstrap)")}"
}

# Kill the child. It is the first process of its namespace, so all other processes of the namespace end with it.
debian_end_child() { [ -z "$debian_child" ] || kill -KILL "$debian_child" 2>/dev/null; }

# Run a command in its own namespaces, so that it can be interrupted.
debian_isolated() {
    local status
    unshare --mount --pid --fork --kill-child -- "$@" </dev/null &
    debian_child=$!
    wait "$debian_child"
    status=$?
    debian_child=
    return $status
}

# Run a command in the Debian system.
debian_run() {
    # shellcheck disable=SC2016  # the inner shell expands them
    debian_isolated bash -c '
        mkdir -p "$0/dev/shm" && mount -t proc proc "$0/proc" &&
            mount -t tmpfs -o mode=1777 tmpfs "$0/dev/shm" &&
            mount -t devpts -o newinstance,mode=620,ptmxmode=666 devpts "$0/dev/pts" || exit
        chroot "$0" env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
            HOME=/root LANG=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
            NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt \
            ${http_proxy:+"http_proxy=$http_proxy"} ${https_proxy:+"https_proxy=$https_proxy"} "$@"
        exit' "$DEBIAN_ROOT" "$@"
}

debian_unavailable() { echo "$*" >&2; exit 77; }
debian_apt_source() { echo "deb $(debian_mirror) $1 main" >"$DEBIAN_ROOT/etc/apt/sources.list.d/$1.list"; }
debian_apt_install() { debian_run apt-get -q update && debian_run apt-get -q install -y --no-install-recommends "$@"; }

debian_bootstrap() {
    local major=${1%-*} release=$2 script=$2 options=()
    [[ $1 != *-* ]] || options=(--arch="${1#*-}")
    # If debootstrap is older than the release, use its script for sid.
    [ -e "/usr/share/debootstrap/scripts/$release" ] || script=sid
    debian_isolated debootstrap "${options[@]}" --variant=minbase \
        --include=ca-certificates,gcc,libc6-dev,make,perl,libipc-run-perl,faketime,python3 \
        "$release" "$DEBIAN_ROOT" "$(debian_mirror)" "$script" || return

    install -m 755 /dev/stdin "$DEBIAN_ROOT/usr/sbin/policy-rc.d" <<<$'#!/bin/sh\nexit 101'
    # The package lists of experimental may have expired.
    echo 'Acquire::Check-Valid-Until "false";' >"$DEBIAN_ROOT/etc/apt/apt.conf.d/90idgen"

    # postgresql-common creates the server's user.
    [ -n "${debian_releases[$major]:-}" ] || { debian_apt_install postgresql-common; return; }
    options=()
    [ "$major" != 19 ] || { debian_apt_source experimental; options=(-t experimental); }
    debian_apt_install "${options[@]}" "postgresql-$major" "postgresql-server-dev-$major" || return
    # A test uses pg_cron if there is a package for this version.
    debian_apt_install "postgresql-$major-cron" || true
    # contrib/playground/t/001_playground.pl needs these packages. PGlite is based on this version.
    [ "$1" != 18 ] || debian_apt_install chromium-driver nodejs npm || true
}

# Ensure that programs of this architecture can be executed.
debian_emulate() {
    local programs=/proc/sys/fs/binfmt_misc
    [[ ! $1 =~ ^(i386|$(dpkg --print-architecture))$ ]] || return 0
    command -v update-binfmts >/dev/null || (idgen_apt_install qemu-user-static binfmt-support) || return
    [ -e $programs/register ] || mount binfmt_misc -t binfmt_misc $programs || return
    compgen -G "$programs/qemu-*" >/dev/null || update-binfmts --enable
}

# Create the folder of MAJOR if it does not exist, and lock it. Set DEBIAN_ROOT.
debian_make() {
    local release folder=$IDGEN_MATRIX/$1
    release=$(debian_release "$1") || exit
    [ "$(id -u)" -eq 0 ] || debian_unavailable "only root can use a Debian folder"
    { command -v debootstrap && [ -e /usr/share/keyrings/debian-archive-keyring.gpg ]; } >/dev/null ||
        (idgen_apt_install debootstrap debian-archive-keyring) || debian_unavailable "debootstrap is not available"
    [[ $1 != *-* ]] || debian_emulate "${1#*-}" || debian_unavailable "no emulator of ${1#*-} is available"
    unshare --mount true 2>/dev/null || debian_unavailable "this machine does not allow mount namespaces"
    mkdir -p "$IDGEN_MATRIX" || debian_unavailable "$IDGEN_MATRIX cannot be created"
    exec {debian_lock}>"$folder.lock"
    flock -n "$debian_lock" || debian_unavailable "$folder is in use"

    if [ ! -d "$folder" ]; then
        echo "Creating $folder with Debian $release; the log is $folder.log"
        DEBIAN_ROOT=$folder.new
        rm -rf --one-file-system "$DEBIAN_ROOT"
        debian_bootstrap "$1" "$release" >"$folder.log" 2>&1 ||
            debian_unavailable "$folder could not be created, see $folder.log"
        mv "$DEBIAN_ROOT" "$folder"
    fi

    DEBIAN_ROOT=$folder
    # npm needs the machine's own certificate authorities.
    ! compgen -G '/usr/local/share/ca-certificates/*.crt' >/dev/null ||
        { cp /usr/local/share/ca-certificates/*.crt "$DEBIAN_ROOT/usr/local/share/ca-certificates/" &&
            debian_run update-ca-certificates >/dev/null 2>&1; }
    # Remove files of a run that was killed.
    rm -rf --one-file-system "${DEBIAN_ROOT:?}"/tmp/*
}

# Copy the sources to /idgen in the Debian system. Exclude reports, because run-on.sh would copy them back.
debian_copy_sources() {
    rm -rf --one-file-system "$DEBIAN_ROOT/idgen"
    mkdir "$DEBIAN_ROOT/idgen"
    tar cf - -C "$IDGEN_SOURCE" --exclude=./{.git,bench/lab/report} \
        --exclude={results,tmp_check,'*.o','*.so','*.bc'} . |
        tar xf - --no-same-owner -C "$DEBIAN_ROOT/idgen"
}

# Build a server in the Debian system, unless it has been built. Its source tree is the one that IDGEN_POSTGRES names,
# or otherwise Debian's. Set PG_CONFIG. The folder /opt/postgresql-VERSION-NAME also contains the source. Arguments:
# MAJOR NAME CONFIGURE-OPTION ...
debian_build_server() {
    local version=$1 prefix log=$DEBIAN_ROOT.$2.log
    ! debian_has_source "$1" || version=$debian_source_version
    prefix=/opt/postgresql-$version-$2
    PG_CONFIG=$prefix/bin/pg_config
    [ ! -e "$DEBIAN_ROOT$prefix/complete" ] || return 0
    idgen_say "Building PostgreSQL $version in $DEBIAN_ROOT$prefix; the log is $log"
    rm -rf --one-file-system "${DEBIAN_ROOT:?}$prefix"
    mkdir -p "$DEBIAN_ROOT$prefix/source"
    { debian_apt_install build-essential bison flex pkg-config libicu-dev liblz4-dev libssl-dev zlib1g-dev &&
        debian_fetch_source "$1" "$DEBIAN_ROOT$prefix/source" &&
        debian_run bash -ec 'cd "$1/source"
            ./configure --prefix="$@" --without-readline --enable-tap-tests --with-icu --with-openssl --with-lz4
            make -s -j2 world-bin
            make -s install-world-bin
            chown -R postgres .
            touch "$1/complete"' bash "$prefix" "${@:3}"
    } >"$log" 2>&1 || idgen_die "PostgreSQL $version could not be built, see $log"
}

debian_build_assertions() {
    debian_build_server "$1" assertions --enable-cassert CFLAGS=-O1 CPPFLAGS=-DRANDOMIZE_ALLOCATED_MEMORY
}

# Copy the source of this PostgreSQL version to a folder. Arguments: MAJOR FOLDER.
debian_fetch_source() {
    if ! debian_has_source "$1"; then
        echo "deb-src $(debian_mirror) $(debian_release "$1") main" >"$DEBIAN_ROOT/etc/apt/sources.list.d/source.list"
        debian_apt_install dpkg-dev &&
            debian_run bash -ec 'cd /var/tmp; rm -rf postgresql-*; apt-get -q source "postgresql-$0"' "$1" &&
            tar cf - -C "$DEBIAN_ROOT"/var/tmp/postgresql-"$1"-*/ . | tar xf - -C "$2" &&
            rm -rf --one-file-system "$DEBIAN_ROOT"/var/tmp/postgresql-*
    elif [ -d "$IDGEN_POSTGRES" ]; then
        tar cf - --exclude-vcs -C "$IDGEN_POSTGRES" . | tar xf - --no-same-owner -C "$2"
    else
        tar xf "$IDGEN_POSTGRES" --no-same-owner --strip-components=1 -C "$2"
    fi
}

if [ -n "${IDGEN_POSTGRES:-}" ]; then
    IDGEN_POSTGRES=$(realpath "$IDGEN_POSTGRES") && debian_source_version=$(debian_read_version) || exit
fi
idgen_at_exit debian_end_child
