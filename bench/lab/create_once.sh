#!/usr/bin/env bash
#
# create_once.sh: compare create_once() with hand-written statements.
#
#   bench/lab/create_once.sh [OPTION ...]
#
#   --transactions N  transactions in one run of one script (default 10000)
#   --rounds N        rounds, each with one run of every script (default 9)
#   --known N         recorded commands, one of which a replay repeats (default 100000)
#   --help            this text
#
# Uses a private cluster, because it fills idgen.creation_identifiers. In each
# transaction, a first statement fetches the ids, which an application would have,
# and a second one uses them. The time of a transaction with the first one alone is
# subtracted: pgbench's own latency of a statement is 0 if the result arrives before
# pgbench waits for it. Each round runs all scripts, so that a busy moment affects all
# of them.

set -uo pipefail
# shellcheck source-path=SCRIPTDIR source=common.sh
. "$(dirname "$0")/common.sh"

transactions=10000 rounds=9 known=100000
bench_options "transactions# rounds# known#" "$@"

# the statements that fetch the ids, and the others: name|title|statement
declare -A ids=(
    [first]='SELECT idgen.uuid_v7() AS command_id, idgen.short_comb() AS proposed_id \gset'
    [replay]='\set number random(1, :known)
SELECT command_id, proposed_id FROM idgen_bench.known WHERE number = :number \gset'
)
insert='INSERT INTO idgen.creation_identifiers (command_id, entity_id) VALUES (:command_id, :proposed_id)
        ON CONFLICT (command_id) DO NOTHING'
select='FROM idgen.creation_identifiers WHERE command_id = :command_id'
create_once='SELECT * FROM idgen.create_once(:command_id, :proposed_id::uuid);'
scripts=(
    "first_ids||"
    "first_by_hand|first call, INSERT and SELECT by hand|WITH new AS ($insert RETURNING entity_id)
        SELECT entity_id, true AS created FROM new UNION ALL SELECT entity_id, false $select LIMIT 1;"
    "first|first call, create_once()|$create_once"
    "first_insert|first call, bare INSERT ... ON CONFLICT|$insert;"
    "replay_ids||"
    "replay_select|replay, plain SELECT|SELECT entity_id $select;"
    "replay|replay, create_once()|$create_once"
)

bench_open shared_buffers=512MB autovacuum=off checkpoint_timeout=1h max_wal_size=16GB
bench_psql -v known="$known" <<'SQL' || idgen_die "the commands could not be recorded"
CREATE TABLE idgen_bench.known AS
    SELECT n::int AS number, idgen.uuid_v7() AS command_id, idgen.short_comb() AS proposed_id
    FROM generate_series(1, :known) n;
ALTER TABLE idgen_bench.known ADD PRIMARY KEY (number);
INSERT INTO idgen.creation_identifiers (command_id, entity_id)
    SELECT command_id, proposed_id FROM idgen_bench.known;
VACUUM ANALYZE idgen_bench.known;
VACUUM ANALYZE idgen.creation_identifiers;
SQL

for ((round = 1; round <= rounds; round++)); do
    bench_progress "round $round of $rounds"
    for script in "${scripts[@]}"; do
        IFS='|' read -r -d '' name title statement <<<"$script"
        kind=${name%%_*}
        printf '%s\n' "${ids[$kind]}" "$statement" > "$bench_scratch/script"
        bench_pgbench -t "$transactions" -D known="$known" -f "$bench_scratch/script" ||
            idgen_die "$name failed"
        echo "$round,$kind,$name,\"$title\",$tps" >> "$bench_scratch/rates"
    done
done

echo "Time of the statement, $rounds rounds of $(bench_number "$transactions") transactions; ratios to the hand-written statement"
echo
echo "| statement | best ms | median ms | best : best | median of the rounds' ratios |"
echo "|---|--:|--:|--:|--:|"
bench_query "round int, kind text, name text, title text, tps float8" "$bench_scratch/rates" <<'SQL'
WITH net AS (
    SELECT r.*, (1000 / r.tps - 1000 / ids.tps)::numeric AS ms
    FROM result r JOIN result ids USING (round, kind)
    WHERE ids.name = kind || '_ids' AND r.title <> ''
)
SELECT format('| %s | %s | %s | %s | %s |', n.title, round(min(n.ms), 3),
              round(percentile_cont(0.5) WITHIN GROUP (ORDER BY n.ms)::numeric, 3),
              coalesce(round(min(n.ms) / nullif(greatest(min(hand.ms), 0), 0), 2)::text, '-'),
              coalesce(round((percentile_cont(0.5) WITHIN GROUP (ORDER BY n.ms / hand.ms)
                              FILTER (WHERE hand.ms > 0))::numeric, 2)::text, '-'))
FROM net n JOIN net hand USING (round, kind)
WHERE hand.name IN ('first_by_hand', 'replay_select')
GROUP BY n.name, n.title
ORDER BY array_position(ARRAY['first_by_hand', 'first', 'first_insert', 'replay_select', 'replay'], n.name);
SQL
