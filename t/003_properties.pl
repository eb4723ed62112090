# Verify properties of all functions. t/lib/Functions.pm lists every function. Every function that takes an identifier,
# text, a number or a timestamp is called with thousands of random values and with boundary values, and must return a
# result or raise one of its documented errors. Each documented error must be raised by at least one call. The
# properties in t/lib/properties.sql must hold. Set IDGEN_SEED to repeat a run.

use FindBin;
use Functions;
use Server;

my $seed = $ENV{IDGEN_SEED} // int(rand(2**31));
my $trials = 1000;
note("IDGEN_SEED=$seed");

my $node = Functions::add_key(
	init_server('server', "idgen.node_id = 1\nautovacuum = off\ntimezone = 'UTC'\nlog_statement = none\n"
	  . "log_min_error_statement = panic\nlog_min_messages = fatal\nmax_locks_per_transaction = 512"));
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
is(join(' ', map { $_->{name} } grep { !$Functions::reason_of{ "$_->{kind} $_->{attributes}" =~ s/ strict//r } }
			@Functions::functions), '', 'each function is of a kind that has a reason for these marks');
# sql/creation.sql tests the functions for recorded commands.
is(join("\n", map { $_->{signature} } grep {
			my $name = $_->{name};
			$_->{signature} =~ /\b(_?uuid|text|int8)\b/ && !grep { /\b(idgen|tried)\.$name\(/ } @properties
		} grep { $_->{kind} ne 'creations' && $_->{name} !~ /^(min|max)$/ } @functions),
	'', 'each function that takes an identifier, text or a number has a property')
	or diag('Add them to t/lib/properties.sql.');
is(ask(q{SELECT string_agg(sequencename, ' ' ORDER BY sequencename) FROM pg_sequences WHERE schemaname = 'idgen'}),
	join(' ', sort @Functions::sequences), 'each ticker has a function')
  or diag('Correct the rows of the kind "ticker" in the list.');

# --- Rules for all functions ---------------------------------------------------
my @of_idgen = grep { $_->{kind} ne 'advisor' && $_->{name} !~ /^internal_/ } @functions;
my %listed = map { $_->{signature} => $_ } @of_idgen;
push @{ $listed{ $_->[0] }{named} }, [ @$_[ 1 .. 3 ] ] for grep { $listed{ $_->[0] } } map { [ split /\|/, $_, -1 ] }
  split /\n/, ask(qq{
	SET timezone = 'UTC';
	SELECT signature, coalesce(proargnames[n], ''), format_type(type, NULL),
		regexp_replace(pg_get_function_arg_default(oid, n::int), '::[a-z ]+', '')
	FROM ($Functions::installed) p, unnest(proargtypes) WITH ORDINALITY a (type, n) ORDER BY oid, n});

# Check a rule. Given a function, $check returns the arguments that violate the rule.
sub broken
{
	my ($rule, $check) = @_;
	my @broken;
	for my $function (@of_idgen)
	{
		push @broken, map { "$function->{name}($_)" } $check->($function, @{ $function->{named} // [] });
	}
	is("@broken", '', "of all functions, $rule");
}

# (sql/callable.sql tests that calls of functions with the same name are not ambiguous.)
broken('one that uses keys has a name of its own, so that GRANT finds it without its arguments',
	sub { my $name = shift->{name}; return (grep { $_ eq $name } @Functions::of_keys) > 1 ? '' : () });
broken('a reader is immutable unless it has a clock',
	sub { my ($function, @arguments) = @_; return $function->{kind} ne 'reader'
		|| $function->{attributes} =~ (grep({ $_->[0] eq 'clock' } @arguments) ? qr/^s/ : qr/^i/) ? () : 'clock' });
broken('only one without defaults is STRICT, because a NULL for its options is an error',
	sub { my ($function, @arguments) = @_;
		return $function->{attributes} =~ /strict/ ? map { $_->[2] ne '' ? $_->[0] : () } @arguments : () });
broken('one of a time that is not on a ticker has a clock',
	sub { my ($function, @arguments) = @_;
		return $function->{kind} !~ /^(?:generator|ticker)$/ || $function->{name} eq 'uuid_v4'
		  || ($function->{attributes} =~ /^vs/ xor !grep { $_->[0] eq 'clock' } @arguments) ? () : 'clock' });

# These arguments occur in several functions, always in this order and with these types and defaults. An argument whose
# value differs between tables has no default. A clock is always the last argument.
my @shared = (
	instant => 'timestamp with time zone ', id => '(?:uuid|bigint|text) ', masked => 'uuid ', permuted => 'bigint ',
	command_id => 'uuid ', proposed_id => '(?:uuid|bigint|text) ', created_at => 'timestamp with time zone ',
	start => 'timestamp with time zone ', stop => q{timestamp with time zone 'infinity'}, area => 'text ',
	max_value => q{bigint '9007199254740991'}, key_name => '', keep => 'bigint (?:20)?',
	command_name => '', request => 'jsonb NULL', tolerance => q{interval '00:10:00'},
	past_tolerance => 'interval NULL', future_tolerance => 'interval NULL',
	period => '', prefix_bytes => 'integer 2', run_length => 'integer NULL',
	batch_size => 'bigint 10000', epoch => q{timestamp with time zone '2020-01-01 00:00:00\+00'},
	clock => 'timestamp with time zone NULL');
my %as = @shared;
my %place = map { $shared[ 2 * $_ ] => $_ } 0 .. @shared / 2 - 1;
broken('shared arguments have the same types and defaults',
	sub { my ($function, @arguments) = @_;
		my %has = map { $_->[0] => 1 } @arguments;
		# Masks have a default key of their own. The command name is optional only in functions that delete commands.
		@as{qw(period key_name command_name)} = (
			$has{area} ? q{interval '01:00:00'} : q{interval '00:01:00'},
			$has{period} ? q{text 'shared'} : q{text 'default'}, $has{batch_size} ? 'text NULL' : 'text ');
		return map { $as{ $_->[0] } && "$_->[1] $_->[2]" !~ /^$as{$_->[0]}$/ ? "@$_" : () } @arguments });
broken('shared arguments have the same order',
	sub { my ($function, @arguments) = @_;
		my @places = map { $place{ $_->[0] } // () } @arguments;
		return "@places" eq join(' ', sort { $a <=> $b } @places) ? () : join ' ', map { $_->[0] } @arguments });
broken('a clock is the last argument',
	sub { my ($function, @arguments) = @_; pop @arguments; return grep { $_ eq 'clock' } map { $_->[0] } @arguments });

# NULL is valid for a value that a function reads and for an argument whose default is NULL. For all other arguments,
# NULL is an error.
ask('CREATE SEQUENCE numbers');
my $is_read = qr/^(?:id|masked|permuted|instant|start|stop|created_at)$/;
broken('NULL is an error unless it is the default, or what is read',
	sub {
		my ($function, @arguments) = @_;
		return if $function->{attributes} =~ /strict/ || $function->{kind} eq 'trigger'
		  || $function->{name} =~ /^(?:min|max|(?:remember|has)_command)$/;
		my @given = $function->{arguments} =~ /\G\s*((?:'[^']*'|\[[^\]]*\]|[^',\[])+)(?:,|\z)/g;
		return map {
			my ($name, undef, $default) = @{ $arguments[$_] };
			my @call = map { /^(\w+) =>/ && $1 eq $name ? () : $_ } @given;
			if ($_ < grep { !/=>/ } @given) { $call[$_] = 'NULL' } else { push @call, "$name => NULL" }
			my $outcome = outcome("SELECT idgen.$function->{name}(" . join(', ', @call) . ')');
			my $is_taken = $default eq 'NULL' || $name =~ $is_read && $function->{attributes} !~ /^v/;
			($outcome eq '22004' xor $is_taken) ? () : "$name: $outcome";
		} 0 .. $#arguments;
	});

# --- Random arguments -----------------------------------------------------------
my %raised;    # by function and SQLSTATE; '' means that a call returned a result

# Return the SQLSTATEs that were raised but are not in the list of functions.
sub undocumented
{
	my $states = shift;
	return join ' ', map {
		my $function = $_;
		my %documented = map { $_ => 1 } '', @{ $function->{errors} };
		map { "$function->{name} $_" } grep { !$documented{$_} } keys %{ $states->{ $function->{name} } // {} };
	} @functions;
}

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

	my %calls;
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
	is(undocumented(\%calls), '', "$encoding: only documented errors (IDGEN_SEED=$seed)");
	# hmac_comb() and hmac_comb_at() are tested by the properties instead, because a random string is never the name of
	# a key.
	is(join(' ', grep { !$calls{$_}{''} && !/^hmac_comb/ } sort keys %calls), '',
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
# These calls raise SQLSTATEs that calls with random arguments might not raise. In SQL_ASCII, chr(255) is not valid
# UTF-8.
my $v7 = q{'017f22e2-79b0-7cc3-98c4-dc0c0c07398f'};
my $late = q{'infinity')};
for my $call (
	(map { "create_id_domain($_)" } q{NULL, 'x'}, q{'a.b.c', 'x'}, q{'""', 'x'}, q{'a b', 'x'}, q{'nowhere.x', 'x'},
		q{'x', 'x'}, q{'x', 'y'}, q{'z', 'x'}, q{repeat('x', 513), 'x'}),
		q{create_id_domain('y', 'y') FROM set_config('role', 'pg_monitor', false)},
	(map { "sequence_comb($_)" } 'NULL', q{'pg_class'}, q{'idgen.js_id_mark', 0}),
	(map { "$_, '', '1e2000')" } "create_once($v7, $v7", "create_once_bigint($v7, 1", "create_once_text($v7, 'a'"),
	"create_once_text($v7, '', 'x')",
	'snowflake(NULL)', 'js_id(NULL)', 'typeid(NULL)', "mask_uuid_v7($v7, NULL)", "unmask_uuid_v7($Functions::v4, NULL)",
	(map { "hmac_comb($_)" } 'NULL', 'chr(255)'),
	(map { "hmac_comb_at($_)" } q{NULL, 'a'}, q{'infinity', 'a'}, q{'epoch', chr(255)}),
	"is_recent_hmac_comb($Functions::v4, 'a', clock => $late", "is_recent_hmac_comb($Functions::v4, chr(255))",
	(map { "$_(1, chr(255), 9)" } 'permute', 'unpermute'),
	q{uuid_from_base(repeat('Z', 22), 62)}, q{prefixed_id_to_uuid('acct_1', 'x')},
	"typeid_to_uuid($Functions::typeid, 'x')",
	"created_near($v7, now(), '106751991 days')",
	"internal_created_bound($v7, '106751991 days', true)",
	(map { "$_(clock => $late" } 'short_comb', 'short_suffix_comb'), "keyed_comb('a', clock => $late",
	(map { "$_($v7, clock => $late" } 'short_comb_timestamp', map { ("is_recent_$_", "check_recent_$_") } 'short_comb',
	'comb', 'uuid_v7'),
	"trace_id_timestamp(1, $late",
	(map { ("$_($late", "${_}_timestamp(1, $late", "${_}_floor(now(), $late",
	"${_}_within(1, now(), now(), $late") } 'snowflake', 'js_id'))
{
	my (undef, $errors) = psql_said("SELECT idgen.$call", database => 'sql_ascii');
	$raised{ $call =~ s/\(.*//r }{ $errors =~ /ERROR:  (\w{5})/ ? $1 : '' }++;
}
is(undocumented(\%raised), '', 'each SQLSTATE that is raised is documented');
my @never;
for my $function (grep { $_->{kind} ne 'advisor' } @functions)
{
	push @never, map { "$function->{name} $_" } grep { !$raised{ $function->{name} }{$_} } @{ $function->{errors} };
}
is("@never", '', "each documented SQLSTATE is raised (IDGEN_SEED=$seed)");
done_testing();
