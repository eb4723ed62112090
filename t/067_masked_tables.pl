# Tables with masked keys, as docs/recipes.md has them: reads and writes through a view and
# by the masked identifier, by a role that has no right on the tables; identifiers that a
# client brings; a replaced key.

use FindBin;
use lib "$FindBin::RealBin/lib";
use IPC::Run;
use Masks;
use Recipe;
use Server;

my $masks = Masks->new;
my $node = $masks->{node};
my $recipe = Recipe->new('masked', node => $node);
my @headings = ('A table behind a view', 'A client that brings the identifier', 'Replacing the key', 'Masked numbers', 'Roles that write SQL');
my $v4 = q{'2463c780-7fca-4def-8c3f-7b1a2c4d5e6f'};
my $v7 = q{'018f2d9f-9a2a-7def-8c3f-7b1a2c4d5e6f'};

# What psql prints for a statement with a section's prepared ones: rows, and the command's tag
sub tags
{
	my ($heading, $sql) = @_;
	my $prepared = $recipe->prepared($heading);

	# safe_psql is quiet, and shows no tags
	my ($rows, $errors) = ('', '');
	IPC::Run::run([ 'psql', '-XAt', '-d', $node->connstr('postgres'), '-v', 'VERBOSITY=sqlstate', '-c', $prepared, '-c', $sql ], '>', \$rows, '2>', \$errors);
	chomp(my $answer = ($rows =~ s/^PREPARE\n//gmr) . $errors);
	return $answer;
}

$recipe->paste($_) for @headings[ 0, 3, 4 ];
ask(q{
	INSERT INTO letters (receiver) SELECT i FROM generate_series(1, 1000) i;
	REVOKE EXECUTE ON FUNCTION letter_by_id FROM PUBLIC;
	GRANT EXECUTE ON FUNCTION letter_by_id TO caller});
is(ask(q{
	SELECT count(*), bool_and(idgen.uuid_version(p.id) = 4), count(idgen.uuid_timestamp(p.id)), bool_and(p.id <> s.id)
	FROM letters p JOIN letters_stored s USING (receiver)}), '1001|t|0|t', 'the view shows identifiers of version 4, without a time');
my $correlation = ask(q{
	SELECT corr(stored, shown) FROM (
		SELECT rank() OVER (ORDER BY id) AS stored, rank() OVER (ORDER BY idgen.mask_uuid_v7(id)) AS shown FROM letters_stored) ranks});
cmp_ok(abs($correlation), '<', 0.2, 'whose order is not that of their creation');
is(ask(q{SELECT max(number) > 900000000, min(number) > 100, corr(number, amount::int) BETWEEN -0.4 AND 0.4 FROM bills}), 't|t|t',
	'and numbers that say nothing about how many there are');
my $known = ask(q{SELECT id FROM letters WHERE receiver = '7'});
is($masks->outcome("SELECT receiver FROM letter_by_id('$known')", database => 'postgres'), '7', 'a lookup by the masked identifier');
like($masks->outcome("SELECT $_", database => 'postgres'), qr/^42501: permission denied/, "but not: $_")
  for "idgen.unmask_uuid_v7('$known')", "idgen.mask_uuid_v7($v7)", 'id FROM letters', 'number FROM bills';

# Writes through the view, and by the masked identifier
my $unknown = ask('SELECT idgen.mask_uuid_v7(idgen.uuid_v7_ms())');
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
is(ask(qq{SELECT receiver, idgen.mask_uuid_v7(id) = '$known' FROM letters_stored WHERE receiver IN ('7', '8', 'seven')}), '7|t', 'writes go to the rows');

# Two sessions that write the same row
{
	my @writers = map { session() } 1 .. 2;
	my $row = ask(q{SELECT id FROM letters WHERE receiver = '9'});
	$writers[0]->ask("BEGIN; DELETE FROM letters WHERE receiver = '9'");
	$writers[1]->send("UPDATE letters SET receiver = 'nine' WHERE id = '$row' RETURNING id");
	$node->poll_query_until('postgres', "SELECT wait_event_type = 'Lock' FROM pg_stat_activity WHERE pid = $writers[1]{pid}");
	$writers[0]->ask('COMMIT');
	is($writers[1]->answer, '', 'an UPDATE that waited for a DELETE of the row finds none');
	$_->quit for @writers;
}

$recipe->paste($headings[1]);
my $insert = "EXECUTE create_letter('$unknown', 'Hopper')";
is(tags($headings[1], $insert), 'INSERT 0 1', 'a client brings the identifier that it was given');
is(tags($headings[1], $insert), 'INSERT 0 0', 'and repeats its INSERT');
is(ask("SELECT receiver FROM letters WHERE id = '$unknown'"), 'Hopper', 'the row has it');
my $late = ask(q{SELECT idgen.mask_uuid_v7(idgen.uuid_v7_ms(now() - interval '2 hours'))});
is(tags($headings[1], "EXECUTE create_letter($_, 'late')"), 'ERROR:  23514', 'refused: one that was generated long ago, or never') for "'$late'", $v4;

$masks->write_keys("$Masks::all_keys\nv2 $Masks::key{orders}\n");
$node->reload;
$recipe->paste($headings[2]);
my $shown = ask(q{SELECT id FROM letters WHERE receiver = '7'});
isnt($shown, $known, 'with a new key, the view shows another identifier');
is(tags($headings[2], "EXECUTE find_letter_by_either_key('$_')"), '7', 'and the row is found by both') for $shown, $known;
is(tags('A table behind a view', "UPDATE letters SET receiver = 'seven' WHERE id = '$_'"), $_ eq $shown ? 'UPDATE 1' : 'UPDATE 0', 'writes answer the truth') for $known, $shown;
is(ask(qq{SELECT receiver FROM letters WHERE id = '$shown'}), 'seven', 'and are done');
ask('ANALYZE letters_stored');
my %statements = (
	'A table behind a view' => [ "find_letter('$known')", "change_letter('$known', '7')", "delete_letter('$known')" ],
	'Replacing the key' => ["find_letter_by_either_key('$known')"]);
for my $heading (sort keys %statements)
{
	like(tags($heading, "EXPLAIN (COSTS OFF) EXECUTE $_"), qr/letters_stored_pkey.*Index Cond|Bitmap Index Scan on letters_stored_pkey/s, s/\(.*//r . ' uses the primary key')
	  for @{ $statements{$heading} };
}

done_testing();
