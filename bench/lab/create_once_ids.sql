-- Record the commands that the replays repeat.
CREATE TABLE idgen_bench.known AS
    SELECT n::int AS number, idgen.uuid_v7() AS command_id, idgen.short_comb() AS proposed_id
    FROM generate_series(1, :known) n;
ALTER TABLE idgen_bench.known ADD PRIMARY KEY (number);
INSERT INTO idgen.creation_identifiers (command_id, entity_id)
    SELECT command_id, proposed_id FROM idgen_bench.known;
VACUUM ANALYZE idgen_bench.known;
VACUUM ANALYZE idgen.creation_identifiers;
