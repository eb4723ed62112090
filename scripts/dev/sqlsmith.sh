#!/usr/bin/env bash
#
# sqlsmith.sh: let SQLsmith make up statements that call idgen's functions, on
# a private server whose idgen is built with a sanitizer.
#
#   scripts/dev/sqlsmith.sh [--seconds N] [--seed N]     default 60 seconds
#
# Fails where the server crashes, where the sanitizer reports something, and at
# an internal error (XX000). Prints how many statements there were, how often
# each of idgen's functions was called, and the errors by SQLSTATE. Ends with a
# line "N passed, N failed". Installs SQLsmith where it is missing.
#
# SQLsmith takes functions from pg_proc at random. So that it takes idgen's, it
# is shown another pg_proc, ahead of the true one on its search path: idgen's
# functions, and those of the server's that make arguments for them.

set -uo pipefail
# shellcheck source-path=SCRIPTDIR source=../lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source-path=SCRIPTDIR source=verdicts.sh
. "$(dirname "$0")/verdicts.sh"
# shellcheck source-path=SCRIPTDIR source=sanitized.sh
. "$(dirname "$0")/sanitized.sh"

idgen_seconds_and_seed "$@"

ask() { as_server_user psql -X -q -A -t -v ON_ERROR_STOP=1 "$@"; }

# shellcheck disable=SC2119
idgen_install_packages
command -v sqlsmith >/dev/null || idgen_apt_install sqlsmith
idgen_say "Building for $("$PG_CONFIG" --version), with the sanitizer"
sanitized_build || idgen_die "could not build"

idgen_start log_error_verbosity=verbose log_line_prefix='%e ' log_min_error_statement=error \
    track_functions=all allow_system_table_mods=on idgen.node_id=1 idgen.launch_id=1 jit=off
sanitized_probe
verdict $? "the sanitizer is at work"

ask -d postgres <<'END' || idgen_die "could not set up the database"
CREATE DATABASE smith ENCODING UTF8 LOCALE 'C' TEMPLATE template0;
\c smith
CREATE EXTENSION idgen_advisor CASCADE;
CREATE ROLE smith LOGIN;
GRANT ALL ON idgen.creation_identifiers, idgen.id_prefixes TO smith;

-- values of the types that functions take; a view of no use to INSERT and DELETE
CREATE SCHEMA things;
GRANT USAGE ON SCHEMA things TO smith;
CREATE TABLE things.kept AS
SELECT id, n, t, b, at, span, small, real, history, request
FROM (SELECT row_number() OVER () AS k, id FROM (VALUES ('00000000-0000-0000-0000-000000000000'::uuid), ('ffffffff-ffff-ffff-ffff-ffffffffffff'), (idgen.uuid_v1()), (idgen.uuid_v6()),
        (idgen.lambert_comb()), (idgen.uuid_v7()), (idgen.comb()), (idgen.short_comb()), (idgen.uuid_v4()), (NULL)) v (id)) ids
  JOIN (SELECT row_number() OVER () AS k, n FROM (VALUES (0::bigint), (1), (-1), (9223372036854775807), (-9223372036854775808), (14150009200065), (9007199254740991), (4194305), (idgen.snowflake()), (NULL)) v (n)) numbers USING (k)
  JOIN (SELECT row_number() OVER () AS k, t FROM (VALUES (''), ('acct_03e6wlko0bp8e7c9916hklbnd'), (idgen.typeid('user')), (idgen.ulid()), (idgen.uuid_to_base(idgen.uuid_v4(), 58)), ('acct'), (idgen.object_id()), ('short_comb'), (repeat('a', 3000)), (NULL)) v (t)) texts USING (k)
  JOIN (SELECT k, decode(repeat('a5', 7 + k::int), 'hex') AS b FROM generate_series(1, 10) k) byte_strings USING (k)
  JOIN (SELECT row_number() OVER () AS k, at FROM (VALUES ('epoch'::timestamptz), ('infinity'), ('-infinity'), ('4714-11-24 BC'), ('294276-12-31'), ('10889-08-02'), ('2106-02-07 06:28:16+00'), ('2020-01-01 00:00+00'), (now()), (NULL)) v (at)) instants USING (k)
  JOIN (SELECT row_number() OVER () AS k, span FROM (VALUES ('0'::interval), ('1 ms'), ('1 minute'), ('-1 minute'), ('1 month'), ('1500 us'), ('2147483647 days'), ('10 days'), ('30 seconds'), (NULL)) v (span)) spans USING (k)
  JOIN (SELECT row_number() OVER () AS k, small FROM (VALUES (0), (1), (2), (3), (16), (36), (62), (2147483647), (-2147483648), (NULL)) v (small)) smalls USING (k)
  JOIN (SELECT row_number() OVER () AS k, real FROM (VALUES (0::float8), (1), (-1), (1e6), (1e300), ('NaN'), ('Infinity'), (0.5), (1e12), (NULL)) v (real)) reals USING (k)
  JOIN (SELECT k, ARRAY(SELECT idgen.uuid_v4() FROM generate_series(1, 2 * k)) AS history, jsonb_build_object('k', k) AS request FROM generate_series(1, 10) k) histories USING (k);
