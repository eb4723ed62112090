#!/usr/bin/env bash
#
# test-clients.sh: every program of contrib/clients/, through its driver or ORM, also over
# connections that are cut at each message (cut-wires.py).
#
#   contrib/clients/test-clients.sh [NAME ...]     default: all of contrib/clients/programs.txt
#
# Installs their runtimes (Debian packages, npm packages in the versions of contrib/clients/package-lock.json,
# kept in $IDGEN_CLIENTS or /var/cache/idgen-clients). A program whose runtime is missing has failed.

. "$(dirname "$0")/../../dev/verdicts.sh"

idgen_no_options "$@"
clients=$IDGEN_SOURCE/contrib/clients

install_npm_packages() {
    local lock folder
    (idgen_require node:nodejs npm) || return
    lock=$(sha256sum <"$clients/package-lock.json")
    folder=${IDGEN_CLIENTS:-${XDG_CACHE_HOME:-/var/cache}/idgen-clients}/${lock:0:16}
    idgen_say "Installing npm packages in $folder"
    mkdir -p "$folder" && cp "$clients"/package{,-lock}.json "$folder" &&
        npm ci --prefix "$folder" --ignore-scripts --no-audit --no-fund --loglevel=error &&
        chmod -R a+rX "$folder"
}

build_idgen ''
# each program's on their own: perhaps not all can be installed
while read -r packages; do
    # shellcheck disable=SC2086  # a list of names
    if [ "$packages" = npm ]; then install_npm_packages; else (idgen_apt_install $packages); fi </dev/null
done < <("$clients/run.sh" --packages "$@" | sort -u)
# some drivers want TCP
port=$(perl -MIO::Socket::INET -e 'print IO::Socket::INET->new(Listen => 1, LocalAddr => "127.0.0.1:0")->sockport')
idgen_start listen_addresses=127.0.0.1 port="$port"
export PGPORT=$port
createdb clients || idgen_die "no database could be made"
psql -q -X -d clients -f "$clients/setup.sql" >/dev/null || idgen_die "setup.sql failed"

idgen_say "The programs of contrib/clients/"
export PGHOST=127.0.0.1 PGUSER=app PGDATABASE=clients
run_script "$clients/run.sh" --all "$@"
idgen_say "Cut wires"
run_script "$clients/cut-wires.py" "$@"
end_of_scripts
