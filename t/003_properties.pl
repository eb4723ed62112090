# Each function is in the list in t/lib/Functions.pm. Each one that takes an identifier,
# text, a number or a timestamp is called with thousands of random values and with boundary
# values: it returns a result or raises one of its documented errors, each of which is
# raised, and the properties in t/lib/properties.sql hold. IDGEN_SEED repeats a run.

use FindBin;
use Functions;
use Server;

my $seed = $ENV{IDGEN_SEED} // int(rand(2**31));
my $trials = 1000;
note("IDGEN_SEED=$seed");

my $node = Functions::add_key(
	init_server('server', "idgen.node_id = 1\ntimezone = 'UTC'\nlog_statement = none\nlog_min_error_statement = panic\n"
	  . "log_min_messages = fatal\nmax_locks_per_transaction = 512"));
$node->start;
Functions::install($node, 'postgres');
my ($header, @properties) = split /^-- (.*)\n/m, slurp_file("$FindBin::RealBin/lib/properties.sql") =~ s/.*?\n\n//sr;
my $values = slurp_file("$FindBin::RealBin/lib/values.sql");

# --- The list -----------------------------------------------------------------
my %installed = map { split /\|/ } split /\n/, ask("SELECT signature, attributes FROM ($Functions::installed) p");
my @functions = grep { $_->{kind} ne 'advisor' || $installed{ $_->{signature} } } @Functions::functions;
my @unknown = grep { $_->{kind} eq 'advisor' && !$installed{ $_->{signature} } } @Functions::functions;

is_deeply(\%installed, { map { $_->{signature} => $_->{attributes} } @functions },
	'each function has a row, with its volatility, parallel safety and strictness');
