# A table stores one key and shows another, as docs/recipes.md has it: a uuid shown as a
# prefixed id, a bigint beside a uuid, with the sizes that the page names, and masked keys
# behind a view, for a role that has no right on the tables.

use Masks;
use Page;
use Server;

my $masks = Masks->new;
my $node = $masks->{node};
my $recipe = Page->new('recipes');

# --- Prefixed ids ------------------------------------------------------------------
my $heading = 'Store a uuid, show a prefixed id';
my $id = 'cust_03cu7ltbh43kmxopehhx215t7';

my ($stdout) = $recipe->paste($heading, 0);
is($stdout, "$id|one", 'a row is found by its text');
ask(q{INSERT INTO customers (name) SELECT 'other' FROM generate_series(1, 1000); ANALYZE customers});
for my $mode (qw(force_custom_plan force_generic_plan))
{
	like($recipe->plan_of($heading, "find_customer('$id')", "plan_cache_mode = $mode"), qr/Index Scan using customers_pkey/,
		"a customer is found by the index ($mode)");
}
like(ask("EXPLAIN (COSTS OFF) SELECT FROM shown_customers WHERE public_id = '$id'"),
	qr/^Seq Scan on customers/, 'a condition on the shown column reads the table');
($stdout) = $recipe->paste($heading, 1);
is($stdout, 'one', 'a row is found by the generated column');
ask('ANALYZE customers');
like(ask("EXPLAIN (COSTS OFF) SELECT FROM customers WHERE shown_id = '$id'"),
	qr/customers_shown_id_key/, 'with its index');
is($recipe->outcome(q{CREATE TABLE shown (id uuid, shown text GENERATED ALWAYS AS (idgen.prefixed_id('cust', id)) VIRTUAL)}),
	ask('SHOW server_version_num') >= 180000 ? '0A000' : '42601', 'a virtual column cannot call the function');

# Malformed ids
ask(q{SELECT idgen.create_id_domain('customer_id', 'cust'); CREATE TABLE told (id customer_id PRIMARY KEY, number bigint)});
for (
	[ 'customers', q{id = 'cust_-'} => '22P02' ],
	[ 'told', q{number = 'cust_-'} => '22P02' ],
	[ 'customers', q{id = idgen.prefixed_id_to_uuid('cust_-', 'cust')} => '22P02' ],
	[ 'customers', q{id = idgen.prefixed_id_to_uuid(upper('cust_03cu7ltbh43kmxopehhx215t7'), 'cust')} => '22P02' ],
	[ 'customers', q{id = idgen.typeid_to_uuid('cust_-')} => '22P02' ],
	[ 'customers', q{id = idgen.ulid_to_uuid('cust_-')} => '22P02' ],
	[ 'customers', q{id = idgen.prefixed_id_to_uuid('acct_03cu7ltbh43kmxopehhx215t7', 'cust')} => '23514' ],
	[ 'told', q{id = 'cust_-'::customer_id} => '23514 prefixed_id_check' ],
	[ 'customers', q{id = idgen.unmask_uuid_v7('01932f1e-6b80-7abc-8def-0123456789ab')} => '22023' ],
	[ 'customers', q{id = idgen.prefixed_id_to_uuid('cust_-', 'cust') AND idgen.is_prefixed_id('cust_-', 'cust')} => '22P02' ],
	[ 'told', q{id = 'cust_-'} => '0' ],
	[ 'customers', q{shown_id = 'cust_-'} => '0' ])
{
	my ($table, $condition, $expected) = @$_;
	is($recipe->outcome("SELECT count(*) FROM $table WHERE $condition"), $expected, "$condition: $expected");
}
my $prepared = 'SET plan_cache_mode = force_generic_plan; ' . $recipe->prepared($heading);
is($recipe->outcome("$prepared EXECUTE find_customer($_)"), '', "none: $_")
  for q{'cust_-'}, q{'acct_03cu7ltbh43kmxopehhx215t7'}, 'NULL', q{''};
is($recipe->outcome("$prepared EXECUTE find_customer('$id')"), "$id|one", 'a valid id finds its row');

# --- Sizes ------------------------------------------------------------------
# The bytes of a row, in the table and its indexes
sub bytes { return ask("SELECT pg_relation_size('$_[0]') + pg_indexes_size('$_[0]')") / 100_000 }