CREATE TABLE things.keys AS SELECT idgen.short_comb() AS id FROM generate_series(1, 1000);
ALTER TABLE things.keys ADD PRIMARY KEY (id);
CREATE VIEW things.all_kept AS SELECT * FROM things.kept OFFSET 0;
CREATE VIEW things.mixed AS SELECT a.id, b.n, c.t, a.b, b.at, c.span, b.small, a.real, b.history, c.request, 'things.keys'::regclass AS relation
    FROM things.kept a, things.kept b, things.kept c ORDER BY md5(a.ctid::text || b.ctid || c.ctid) LIMIT 200;
CREATE SEQUENCE things.numbers;
GRANT SELECT ON things.all_kept, things.mixed TO smith;
GRANT ALL ON things.keys TO smith;
GRANT USAGE ON things.numbers TO smith;

-- the pg_proc that SQLsmith is to see; information_schema.tables has no materialized views
CREATE SCHEMA steer;
CREATE MATERIALIZED VIEW steer.pg_proc AS
SELECT p.oid, p.proname, p.pronamespace, p.prorettype, p.proretset, p.prokind, p.proargtypes
FROM pg_catalog.pg_proc p
WHERE p.pronamespace = 'idgen'::regnamespace AND p.prorettype <> 'trigger'::regtype AND NOT 'internal'::regtype = ANY (p.proargtypes)
   OR p.pronamespace = 'pg_catalog'::regnamespace AND p.proname IN ('lower', 'upper', 'reverse', 'md5', 'substr', 'length', 'octet_length', 'decode', 'encode', 'sha256', 'uuid_send', 'now',
        'clock_timestamp', 'to_timestamp', 'justify_hours', 'abs', 'mod', 'hashtext', 'int8', 'int4', 'to_jsonb', 'array_append', 'textcat', 'date_trunc', 'count', 'min', 'max', 'sum', 'array_agg',
        'float8', 'timestamptz_pl_interval', 'interval_um', 'int8pl', 'int4pl', 'btrim', 'lpad', 'byteacat', 'get_byte', 'set_byte', 'textlen', 'uuid_eq', 'bool_and', 'array_length', 'text');
-- no operators of any range: it does not get their types right
DELETE FROM pg_catalog.pg_operator WHERE concat(oprleft::regtype, ' ', oprright::regtype, ' ', oprresult::regtype) ~ 'range';
GRANT USAGE, CREATE ON SCHEMA steer TO smith;
GRANT SELECT ON steer.pg_proc TO smith;
END

idgen_say "SQLsmith, $seconds s, --seed=$seed"
target="host=$PGHOST port=$PGPORT dbname=smith user=smith options='-csearch_path=steer,pg_catalog,idgen,things'"
# it prints its report when it is interrupted
as_server_user timeout --signal=INT --kill-after=30 "$seconds" \
    sqlsmith --target="$target" --exclude-catalog --seed="$seed" --verbose > "$IDGEN_WORK/sqlsmith.out" 2> "$IDGEN_WORK/sqlsmith.err"
status=$?
statements=$(grep -a -o 'queries: [0-9]*' "$IDGEN_WORK/sqlsmith.err" | tail -n 1 | tr -dc 0-9)
echo "${statements:-0} statements"
[ "$status" -eq 124 ] && [ "${statements:-0}" -gt 0 ]
verdict $? "SQLsmith ran until it was interrupted" || tail -c 2000 "$IDGEN_WORK/sqlsmith.err"

# statistics of a session that is at work come in when it is over
until [ "$(ask -d smith -c "SELECT count(*) FROM pg_stat_activity WHERE usename = 'smith'")" = 0 ]; do sleep 0.1; done
as_server_user psql -X -d smith -c "
    SELECT count(*) AS functions, count(*) FILTER (WHERE calls > 0) AS called, sum(calls) AS calls,
           string_agg(proname, ' ' ORDER BY proname) FILTER (WHERE calls IS NULL) AS never
    FROM (SELECT p.proname, sum(s.calls) AS calls FROM steer.pg_proc p LEFT JOIN pg_stat_user_functions s ON s.funcid = p.oid
          WHERE p.pronamespace = 'idgen'::regnamespace AND p.prokind = 'f' GROUP BY p.oid, p.proname) f"
[ "$(ask -d smith -c "SELECT coalesce(sum(calls), 0) > 0 FROM pg_stat_user_functions WHERE schemaname = 'idgen'")" = t ]
verdict $? "idgen's functions were called"

idgen_say "Errors by SQLSTATE"
grep -a -oE '^[0-9A-Z]{5} (ERROR|FATAL|PANIC): ' "$IDGEN_WORK/server.log" | sort | uniq -c | sort -rn

idgen_say "Verdicts"
grep -a -E 'was terminated by signal|PANIC' "$IDGEN_WORK/server.log"
[ $? -eq 1 ]
verdict $? "no crash"
grep -a -A 4 -E '^XX[0-9A-Z]{3} ' "$IDGEN_WORK/server.log" | head -n 50
! grep -a -q -E '^XX[0-9A-Z]{3} ' "$IDGEN_WORK/server.log"
verdict $? "no internal error"
! sanitized_show_reports
verdict $? "no report of the sanitizer"

end_of_verdicts
