#!/usr/bin/env bash
#
# test-clients.sh: run the tests of contrib/clients/ with all stacks and generators in programs.txt.
#
#   contrib/clients/test-clients.sh [NAME ...]     only these programs
#
# The script installs the runtimes of the programs: Debian packages, and npm packages in the versions of
# contrib/clients/package-lock.json, which are kept in $IDGEN_CLIENTS or /var/cache/idgen-clients. A program whose
# runtime is missing is reported as failed.

. "$(dirname "$0")/../../scripts/results.sh"

idgen_options '' "$@"
clients=$IDGEN_SOURCE/contrib/clients
export IDGEN_CLIENT_NAMES="${arguments[*]-}"

install_npm_packages() {
    local lock folder
    (idgen_require node:nodejs npm) || return
    lock=$(sha256sum <"$clients/package-lock.json")
    folder=${IDGEN_CLIENTS:-${XDG_CACHE_HOME:-/var/cache}/idgen-clients}/${lock:0:16}
    [ ! -d "$folder/node_modules" ] || return 0
    idgen_say "Installing npm packages in $folder"
    mkdir -p "$folder" && cp "$clients"/package{,-lock}.json "$folder" &&
        npm ci --prefix "$folder" --ignore-scripts --no-audit --no-fund --loglevel=error &&
        chmod -R a+rX "$folder"
}

build_idgen tests
# Install the packages of each program separately, because some packages may not be available.
while IFS='|' read -r name _ runtime packages _; do
    [[ ${#arguments[@]} -eq 0 || " ${arguments[*]} " == *" $name"* ]] || continue
    if [[ $packages == *npm:* ]]; then
        install_npm_packages
    elif ! (cd "$clients" && sh -c "$runtime") >/dev/null 2>&1; then
        # shellcheck disable=SC2086  # a list of names
        (idgen_apt_install $packages)
    fi </dev/null
done < <(grep '^[a-z]' "$clients/programs.txt")

run "Tests of contrib/clients" tap "${idgen_prove[@]}" --timer contrib/clients/t/*.pl
end_of_results
