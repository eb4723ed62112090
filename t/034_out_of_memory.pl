# Verify that running out of memory causes an error, never a crash, and that the session can continue. In a session with
# limited memory, memory runs out at any step of a call. Other calls have arguments of up to a gigabyte, the maximum
# size.

use Functions;
use Server;
use Tickers;

my ($prlimit) = grep { -x } map { "$_/prlimit" } split(/:/, $ENV{PATH}), '/usr/bin', '/bin';
plan skip_all => 'prlimit (util-linux) is not there' unless $prlimit && -r "/proc/$$/status";

my $node = start_server('tight', $settings . "shared_buffers = 16MB\n");
my $has_advisor = Functions::install($node, 'postgres');
ask(q{
	CREATE SEQUENCE blocks;
	SELECT idgen.create_id_domain('account_id', 'acct');
	CREATE TABLE goods (id uuid PRIMARY KEY DEFAULT idgen.uuid_v7());
	INSERT INTO goods SELECT FROM generate_series(1, 10000);
	CREATE TABLE checked (id uuid);
	CREATE TRIGGER check_id BEFORE INSERT ON checked
		FOR EACH ROW EXECUTE FUNCTION idgen.check_recent_id('id', 'uuid_v7');
	ANALYZE});
# A library that does not fit into memory raises an error other than 53200, so load the libraries first.
my $load = ask(q{
	SELECT string_agg(DISTINCT format('LOAD %L', probin), '; ') || '; LOAD ''plpgsql''' FROM pg_proc
	WHERE pronamespace = 'idgen'::regnamespace AND probin IS NOT NULL});
my $started = ask('SELECT pg_postmaster_start_time()');

# Limit the address space of a session to its present size plus the given number of kilobytes, or remove the limit.
sub limit
{
	my ($session, $kilobytes) = @_;
	my ($size) = slurp_file("/proc/$session->{pid}/status") =~ /^VmSize:\s+(\d+) kB/m or die 'no VmSize';
	my $limit = defined $kilobytes ? ($size + $kilobytes) * 1024 : 'unlimited';
	system($prlimit, '--pid', $session->{pid}, "--as=$limit:") == 0 or die 'prlimit failed';
}

