#!/usr/bin/env bash
#
# install-server.sh: install PostgreSQL and its development files from apt.postgresql.org or yum.postgresql.org, as
# root, on the machines of .github/workflows/.
#
#   dev/install-server.sh MAJOR ...

. "$(dirname "$0")/../scripts/lib.sh"

set -e
idgen_no_options "$@"
[ $# -gt 0 ] || idgen_die "a major version is required, see --help"
if command -v apt-get >/dev/null; then
    export DEBIAN_FRONTEND=noninteractive
    apt-get -q update
    apt-get -q install -y ca-certificates postgresql-common
    /usr/share/postgresql-common/pgdg/apt.postgresql.org.sh -y
    apt-get -q install -y "${@/#/postgresql-}" "${@/#/postgresql-server-dev-}"
else
    keys=https://yum.postgresql.org/keys/PGDG-RPM-GPG-KEY
    for major; do
        printf '%s\n' "[pgdg$major]" "name=PostgreSQL $major" gpgcheck=1 "gpgkey=$keys-RHEL $keys-AARCH64-RHEL" \
            "baseurl=https://yum.postgresql.org/$major/redhat/rhel-\$releasever-\$basearch"
    done >/etc/yum.repos.d/pgdg.repo
    # The repository "crb" contains packages that postgresql-devel requires.
    dnf -q install -y dnf-plugins-core
    dnf config-manager --set-enabled crb
    servers=("${@/#/postgresql}")
    dnf -q install -y "${servers[@]/%/-server}" "${servers[@]/%/-devel}"
fi
