# Verify that check_recent_id() never rejects an old identifier whose row exists, even while other sessions update the
# row. Three sessions run upserts on one row and on 50 rows, and one session repeats an INSERT while another updates the
# row. Since the updated column is indexed, each update adds an entry to the index on id. (specs/check_recent_id.spec
# tests two sessions step by step.)

use Server;

start_server('repeats');
ask(q{
	CREATE FUNCTION old_id(n int) RETURNS uuid IMMUTABLE LANGUAGE sql
		RETURN idgen.uuid_v7_floor('2024-01-01'::timestamptz + n * interval '1 s');
	CREATE TABLE items (id uuid PRIMARY KEY, n int);
	CREATE INDEX ON items (n);
	INSERT INTO items SELECT old_id(n) FROM generate_series(0, 49) n;
	CREATE TRIGGER check_id BEFORE INSERT OR UPDATE OF id ON items
		FOR EACH ROW EXECUTE FUNCTION idgen.check_recent_id('id', 'uuid_v7');

	-- Repeat a statement, each time in its own transaction, and record the errors.
	CREATE TABLE outcomes (error text);
	CREATE PROCEDURE repeat(statement text, many int, rows int) LANGUAGE plpgsql AS $$
	DECLARE
		errors text[] = '{}';
	BEGIN
		FOR i IN 1..many LOOP
			BEGIN
				EXECUTE statement USING public.old_id(i % rows);
			EXCEPTION WHEN OTHERS THEN
				errors := errors || SQLSTATE::text;
			END;
			COMMIT;
		END LOOP;
		INSERT INTO public.outcomes SELECT unnest(errors);
	END $$});

my @sessions = map { session() } 1 .. 3;
my $upsert = 'INSERT INTO items VALUES ($1, 1) ON CONFLICT (id) DO UPDATE SET n = items.n + 1';

# Run the statements concurrently, and return all of their errors.
sub outcomes
{
	my ($rows, @load) = @_;
	$sessions[$_]->send("CALL repeat('$load[$_][0]', $load[$_][1], $rows)") for 0 .. $#load;
	is($_->wait, '', 'a session ends its work') for @sessions[ 0 .. $#load ];
	my $outcomes = ask('SELECT error, count(*) FROM outcomes GROUP BY 1 ORDER BY 1');
	ask('TRUNCATE outcomes');
	return $outcomes;
}

is(outcomes($_, ([ $upsert, 4000 ]) x 3), '', "no upsert is refused, rows: $_") for 1, 50;
is(outcomes(1, [ 'INSERT INTO items VALUES ($1, 1)', 12_000 ],
	[ 'UPDATE items SET n = coalesce(n, 0) + 1 WHERE id = $1', 12_000 ]),
	'23505|12000', 'each repeated INSERT meets the primary key');
is(ask('SELECT count(*) FROM items'), '50', 'no row was added');
done_testing();