$recipe->paste('A bigint inside, a uuid outside');
ask(q{
	CREATE TABLE plain_ids (id uuid PRIMARY KEY);
	CREATE TABLE both_ids (id uuid PRIMARY KEY,
		shown_id text COLLATE "C" UNIQUE GENERATED ALWAYS AS (idgen.prefixed_id('cust', id)) STORED);
	CREATE TABLE text_ids (id customer_id PRIMARY KEY);
	CREATE TABLE uuid_references (id uuid);
	CREATE INDEX ON uuid_references (id);
	CREATE TABLE bigint_references (id bigint);
	CREATE INDEX ON bigint_references (id);
	INSERT INTO plain_ids SELECT idgen.uuid_v7() FROM generate_series(1, 100000);
	INSERT INTO both_ids SELECT id FROM plain_ids ORDER BY id;
	INSERT INTO text_ids SELECT idgen.prefixed_id('cust', id) FROM plain_ids ORDER BY id;
	INSERT INTO members (public_id) SELECT id FROM plain_ids ORDER BY id;
	INSERT INTO uuid_references SELECT id FROM plain_ids ORDER BY id;
	INSERT INTO bigint_references SELECT id FROM members ORDER BY id});
my %shown;
@shown{qw(both_ids plain_ids text_ids)} = $recipe->section('Store a uuid, show a prefixed id')
  =~ /take\s+([\d.]+)\s+MB,\s+with the view alone\s+([\d.]+),.*?\s([\d.]+)\.\s/s or die 'the page has no sizes';
for my $table (sort keys %shown)
{
	my $found = bytes($table) * 100_000 / 1024**2;
	cmp_ok(abs($found / $shown{$table} - 1), '<', 0.03, "$table: $found MB");
}

# The entries' bytes; the index has a tenth of free space.
my $more = bytes('members') - bytes('plain_ids');
ok($more > 28 && $more < 28 / 0.9, "a second key takes $more bytes a row");
my $less = bytes('uuid_references') - bytes('bigint_references');
ok($less > 16 && $less < 16 / 0.9, "a reference takes $less bytes less");

# --- Masks ------------------------------------------------------------------------
my @headings = ('A table behind a view', 'A client that brings the identifier', 'Replacing the key', 'Masked numbers');
my $v4 = q{'2463c780-7fca-4def-8c3f-7b1a2c4d5e6f'};
my $v7 = q{'018f2d9f-9a2a-7def-8c3f-7b1a2c4d5e6f'};