# --- Out of memory at any step ----------------------------------------------
# Each call is followed by the result that it returns when there is enough memory. A call that writes uses its own
# command, and is repeated until it succeeds.
my %calls = (
	(map { ($_ => [ "SELECT $_ IS NOT NULL", 't' ]) } (map { "idgen.$_()" } @Functions::tickers, 'decimal_id'),
		@Functions::independent),
	'sequence_comb()' => [ q{SELECT idgen.uuid_version(idgen.sequence_comb('blocks'))}, '4' ],
	'create_once()' => [ q{SELECT entity_number
		FROM idgen.create_once_bigint('COMMAND', NUMBER, 'order', '{"a": [1, "b", null]}')}, 'NUMBER' ],
	'create_once() in a transaction' =>
	  [ q{BEGIN; SELECT entity_number FROM idgen.create_once_bigint('COMMAND', NUMBER, 'order'); COMMIT}, 'NUMBER' ],
	'forget_creation()' => [ q{SELECT idgen.forget_creation('COMMAND')}, 'f' ],
	'purge_creations()' => [ q{SELECT idgen.purge_creations('3 days')}, '0' ],
	'trim_creations()' => [ q{SELECT idgen.trim_creations(0, 'nothing')}, '0' ],
	'remember_command()' => [ q{SELECT idgen.remember_command(NULL, 'COMMAND') IS NOT NULL}, 't' ],
	'parse_prefixed_id()' => [ q{SELECT domain FROM idgen.parse_prefixed_id('acct_1')}, 'account_id' ],
	'create_id_domain()' => [ q{BEGIN; SELECT idgen.create_id_domain('other_id', 'other'); ROLLBACK}, 'other_id' ],
	'check_recent_id()' => [ 'WITH i AS (INSERT INTO checked VALUES (idgen.uuid_v7()) RETURNING 1) SELECT count(*)
		FROM i', '1' ],
	$has_advisor ? ('index_report()' => [ q{SELECT placement IS NOT NULL FROM idgen.index_report('goods')},
		't' ]) : ());

my $number = 0;
my (%states, %given, %out_of_memory);

# Make a call, and return whether it succeeded. A wrong result is stored in %given.
sub attempt
{
	my ($session, $name, $number) = @_;
	my $command = sprintf('c0000000-0000-4000-8000-%012x', $number);
	my ($call, $gives) = map { s/COMMAND/$command/gr =~ s/NUMBER/$number/gr } @{ $calls{$name} };
	my $answer = $session->ask($call);
	if ($answer =~ /^\w{5}$/ && $answer ne $gives)
	{
		$states{$answer}++;
		$session->ask('ROLLBACK');
		return;
	}
	push @{ $given{$name} }, $answer if $answer ne $gives;
	return 1;
}

for my $name (sort keys %calls)
{
	my $failed = 0;
	# New sessions get more and more memory until the call succeeds. Each session then makes the call once without a
	# limit.
	for (my ($done, $kilobytes) = (0, 0); $done < 2; $kilobytes += 64)
	{
		my $session = session();
		$session->ask($load);
		limit($session, $kilobytes);
		attempt($session, $name, ++$number) ? $done++ : $failed++;
		limit($session, undef);
		attempt($session, $name, $number) or push @{ $given{$name} }, 'an error without a limit';
		$session->quit;
	}
	is(join(' ', @{ $given{$name} // [] }), '', "$name: an error or the correct result");
	$out_of_memory{$name} = $failed;
}
# A short call may succeed in memory that the allocator has already reserved. The amount of this memory depends on the
# environment.
cmp_ok(scalar(grep { $_ > 0 } values %out_of_memory), '>', 0, 'memory ran out: '
	  . join(', ', map { "$_ $out_of_memory{$_} times" } sort keys %out_of_memory));
# OpenSSL, which computes the SHA-256 of a request, does not report that memory ran out. Its errors have the SQLSTATE
# XX000.
my @others = grep { /ERROR: / && !/memory|SHA-256 of the request: OpenSSL failure/ } split /^/,
	slurp_file($node->logfile);
is("@others", '', 'all errors say that there is no memory');
is(join(' ', grep { $_ ne 'XX000' } sort keys %states), '53200', 'all errors but that of OpenSSL are 53200');
is(ask(q{
		SELECT count(*), count(DISTINCT command_id),
			count(*) FILTER (WHERE ltrim(right(command_id::text, 12), '0') = to_hex(entity_number))
		FROM idgen.creation_identifiers WHERE command_id::text LIKE 'c0%'}),
	join('|', (ask(q{SELECT count(*) FROM idgen.creation_identifiers})) x 3),
		'each command is recorded once, with its own entity');

# --- The largest arguments --------------------------------------------------
# Each call uses the long string as $1.
my $megabytes = 256;
my %texts = (
	(map { ("idgen.$_" => '22P02') }
		'uuid_from_base($1, 36)', 'uuid_from_base($1, 58)', 'bigint_from_base($1, 36)', 'prefixed_id_to_uuid($1)',
		'prefixed_id_prefix($1)', 'typeid_to_uuid($1)', 'typeid_prefix($1)', 'ulid_to_uuid($1)', 'ulid_timestamp($1)'),
	'idgen.uuid_text_timestamp($1)' => '22P02, and a long message',    # from uuid_in()
	(map { ("left(idgen.$_'6ba7b810-9dad-11d1-80b4-00c04fd430c8', \$1)::text, 0) || 'hashed'" => 'hashed') }
		'uuid_v5(', q{named_uuid_v7('2026-01-01', }),
	'(idgen.parse_prefixed_id($1)).prefix' => '22P02',
	(map { ("idgen.$_" => 'false') } 'is_uuid($1)', q{is_prefixed_id($1, 'acct')}),
	(map { ("idgen.$_" => '22023') }
		'prefixed_id_from_uuid($1, idgen.uuid_v4())', 'typeid_from_uuid($1, idgen.uuid_v4())', 'typeid($1)',
			q{prefixed_id_to_uuid('acct_1', $1)},
		q{is_prefixed_id('acct_1', $1)}, q{create_id_domain('big_id', $1)}),
	$has_advisor ? ('(idgen.expected_key_cost($1, 1, 1)).images_per_row' => '42704') : (),
	'idgen.trim_creations(1, $1)' => '0', '$1::account_id' => '23514');
my @texts = sort keys %texts;

# One function creates the string and makes all calls.
ask(q{CREATE FUNCTION make_calls() RETURNS SETOF text LANGUAGE plpgsql AS $make_calls$
	DECLARE
		long text := repeat(repeat('a', 1048576), } . ($megabytes - 1) . q{) || repeat('a', 1048576 - 5);
		result text;
	BEGIN
	} . join('', map { my $call = s/\$1/long/gr; qq{
		BEGIN
			result := left(($call)::text, 20);
		EXCEPTION WHEN OTHERS THEN
			result := SQLSTATE || CASE WHEN length(SQLERRM) > 500 THEN ', and a long message' ELSE '' END;
		END;
		RETURN NEXT result;} } @texts)
	  . q{
	END $make_calls$});

my $session = session();
$session->ask($load);
my @answers = split /\n/, $session->ask('SELECT * FROM make_calls()');
is($answers[$_] // 'none', $texts{$texts[$_]}, "$texts[$_], of $megabytes MB") for 0 .. $#texts;

# Calls with long command names, requests and arrays return a result or raise one of the server's errors.
my $create = q{SELECT created FROM idgen.create_once_bigint('c2000000-0000-4000-8000-00000000000%d', 1, %s, %s)};
my $text = "repeat(repeat('a', 1048576), 100)";
like($session->ask(sprintf($create, 1, $text, 'NULL')),
	qr/^(t|53200|54000|XX000)$/, 'create_once(), 100 MB of command name');
like($session->ask(sprintf($create, 1, q{'x'}, 'NULL')), qr/^(t|23514)$/, 'and with a short name');
like($session->ask(sprintf($create, 2, q{'order'}, "to_jsonb($text)")),
	qr/^(t|53200|54000)$/, 'create_once(), 100 MB of request');
my $history = '(SELECT array_fill(idgen.uuid_v4(), ARRAY[8000000]) AS h OFFSET 0) s';
like($session->ask("SELECT idgen.has_command(h, idgen.uuid_v4()) FROM $history"),
	qr/^(f|53200|54000)$/, 'has_command(), 8 million commands');
like($session->ask("SELECT array_length(idgen.remember_command(h, idgen.uuid_v4(), $_), 1) FROM $history"),
	qr/^(20|8000001|53200|54000|XX000)$/, "remember_command() that keeps $_ of them") for 20, 2000000000;
is($session->ask(q{SELECT created FROM idgen.create_once_bigint(idgen.uuid_v4(), 1, 'order')}), 't',
	'the session continues');
$session->quit;

is(ask('SELECT pg_postmaster_start_time()'), $started, 'the server did not crash');
unlike(slurp_file($node->logfile), qr/PANIC|was terminated by signal/, 'no crash in the log');
done_testing();
