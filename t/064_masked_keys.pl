# Verify masked keys behind a view, as described in docs/masks.md, for a role that has no privileges on the tables.

use Masks;
use Page;
use Server;

my $masks = Masks->new;
my $node = $masks->{node};
my $recipe = Page->new('masks');
my @headings = ('A table behind a view', 'A client that sends the identifier', 'Masked numbers');
my $v4 = q{'2463c780-7fca-4def-8c3f-7b1a2c4d5e6f'};
my $v7 = q{'018f2d9f-9a2a-7def-8c3f-7b1a2c4d5e6f'};

# tags() returns what psql prints for a statement: the rows and the command tag. It first executes the page's PREPARE
# statement, and one PREPARE each for an UPDATE and a DELETE with the same condition.
my $prepared = $recipe->prepared($headings[0]);
my ($condition) = $prepared =~ /(WHERE .*)/;
$prepared .= "\nPREPARE change_letter(uuid, text) AS UPDATE letters_stored SET receiver = \$2 $condition"
  . "\nPREPARE delete_letter(uuid) AS DELETE FROM letters_stored $condition";

sub tags
{
	my ($sql) = @_;

	# safe_psql uses psql's quiet mode, which does not print tags.
	my ($rows, $errors) = run_command([ 'psql', '-XAt', '-d', $node->connstr('postgres'), '-v', 'VERBOSITY=sqlstate',
			'-c', $prepared, '-c', $sql ]);
	return ($rows =~ s/^PREPARE(\n|\z)//gmr) . $errors;
}

$recipe->paste($_) for @headings[ 0, 2 ];
ask(q{
	INSERT INTO letters (receiver) SELECT i FROM generate_series(1, 1000) i;
	REVOKE EXECUTE ON ALL FUNCTIONS IN SCHEMA idgen FROM caller;
	GRANT post_office TO caller});
is(ask('SELECT count(*), bool_and(idgen.uuid_version(id) = 4) FROM letters'), '1001|t', 'the view shows masks');
my $known = ask(q{SELECT id FROM letters WHERE receiver = '7'});

my ($code, $number) = $recipe->prose('Masked numbers') =~ /`(lpad.*?)`.*?`(unpermute.*?)`/ or die 'no codes';
s/\b(?=(bigint|permute|unpermute)\w*\()/idgen./g for $code, $number;
is(ask("SELECT count(DISTINCT code), count(*) FILTER (WHERE code ~ '^[0-9A-Z]{6}\$'), bool_and($number = id)
		FROM (SELECT id, $code AS code FROM generate_series(1, 100000) id) s"), '100000|100000|t',
	'short codes are distinct, of six digits, and read back');
is(ask("SELECT $number FROM (SELECT 1073741823 AS id) i, LATERAL (SELECT $code AS code) s"), 1073741823,
	'so is the last one');
is($masks->outcome("SELECT receiver FROM letter_by_id('$known')", database => 'postgres'), '7',
	'a lookup by the masked identifier');
like($masks->outcome("SELECT $_", database => 'postgres'), qr/^42501: permission denied/, "but not: $_")
  for "idgen.unmask_uuid_v7('$known')", "idgen.mask_uuid_v7($v7)", 'id FROM letters', 'number FROM bills';

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
	is(tags($sql), $expected, $sql =~ s/'[0-9a-f-]{36}'/…/gr);
}
is(ask(qq{SELECT receiver, idgen.mask_uuid_v7(id) = '$known' FROM letters_stored WHERE receiver IN ('7', '8',
	'seven')}),
	'7|t', 'writes go to the rows');

# The client supplies the identifier. The client's role may only call the function, whose owner has two privileges.
$recipe->paste($headings[1]);

sub create
{
	my ($letter, $receiver) = @_;
	return $masks->outcome("SELECT create_letter($letter, $receiver)", database => 'postgres');
}

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
my ($view, $by_either) = $recipe->prose('Replacing the key') =~ /`(idgen.*?)`.*`(id IN .*?)`/ or die 'no second key';
ask("CREATE OR REPLACE VIEW letters AS SELECT $view AS id, receiver FROM letters_stored");
$prepared .= "\nPREPARE find_letter_by_either_key(uuid) AS SELECT receiver FROM letters_stored WHERE $by_either;";
my $shown = ask(q{SELECT id FROM letters WHERE receiver = '7'});
isnt($shown, $known, 'with a new key, the view shows another identifier');
is(tags("EXECUTE find_letter_by_either_key('$_')"), '7',
	'and the row is found by both') for $shown, $known;
ask('ANALYZE letters_stored');
for (map({ "${_}_letter('$known')" } qw(find delete)), "change_letter('$known', '7')",
	"find_letter_by_either_key('$known')")
{
	like(tags("EXPLAIN (COSTS OFF) EXECUTE $_"),
		qr/letters_stored_pkey.*Index Cond|Bitmap Index Scan on letters_stored_pkey/s,
		s/\(.*//r . ' uses the primary key');
}
like(tags($recipe->prepared($headings[2]) . ' EXPLAIN (COSTS OFF) EXECUTE find_bill(1)'), qr/bills_stored_pkey/,
	'and so does find_bill');

# A key is replaced under its own name. A cursor then returns masks under both keys.
ask('CREATE TABLE many AS SELECT idgen.uuid_v7() AS id FROM generate_series(1, 100)');
my $reader = session();
my $mask = q{idgen.mask_uuid_v7('018f2d9f-9a2a-7def-8c3f-7b1a2c4d5e6f')};
$reader->ask("BEGIN; DECLARE masks CURSOR FOR SELECT $mask FROM many");
my $before = $reader->ask('FETCH FROM masks');
is($reader->ask('FETCH FROM masks'), $before, 'a cursor returns masks');
ok($masks->reload($reader, "default $Masks::key{other}\n"), 'the key is another one');
isnt($reader->ask('FETCH FROM masks'), $before, '... for the next rows of the cursor, too');
$reader->quit;

# Add masked numbers to a table that already has rows.
my ($default) = $recipe->prose('Masked numbers') =~ /`(DEFAULT 2000 \+ .*?)`/ or die 'no default';
ask("CREATE SEQUENCE bill_numbers; CREATE TABLE numbers (number bigint PRIMARY KEY $default);
	INSERT INTO numbers SELECT generate_series(1, 2000); INSERT INTO numbers SELECT FROM generate_series(1, 2000)");
is(ask('SELECT count(*), count(*) FILTER (WHERE number <= 2000) FROM numbers'), '4000|2000',
	'the default of the page returns no number that is in use');
cmp_ok(ask(q{SELECT count(*) FROM generate_series(1, 2000) i WHERE idgen.permute(i, 'bills', 999999) <= 2000}), '>', 0,
	'permute() alone would');

done_testing();