# What psql prints for a statement with a section's prepared ones: rows, and the command's tag
sub tags
{
	my ($heading, $sql) = @_;

	# safe_psql is quiet, and shows no tags
	my ($rows, $errors) = run_command([ 'psql', '-XAt', '-d', $node->connstr('postgres'), '-v', 'VERBOSITY=sqlstate',
			'-c', $recipe->prepared($heading), '-c', $sql ]);
	return ($rows =~ s/^PREPARE(\n|\z)//gmr) . $errors;
}

$recipe->paste($_) for @headings[ 0, 3 ];
ask(q{
	INSERT INTO letters (receiver) SELECT i FROM generate_series(1, 1000) i;
	REVOKE EXECUTE ON ALL FUNCTIONS IN SCHEMA idgen FROM caller;
	REVOKE EXECUTE ON FUNCTION letter_by_id FROM PUBLIC;
	GRANT EXECUTE ON FUNCTION letter_by_id TO caller});
is(ask('SELECT count(*), bool_and(idgen.uuid_version(id) = 4) FROM letters'), '1001|t', 'the view shows masks');
my $known = ask(q{SELECT id FROM letters WHERE receiver = '7'});

# Codes of six digits
my ($code, $number) = $recipe->section('Masked numbers') =~ /^`(lpad.*?)`, and.*\n`(unpermute.*?)`/m or die 'no codes';
s/\b(?=(bigint|permute|unpermute)\w*\()/idgen./g for $code, $number;
is(ask("SELECT count(DISTINCT code), count(*) FILTER (WHERE code ~ '^[0-9A-Z]{6}\$'), bool_and($number = id)
		FROM (SELECT id, $code AS code FROM generate_series(1, 100000) id) s"), '100000|100000|t',
	'short codes are distinct, of six digits, and read back');
is(ask("SELECT $number FROM (SELECT 1073741823 AS id) i, LATERAL (SELECT $code AS code) s"), 1073741823, 'so is the last one');
is($masks->outcome("SELECT receiver FROM letter_by_id('$known')", database => 'postgres'), '7', 'a lookup by the masked identifier');
like($masks->outcome("SELECT $_", database => 'postgres'), qr/^42501: permission denied/, "but not: $_")
  for "idgen.unmask_uuid_v7('$known')", "idgen.mask_uuid_v7($v7)", 'id FROM letters', 'number FROM bills';

# Writes through the view, and by the masked identifier
my $unknown = ask('SELECT idgen.mask_uuid_v7(idgen.uuid_v7())');
for (
	[ "UPDATE letters SET receiver = 'seven' WHERE id = '$known' RETURNING id", "$known\nUPDATE 1" ],
	[ "UPDATE letters SET receiver = 'none' WHERE id = '$unknown'", 'UPDATE 0' ],
	[ q{DELETE FROM letters WHERE receiver = '8'}, 'DELETE 1' ],
	[ "DELETE FROM letters WHERE id = '$unknown'", 'DELETE 0' ],
	[ "UPDATE letters SET id = '$unknown' WHERE id = '$known'", 'ERROR:  0A000' ],
	[ "EXECUTE find_letter('$known')", 'seven' ],
	[ "EXECUTE change_letter('$known', '7')", 'UPDATE 1' ],
	[ "EXECUTE change_letter('$unknown', '7')", 'UPDATE 0' ],
	[ "EXECUTE delete_letter('$unknown')", 'DELETE 0' ])
{
	my ($sql, $expected) = @$_;
	is(tags('A table behind a view', $sql), $expected, $sql =~ s/'[0-9a-f-]{36}'/…/gr);
}
is(ask(qq{SELECT receiver, idgen.mask_uuid_v7(id) = '$known' FROM letters_stored WHERE receiver IN ('7', '8', 'seven')}),
	'7|t', 'writes go to the rows');

# Two sessions that write the same row
{
	my ($control, @writers) = map { session() } 1 .. 3;
	my $row = ask(q{SELECT id FROM letters WHERE receiver = '9'});
	$writers[0]->ask("BEGIN; DELETE FROM letters WHERE receiver = '9'");
	$writers[1]->send("UPDATE letters SET receiver = 'nine' WHERE id = '$row' RETURNING id");
	$control->poll_waiting($writers[1]);
	$writers[0]->ask('COMMIT');
	is($writers[1]->answer, '', 'an UPDATE that waited for a DELETE of the row finds none');
}

# A client that brings the identifier: a role that may call the function only
$recipe->paste($headings[1]);
ask('REVOKE EXECUTE ON FUNCTION create_letter FROM PUBLIC; GRANT EXECUTE ON FUNCTION create_letter TO caller');
sub create { my ($letter, $receiver) = @_; return $masks->outcome("SELECT create_letter($letter, $receiver)", database => 'postgres') }

is(create("'$unknown'", q{'Hopper'}), '', 'a client brings the identifier that it was given') for 1, 2;
is(ask("SELECT receiver FROM letters WHERE id = '$unknown'"), 'Hopper', 'the row has it, once');
my $given = ask(q{SELECT idgen.mask_uuid_v7(idgen.uuid_v7())});
my $late = ask(q{SELECT idgen.mask_uuid_v7(idgen.uuid_v7(now() - interval '2 hours'))});
my $flipped = $given =~ s/^(.)/sprintf '%x', hex($1) ^ 1/er;
ask(q{ALTER TABLE letters_stored ADD UNIQUE (receiver), ADD CONSTRAINT known CHECK (receiver <> 'nobody')});
for (
	[ "'$late'", q{'late'}, 23514 ], [ "'$flipped'", q{'flipped'}, 23514 ], [ $v4, q{'random'}, 23514 ],
	[ "'$given'", 'NULL', 23502 ], [ "'$given'", q{'nobody'}, 23514 ])
{
	my ($letter, $receiver, $code) = @$_;
	my $line = 'CONTEXT:  PL/pgSQL function public.create_letter(uuid,text) line 5 at RAISE';
	is(create($letter, $receiver), "$code: letter $letter is refused\n$line" =~ tr/'/"/r,
		"$receiver is refused, with neither the stored key nor a time");
}

$masks->write_keys("$Masks::all_keys\nv2 $Masks::key{orders}\n");
$node->reload;
$recipe->paste($headings[2]);
my $shown = ask(q{SELECT id FROM letters WHERE receiver = '7'});
isnt($shown, $known, 'with a new key, the view shows another identifier');
is(tags($headings[2], "EXECUTE find_letter_by_either_key('$_')"), '7', 'and the row is found by both') for $shown, $known;
is(tags('A table behind a view', "UPDATE letters SET receiver = 'seven' WHERE id = '$_->[0]'"), $_->[1], 'writes answer the truth')
  for [ $known, 'UPDATE 0' ], [ $shown, 'UPDATE 1' ];
is(ask(qq{SELECT receiver FROM letters WHERE id = '$shown'}), 'seven', 'and are done');
ask('ANALYZE letters_stored');
for ("find_letter('$known')", "change_letter('$known', '7')", "delete_letter('$known')", "find_letter_by_either_key('$known')")
{
	my $heading = /either/ ? 'Replacing the key' : 'A table behind a view';
	like(tags($heading, "EXPLAIN (COSTS OFF) EXECUTE $_"), qr/letters_stored_pkey.*Index Cond|Bitmap Index Scan on letters_stored_pkey/s,
		s/\(.*//r . ' uses the primary key');
}

done_testing();