# (Those of recorded commands have sql/creation.sql.)
is(join("\n", map { $_->{signature} } grep {
			my $name = $_->{name};
			$_->{signature} =~ /\b(_?uuid|text|int8)\b/ && !grep { /\b(idgen|tried)\.$name\(/ } @properties
		} grep { $_->{kind} ne 'creations' && $_->{name} !~ /^(min|max)$/ } @functions),
	'', 'each function that takes an identifier, text or a number has a property')
	or diag('Add them to t/lib/properties.sql.');
is(ask(q{SELECT string_agg(sequencename, ' ' ORDER BY sequencename) FROM pg_sequences WHERE schemaname = 'idgen'}),
	join(' ', sort @Functions::sequences), 'each ticker has a function')
  or diag('Correct the rows of the kind "ticker" in the list.');

# Strict functions return NULL for NULL. The others are given it for the identifier, their first argument.
my @not_strict = grep { $_->{kind} =~ /^(?:reader|key)$/ && $_->{attributes} =~ /^[is]s$/
	  && $_->{name} !~ /^(?:prefixed_id|typeid_from_uuid|remember_command|has_command)$/ } @functions;
for my $function (@not_strict)
{
	my $others = $function->{arguments} =~ s/^[^,(]+(?:\([^)]*\))?//r;
	is(ask("SELECT idgen.$function->{name}(NULL$others) IS NULL"), 't', "$function->{name}(): NULL for the identifier");
}

# --- Random arguments -----------------------------------------------------------
my %raised;    # by function and SQLSTATE, '' for a result

for my $encoding ('SQL_ASCII', 'UTF8')
{
	add_database($encoding, $encoding);
	my $database = lc $encoding;
	Functions::install($node, $database);
	$node->safe_psql($database, qq{
		CREATE TABLE functions AS SELECT oid, proname, signature, proargtypes FROM ($Functions::installed) p
		WHERE prokind = 'f' AND proargtypes::oid[] && '{uuid,text,bigint,uuid[],timestamptz}'::regtype[]::oid[]
			AND proname NOT IN ('index_report', 'index_reports', 'internal_index_measures', 'snowflake', 'js_id');
		CREATE TABLE literals AS SELECT unnest(ARRAY[@{[ join ', ', @Functions::literals ]}]) AS t;
		\\set seed $seed
		$values});

	my (%calls, @undocumented);
	for (split /\n/, $node->safe_psql($database, qq{
			BEGIN;
			SET LOCAL client_min_messages = error;
			SELECT f.proname, t.state
			FROM functions f, LATERAL try(f, CASE f.proname WHEN 'create_id_domain' THEN 300 ELSE $trials END) t;
			ROLLBACK}))
	{
		my ($function, $state) = /(.*)\|(.*)/;
		$calls{$function}{$state} = $raised{$function}{$state} = 1;
	}
	for my $function (grep { $calls{ $_->{name} } } @functions)
	{
		my %documented = map { $_ => 1 } '', @{ $function->{errors} };
		push @undocumented,
		  map { "$function->{name} $_" } grep { !$documented{$_} } keys %{ $calls{ $function->{name} } };
	}
	is("@undocumented", '', "$encoding: only documented errors (IDGEN_SEED=$seed)");
	# (hmac_comb() does in the properties: a random text is the name of no key.)
	is(join(' ', grep { !$calls{$_}{''} && $_ ne 'hmac_comb' } sort keys %calls), '',
		"$encoding: each function returned a result");

	for (my $i = 0; $i < @properties; $i += 2)
	{
		my ($name, $query) = ($properties[$i], $properties[ $i + 1 ] =~ s/;\s*\z//r);
		next if grep { $query =~ /\b(?:idgen|tried)\.$_->{name}\(/ } @unknown;

		my $found = $node->safe_psql($database,
			"SET client_min_messages = error;
				SELECT count(*) > 0, count(*) FILTER (WHERE holds IS NOT TRUE) FROM ($query) s");
		is($found, 't|0', "$encoding: $name (IDGEN_SEED=$seed)")
		  or diag($node->safe_psql($database,
			"SELECT left(s::text, 1000) FROM ($query) s WHERE holds IS NOT TRUE LIMIT 3"));
	}
}

# --- Every documented SQLSTATE --------------------------------------------------
# Calls that raise what random arguments may miss; in SQL_ASCII, chr(255) is not UTF-8
my $v7 = q{'017f22e2-79b0-7cc3-98c4-dc0c0c07398f'};
my $late = q{'infinity')};
for my $call (
	(map { "create_id_domain($_)" } q{NULL, 'x'}, q{'a.b.c', 'x'}, q{'""', 'x'}, q{'a b', 'x'}, q{'nowhere.x', 'x'},
		q{'x', 'x'}, q{'x', 'y'}, q{'z', 'x'}),
		q{create_id_domain('y', 'y') FROM set_config('role', 'pg_monitor', false)},
	(map { "sequence_comb($_)" } 'NULL', q{'pg_class'}, q{'idgen.js_id_mark', 0}),
	(map { "$_, '', '1e2000')" } "create_once($v7, $v7", "create_once_bigint($v7, 1"),
	'snowflake(NULL)', 'js_id(NULL)', 'typeid(NULL)', "mask_uuid_v7($v7, NULL)", "unmask_uuid_v7($Functions::v4, NULL)",
	"check_recent_hmac_comb($Functions::v4, 'v2')",
	(map { "hmac_comb('v2', $_)" } 'NULL', "clock => 'infinity'", 'area => chr(255)'),
	(map { ("${_}_recent_hmac_comb($Functions::v4, 'v2', clock => $late",
	"${_}_recent_hmac_comb($Functions::v4, 'v2', area => chr(255))") } 'is', 'check'),
	(map { "$_(1, 9, chr(255))" } 'permute', 'unpermute'),
	q{uuid_from_base(repeat('Z', 22), 62)}, q{prefixed_id_to_uuid('acct_1', 'x')},
	"typeid_to_uuid($Functions::typeid, 'x')",
	"created_near($v7, now(), '106751991 days')",
	"check_recent_hmac_comb($Functions::v4, 'default')",
	"internal_created_bound($v7, '106751991 days', true)",
	(map { "$_(clock => $late" } 'short_comb', 'keyed_comb', 'short_suffix_comb'),
	(map { "$_($v7, clock => $late" } 'short_comb_timestamp', map { ("is_recent_$_", "check_recent_$_") } 'short_comb',
	'comb', 'uuid_v7'),
	"trace_id_timestamp(1, $late",
	(map { ("$_($late", "${_}_timestamp(1, $late", "${_}_floor(now(), $late",
	"${_}_within(1, now(), now(), $late") } 'snowflake', 'js_id'))
{
	$raised{ $call =~ s/\(.*//r }{ outcome("SELECT idgen.$call", database => 'sql_ascii') }++;
}
my @never;
for my $function (grep { $_->{kind} ne 'advisor' } @functions)
{
	push @never, map { "$function->{name} $_" } grep { !$raised{ $function->{name} }{$_} } @{ $function->{errors} };
}
is("@never", '', "each documented SQLSTATE is raised (IDGEN_SEED=$seed)");
done_testing();
