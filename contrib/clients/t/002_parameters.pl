# Each SQL statement of README, recipes, masks and contrib/clients/README.md works as drivers send it: PREPARE and
# EXECUTE as parameterised statements, and the values of other queries as parameters; without types, as most drivers
# do, and with those of Java, which sends text as varchar. Each page is executed from its beginning, in a transaction
# that is rolled back. The outcome must be that of the page: success, or the error that it announces.

use Functions;
use Server;

my $node = Functions::add_key(init_server('drivers', 'idgen.node_id = 1'));
$node->start;
ask('CREATE EXTENSION idgen');

# Values for the parameters of a PREPARE that the page does not execute
my ($id, $masked) = split /\|/, ask('SELECT id, idgen.mask_uuid_v7(id) FROM idgen.uuid_v7() id');
my $examples = qq{
	CREATE TEMP TABLE examples AS SELECT * FROM (VALUES
		('text', 'cust_03cu7ltbh43kmxopehhx215t7'), ('interval', '1 hour'),
		('jsonb', '{"note": "cust_03cu7ltbh43kmxopehhx215t7"}'), ('timestamp with time zone', '2026-11-20T00:00:00Z'),
		('bigint', '1'), ('integer', '1'), ('numeric', '5'), ('uuid', '$id'),
		('masked', '$masked')) v (example, value);
};
# The types that JDBC sends for the parameters of a statement: those that have a class of Java, or none for jsonb
my $types_and_examples = q{
	SELECT string_agg(CASE WHEN type IN ('uuid', 'bigint', 'integer', 'numeric', 'timestamp with time zone') THEN type
			WHEN type = 'jsonb' THEN 'unknown' ELSE 'varchar' END, ', ' ORDER BY i) AS types,
		string_agg(quote_literal(value), ', ' ORDER BY i) AS examples
	FROM pg_prepared_statements CROSS JOIN unnest(parameter_types) WITH ORDINALITY p (t, i) JOIN pg_type ON oid = t
		CROSS JOIN format_type(coalesce(nullif(typbasetype, 0), t), NULL) type
		JOIN examples ON example = CASE WHEN type = 'uuid' AND statement ~ 'unmask' THEN 'masked' ELSE type END
	WHERE name = 'untyped' \gset
};

my $language = $node->pg_version >= 19 ? qr/(?:sql|text(?=\nPREPARE))/ : 'sql';
# Literals that an application sends as parameters: not those with a type name, of generate_series(), or of a mask of
# bits
my $string = qr/'(?:[^']|'')*'/;
my $other = qr/interval $string|generate_series\(.*?\)|\(\d+ << \d+\)/;
my $literal = qr/(?:$other)(*SKIP)(*FAIL)|$string|(?:^|(?<=[(, ]))-?\d+(?:\.\d+)?(?=[,) ]|$)/;
my $part = qr/$string|(\$\w*\$).*?\g{-1}|BEGIN ATOMIC.*?\bEND(?=;)|--\N*|[^;]/s;

# Prepare and execute a statement, and print its number and the SQLSTATE of the first error.
sub execute
{
	my ($name, $types, $statement, $values, $number) = @_;
	return "PREPARE $name$types AS $statement;\n\\set state :SQLSTATE\n\\if :ERROR\n\\else\n"
	  . ($name eq 'untyped' ? $types_and_examples : '')
	  . 'EXECUTE ' . ($values ne '' ? "$name($values)" : $name)
	  . ";\n\\set state :SQLSTATE\nDEALLOCATE $name;\n\\endif\n"
	  . "\\echo outcome $name $number :state\n";
}

for my $path ('README.md', 'docs/recipes.md', 'docs/migrating.md', 'docs/masks.md', 'contrib/clients/README.md')
{
	my ($page) = lc($path) =~ m{(\w+)(?:/readme)?\.md};
	my $text = slurp_file($path) =~ s/^### pg_partman.*//msr;    # t/061_partitions.pl
	my $sql = join "\n", $text =~ /^ *```$language\n(.*?)^ *```/msg,
		map { "$_;" } $text =~ /`((?:SELECT|INSERT|UPDATE|DELETE) [^`]*)`/g;
	my $script = "\\set ON_ERROR_ROLLBACK on\nBEGIN;\n$examples";
	my (%prepared, @expected);

	while ($sql =~ /\G\s*($part+?);(?:[ \t]*-- error (\w{5})\N*)?/g)
	{
		my ($outcome, $written) = ($3 // '00000', $1);
		my $statement = $written =~ s/--\N*//gr =~ s/\s+/ /gr =~ s/^ //r;
		my @values;

		# statements that applications do not send
		next if $statement =~ /^(BEGIN|COMMIT|LOAD)\b|CONCURRENTLY|\\g|pg_reload_conf|index_report/;
		if ($statement =~ s/^PREPARE (\w+)\(.*?\) AS //) { $prepared{$1} = $statement }
		elsif ($statement =~ /^EXECUTE (\w+)\((.*)\)/)
		{
			$statement = $prepared{$1};
			@values = $2 =~ /$literal/g;
		}
		elsif ($statement !~ /\$1/
			&& ($statement =~ s/^EXPLAIN \(.*?\) // || $statement =~ /^(SELECT|INSERT|UPDATE|DELETE|WITH) /))
		{
			$statement =~ s/$literal/push @values, $&; '$' . @values/ge;
		}
		my $can_be_prepared = $statement =~ /^(SELECT|INSERT|UPDATE|DELETE|WITH) /;
		my $number = @expected;
		if ($can_be_prepared)
		{
			my $values = join(', ', @values) || ($statement =~ /\$1/ ? ':examples' : '');
			my $types = $statement =~ /\$1/ ? '(:types)' : '';
			# those of a statement that fails when it is prepared
			my $guessed = join ', ', map { /^'\w{8}-/ ? 'uuid' : 'varchar' } @values;
			$script .= "SAVEPOINT before;\n\\set types '$guessed'\n"
			  . execute('untyped', '', $statement, $values, $number)
			  . "ROLLBACK TO before;\n" . execute('typed', $types, $statement, $values, $number);
		}
		else { $script .= "$written;\n\\echo outcome typed $number :SQLSTATE\n" }
		push @expected, ($can_be_prepared ? "untyped $number $outcome" : ()), "typed $number $outcome";
	}

	ask("CREATE DATABASE $page");
	ask('CREATE EXTENSION idgen', $page) if $sql !~ /^CREATE EXTENSION idgen/m;
	ask('CREATE TABLE orders (id uuid PRIMARY KEY, note text)', $page) if $page eq 'clients';
	my ($said, $errors) = psql_said("$script ROLLBACK", database => $page, on_error_stop => 0);
	is_deeply([ $said =~ /^outcome (.*)/mg ], \@expected, "$page: " . @expected . ' statements') or diag($errors);
}
done_testing();
