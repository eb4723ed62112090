# shellcheck shell=bash
#
# lib.sh: functions that build idgen and start a private cluster. Source this file.
#
# The folder $IDGEN_WORK contains the cluster, a copy of the server's programs, links to the server's other files, and
# idgen. PostgreSQL finds its files relative to its programs, so idgen is installed only for the copy. The folder is
# removed on exit, even after an interrupt, unless IDGEN_KEEP=1.

IDGEN_SOURCE=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
IDGEN_WORK=
IDGEN_KEEP=${IDGEN_KEEP:-0}

idgen_say() { printf '\n== %s\n' "$*"; }
idgen_die() { printf '%s: %s\n' "$(basename "$0")" "$*" >&2; exit 1; }

# Print the usage text, which is the script's first comment.
idgen_help() { sed -n '3,/^$/s/^# \{0,1\}//p' "$0"; echo ${idgen_help_end:+"$idgen_help_end"}; }

# Read options into variables, and the other arguments into the array "arguments". The first argument lists the options:
# NAME for --NAME VALUE, NAME# for a value that must be a positive number, and NAME? for --NAME, which sets the variable
# to 1.
idgen_options() {
    local names=" $1 " option
    shift
    arguments=()
    while [ $# -gt 0 ]; do
        case $1 in --*=*) set -- "${1%%=*}" "${1#*=}" "${@:2}" ;; esac
        option=${1#--}
        if [[ $1 =~ ^(--help|-h)$ ]]; then
            idgen_help
            exit
        elif [[ $1 != -* ]]; then
            arguments+=("$1")
        elif [[ $names == *" $option? "* ]]; then
            printf -v "$option" 1
        elif [[ $# -gt 1 && ($names == *" $option "* || $names == *" $option# "* && $2 =~ ^[1-9][0-9]{0,8}$) ]]; then
            printf -v "$option" %s "$2"
            shift
        else
            idgen_die "unknown option or wrong value: $*; see --help"
        fi
        shift
    done
}

idgen_no_options() { idgen_options '' "$@"; }

idgen_exit_steps=()

# Call a function on exit. Functions are called in reverse order.
idgen_at_exit() {
    if [ ${#idgen_exit_steps[@]} -eq 0 ]; then
        trap idgen_exit EXIT
        # On a signal, the script exits through the EXIT trap.
        trap 'exit 130' INT
        trap 'exit 143' TERM
        trap 'exit 129' HUP
    fi
    idgen_exit_steps=("$1" "${idgen_exit_steps[@]}")
}

idgen_exit() {
    local status=$? step
    set +e      # run all steps even if one fails
    trap - EXIT
    trap '' INT TERM HUP
    for step in "${idgen_exit_steps[@]}"; do "$step"; done
    exit $status
}

# Succeed if this pg_config belongs to a server for which extensions can be built.
idgen_can_build() {
    [ -x "$1" ] && [ -e "$("$1" --pgxs)" ] && [ -e "$("$1" --includedir-server)/postgres.h" ] &&
        [ -x "$("$1" --bindir)/postgres" ]
}

# Print the pg_config that PG_CONFIG names, or the pg_config of the newest server for which idgen can be built.
idgen_find_pg_config() {
    local candidate
    if [ -n "${PG_CONFIG:-}" ]; then
        command -v "$PG_CONFIG" || true
        return
    fi
    for candidate in $(printf '%s\n' /usr/lib/postgresql/*/bin/pg_config | sort -t/ -k5,5nr) \
        "$(command -v pg_config)"; do
        ! idgen_can_build "$candidate" || { echo "$candidate"; return; }
    done
}

# Print the major version of PG_CONFIG.
idgen_major() { "$PG_CONFIG" --version | sed -E 's/^[^0-9]*([0-9]+).*/\1/'; }

# Run an apt command. While another apt holds a lock, wait for up to ten minutes. (DPkg::Lock::Timeout does not apply to
# the lock on the package lists.)
idgen_run_apt() {
    local said waiting='' end=$((SECONDS + 600))
    while ! said=$("$@" 2>&1 >/dev/null); do
        [[ $said =~ 'Could not get lock' && $SECONDS -lt $end ]] || { printf '%s\n' "$said" >&2; return 1; }
        [ -n "$waiting" ] || echo 'Waiting for another apt to finish, for up to ten minutes'
        waiting=1
        sleep 1
    done
}

# Install packages. Print their names, and ask for confirmation if the script runs in a terminal.
idgen_apt_install() {
    local answer apt=(env DEBIAN_FRONTEND=noninteractive LC_ALL=C apt-get -qq)
    command -v apt-get >/dev/null || idgen_die "please install: $*"
    if [ "$(id -u)" -ne 0 ]; then
        command -v sudo >/dev/null || idgen_die "as root, please run: apt-get install $*"
        apt=(sudo "${apt[@]}")
    fi
    idgen_say "Installing $*"
    if [ -t 0 ] && [ -t 1 ] && [ -z "${CI:-}" ]; then
        read -r -p 'Continue? [Y/n] ' answer
        [[ $answer =~ ^([yY].*)?$ ]] || exit 1
    fi
    idgen_run_apt "${apt[@]}" update
    idgen_run_apt "${apt[@]}" install -y --no-install-recommends "$@" || idgen_die "apt-get could not install: $*"
}

# Install the packages of missing commands. Each argument has the form COMMAND or "COMMAND:PACKAGE ...".
idgen_require() {
    local pair missing=()
    for pair; do
        # shellcheck disable=SC2206  # a list of names
        PATH=$PATH:/usr/sbin command -v "${pair%%:*}" >/dev/null || missing+=(${pair#*:})
    done
    [ ${#missing[@]} -eq 0 ] || idgen_apt_install "${missing[@]}"
}

# Install the packages that building idgen requires, and those that "tests" or "bench" requires. Set PG_CONFIG.
idgen_install_packages() {
    local major extension package missing=(make prove:perl)
    command -v clang >/dev/null || missing+=('gcc:gcc libc6-dev')
    [ -z "${1:-}" ] || missing+=(python3 pgrep:procps)
    [ "${1:-}" != bench ] || /usr/bin/python3 -c 'import matplotlib' 2>/dev/null || missing+=(python3-matplotlib)
    if [ "${1:-}" = tests ]; then
        missing+=(faketime pgbouncer)
        perl -MIPC::Run -e 1 2>/dev/null || missing+=(libipc-run-perl)
    fi

    if [ -z "$(idgen_find_pg_config)" ]; then
        [ -z "${PG_CONFIG:-}" ] || idgen_die "PG_CONFIG=$PG_CONFIG does not exist"
        # Install the development files for the newest installed server, or for the distribution's server.
        compgen -G '/usr/lib/postgresql/*/bin/postgres' >/dev/null || idgen_apt_install postgresql
        major=$(printf '%s\n' /usr/lib/postgresql/*/bin/postgres | cut -d/ -f5 | sort -n | tail -n 1)
        missing+=("postgresql-server-dev-$major")
    fi
    idgen_require "${missing[@]}"
    PG_CONFIG=$(idgen_find_pg_config)
    [ -n "$PG_CONFIG" ] || idgen_die "no PostgreSQL server with its development files found"

    # The tests use pg_cron and pg_partman if packages for this server exist.
    [ "${1:-}" = tests ] || return 0
    missing=()
    major=$(idgen_major)
    for extension in cron partman; do
        package=postgresql-$major-$extension
        [ -e "$("$PG_CONFIG" --sharedir)/extension/pg_$extension.control" ] ||
            ! apt-cache show "$package" >/dev/null 2>&1 || missing+=("$package")
    done
    [ ${#missing[@]} -eq 0 ] || idgen_apt_install "${missing[@]}"
}

# Run a command as the server's user. This user is the caller or, if the caller is root, "postgres", because the server
# cannot run as root.
as_server_user() {
    if [ "$(id -u)" -eq 0 ]; then
        (cd "$IDGEN_WORK" && HOME=$IDGEN_WORK exec runuser -u postgres -- "$@")
    else
        "$@"
    fi
}

idgen_remove_work_folder() { [ "$IDGEN_KEEP" = 1 ] || { idgen_stop; rm -rf "$IDGEN_WORK"; }; }

idgen_make_work_folder() {
    [ -z "$IDGEN_WORK" ] || return 0
    # Do not use TMPDIR: the path of a socket must be short, and the user postgres may have no access to that folder.
    IDGEN_WORK=$(mktemp -d /tmp/idgen.XXXXXX)
    idgen_at_exit idgen_remove_work_folder
    chmod 755 "$IDGEN_WORK"
    [ "$(id -u)" -ne 0 ] || chown postgres "$IDGEN_WORK"
}

# Print the compiler options for warnings. They exclude warnings in the server's headers.
idgen_warnings() { echo "-Wall -Wextra -Wshadow -Werror -isystem $("$PG_CONFIG" --includedir-server)"; }

# Build idgen and idgen_advisor from a copy of the sources, with the given make arguments, and install them into a copy
# of the server. Set the commands idgen_make and idgen_prove, which runs TAP tests. A script that one of these commands
# runs uses the same copy. If $IDGEN_LLVM names the folder of LLVM's programs, JIT can inline idgen's functions.
idgen_build() {
    local bindir sharedir pkglibdir root libraries name
    idgen_make_work_folder
    [ -z "${IDGEN_BUILT:-}" ] || return 0
    bindir=$("$PG_CONFIG" --bindir)
    sharedir=$("$PG_CONFIG" --sharedir)
    pkglibdir=$("$PG_CONFIG" --pkglibdir)
    [[ -d $bindir && -d $sharedir && -d $pkglibdir ]] || idgen_die "$PG_CONFIG does not name the folders of a server"
    root=$IDGEN_WORK/root
    IDGEN_BUILD=$IDGEN_WORK/build

    mkdir "$IDGEN_BUILD"
    tar cf - -C "$IDGEN_SOURCE" --exclude=./.git --exclude={tmp_check,'*.o','*.so','*.bc'} . |
        tar xf - -C "$IDGEN_BUILD"

    mkdir -p "$root$bindir" "$root$sharedir" "$root$pkglibdir"
    cp "$bindir"/* "$root$bindir"
    cp -rs "$sharedir"/. "$root$sharedir"
    cp -rs "$pkglibdir"/. "$root$pkglibdir"
    rm -rf "$root$sharedir"/extension/idgen* "$root$pkglibdir"/idgen*.so
    if [ "$(id -u)" -eq 0 ]; then
        chown -R postgres "$IDGEN_BUILD" "$root"
        # t/009_key_file.pl needs files of other users, which it cannot create itself.
        for name in root.640 root.660 daemon.640; do
            install -m "${name#*.}" -o "${name%.*}" -g postgres /dev/stdin "$IDGEN_BUILD/idgen_keys.$name" \
                <<<'default 000102030405060708090a0b0c0d0e0f'
        done
    fi

    idgen_make=(make -s -C "$IDGEN_BUILD" PG_CONFIG="$PG_CONFIG" with_llvm=no)
    [ -z "${IDGEN_LLVM:-}" ] || idgen_make+=(with_llvm=yes LLVM_BINPATH="$IDGEN_LLVM" CLANG="$IDGEN_LLVM/clang")
    for name in "$IDGEN_BUILD"/ "$IDGEN_BUILD"/contrib/*/; do
        compgen -G "$name*.control" >/dev/null || continue
        as_server_user "${idgen_make[@]}" -C "$name" "$@" all &&
            as_server_user "${idgen_make[@]}" -C "$name" DESTDIR="$root" install >/dev/null || return 1
    done

    PATH=$root$bindir:$PATH

    libraries=$pkglibdir/pgxs/src/test
    # shellcheck disable=SC2034  # the caller uses it
    idgen_prove=(env -C "$IDGEN_BUILD" -u PGHOST -u PGPORT -u PGUSER -u PGDATABASE
        PGCTLTIMEOUT="${PG_TEST_TIMEOUT_DEFAULT:-180}" PG_CONFIG="$PG_CONFIG" IDGEN_BUILT=1
        PG_REGRESS="$libraries/regress/pg_regress"
        TESTDIR="$IDGEN_BUILD" TESTDATADIR="$IDGEN_BUILD/tmp_check" TESTLOGDIR="$IDGEN_BUILD/tmp_check/log"
        PERL_TEST_HARNESS_DUMP_TAP="$IDGEN_WORK/tap" prove -I "$libraries/perl" -I t/lib)
}

# Print the lines of a configuration file. Arguments: SETTING=VALUE ...
idgen_settings() { printf "%s'\n" "${@/=/ = \'}"; }

# Start the cluster. Set PGHOST, PGPORT and similar variables. Arguments: SETTING=VALUE ...
idgen_start() {
    local data=$IDGEN_WORK/data
    as_server_user initdb -D "$data" -U postgres -A trust -E UTF8 --no-locale -N >/dev/null
    idgen_settings listen_addresses= unix_socket_directories="$IDGEN_WORK" "$@" |
        as_server_user tee -a "$data/postgresql.conf" >/dev/null

    # The server listens only on a socket in a private folder, so its port cannot conflict with that of another server.
    export PGHOST=$IDGEN_WORK PGPORT=5432 PGUSER=postgres PGDATABASE=postgres
    unset PGPASSWORD PGSERVICE PGOPTIONS PGHOSTADDR
    idgen_pg_ctl start ||
        { tail -n 20 "$IDGEN_WORK/server.log" >&2; idgen_die "the private cluster did not start"; }
}

# Set the key "default" to the given hexadecimal digits. The setting idgen.key_file must be idgen_keys.
idgen_key() { echo "default $1" | as_server_user sh -c "umask 077; cat >'$IDGEN_WORK/data/idgen_keys'"; }
idgen_pg_ctl() { as_server_user pg_ctl -D "$IDGEN_WORK/data" -w -s -m fast -l "$IDGEN_WORK/server.log" "$@"; }
idgen_stop() { [ ! -e "$IDGEN_WORK/data/postmaster.pid" ] || idgen_pg_ctl stop || true; }
