# This module runs psql clients, which repeat statements until their sessions end and then connect again. It records
# everything that the server returns to them, for two checks: no identifier was returned twice, even if its transaction
# was not committed, and each command has created one order.
#
#   my $load = Load->new($node, insert => 4, take => 2, create => 6);
#   $load->work(100);              # until each client has received that many more rows
#   $node->stop('immediate');
#   $load->lose_all;               # later identifiers are greater
#   $load->check;
#
# "insert" clients insert rows whose identifiers are unique and come from column defaults. "take" clients fetch
# identifiers in different ways. "create" clients create orders with create_once(). About five clients send each
# command, most of them at the same time. A test can add kinds of clients to %Load::scripts. The node needs
# $Tickers::settings, unless all clients are "create" clients.

package Load;
use strict;
use warnings;
use List::Util qw(max sum0);
use POSIX ();
use Server qw(append_to_file is slurp_file wait_until);
use Tickers qw(number);
use Time::HiRes qw(time usleep);

our @functions = (@Tickers::functions, 'short_comb', 'object_id');
my $take = 'SELECT ' . join(', ', map { "idgen.$_()" } @functions);

our %set_up = (
	insert => "CREATE TABLE things AS $take LIMIT 0;"
	  . join('', map { "ALTER TABLE things ALTER $_ SET DEFAULT idgen.$_(), ADD UNIQUE ($_);" } @functions),
	create => q{CREATE TABLE orders (id uuid, command uuid);
		CREATE SEQUENCE commands MINVALUE 0});

# Each kind of client has a statement, and lines that its script repeats. The statements that write rows include a
# pause, which limits the amount of data. The others do not pause, because pg_sleep() depends on the clock.
our %scripts = (
	insert => [
		'INSERT INTO things (snowflake) SELECT idgen.snowflake() FROM generate_series(1, 3), pg_sleep(0.01) RETURNING '
		  . join(', ', @functions),
		':make;' ],
	create => [
		q{WITH c AS (SELECT ('c0000000-0000-4000-8000-' || lpad(to_hex(CASE WHEN random() < 0.8 THEN nextval('commands')
					ELSE (random() * (SELECT last_value FROM commands))::bigint END / 5), 12, '0'))::uuid AS command
					FROM pg_sleep(0.002)),
				o AS (SELECT c.command, o.* FROM c, idgen.create_once(command, idgen.uuid_v7(), 'order',
					to_jsonb(command::text)) o),
				i AS (INSERT INTO orders (id, command) SELECT entity_id, command FROM o WHERE created)
			SELECT command, entity_id, created FROM o},
		':make;' ]);
my $values = ':make FROM generate_series(1, 3);';
my @ways_to_take = (
	# Execute the calls in a transaction that stays open.
	"$values\n\\if :ERROR\nROLLBACK AND CHAIN;\n\\endif",
	$values,
	# The transaction has no changes to commit, so only the tickers flush WAL.
	"BEGIN; $values SAVEPOINT s; $values ROLLBACK TO s; $values ROLLBACK;",
	':make;');

# "isolation" is a list of isolation levels, which are assigned to the clients in turn.
sub new
{
	my ($class, $node, %number_of) = @_;
	my @isolation = @{ delete $number_of{isolation} // [ 'read committed' ] };
	my $folder = PostgreSQL::Test::Utils::tempdir();
	my $self = bless { node => $node, phase => 0, folder => $folder, clients => [] }, $class;
	for my $kind (sort keys %number_of)
	{
		$node->safe_psql('postgres', $set_up{$kind} // '');
		for my $number (1 .. $number_of{$kind})
		{
			my $way = $number % @ways_to_take;
			my ($make, $repeat) = @{ $scripts{$kind} // [ $take, $ways_to_take[$way] ] };
			my $isolation = $isolation[ $number % @isolation ] =~ s/ /\\ /r;
			my $client = { kind => $kind, name => "$folder/$kind.$number", lines => 0, read => {}, make => $make,
				options => "-c default_transaction_isolation=$isolation" };
			append_to_file("$client->{name}.sql", ($kind eq 'take' && $way == 0 ? "BEGIN;\n" : '')
			  . "$repeat\n" x 5000);
			push @{ $self->{clients} }, $client;
		}
	}
	return $self;
}

# Kill a random client.
sub kill_client
{
	my ($self) = @_;
	my @processes = map { $_->{process} // () } @{ $self->{clients} };
	return @processes && kill 'KILL', $processes[ rand @processes ];
}

sub DESTROY { my ($self) = @_; $self->_kill_all }
sub _kill_all { my ($self) = @_; kill 'KILL', map { $_->{process} // () } @{ $self->{clients} } }

# Start psql for each client that has none.
sub _keep_running
{
	my ($self) = @_;
	my $connection = $self->{node}->connstr('postgres');
	for my $client (@{ $self->{clients} })
	{
		next if $client->{process} && waitpid($client->{process}, POSIX::WNOHANG) == 0;
		$client->{process} = fork // die "fork: $!";
		next if $client->{process};
		open STDOUT, '>>', "$client->{name}.rows.$self->{phase}" or POSIX::_exit(1);
		open STDERR, '>>', "$client->{name}.errors" or POSIX::_exit(1);
		@ENV{qw(PGAPPNAME PGOPTIONS)} = ('load', $client->{options});
		exec 'psql', '-XAtq', '--set=VERBOSITY=verbose', "--set=make=$client->{make}", '-f', "$client->{name}.sql",
			$connection
		  or POSIX::_exit(1);
	}
}

# Keep the clients running until a condition is true. Die if that takes longer than the given time plus the default
# timeout.
sub run_until
{
	my ($self, $condition, $seconds) = @_;
	my $deadline = time + ($seconds // 0) + $PostgreSQL::Test::Utils::timeout_default;
	until ($condition->())
	{
		die 'the load makes no progress: ' . join(', ', %{ $self->errors }) if time > $deadline;
		$self->_keep_running;
		usleep(20_000);
	}
}

# Return the complete lines of a file that have not been read yet. The last line is incomplete if psql was killed while
# writing it.
sub _new_lines
{
	my ($client, $path) = @_;
	open my $file, '<', $path or return;
	seek $file, $client->{read}{$path} // 0, 0;
	my @lines = grep { /\n\z/ } <$file>;
	$client->{read}{$path} += sum0 map { length } @lines;
	return @lines;
}

# Return the number of rows that each client of the given kind has received.
sub rows
{
	my ($self, $kind) = @_;
	my @clients = grep { $_->{kind} eq $kind } @{ $self->{clients} };
	$_->{lines} += () = _new_lines($_, "$_->{name}.rows.$self->{phase}") for @clients;
	return map { $_->{lines} } @clients;
}

# Count the errors so far by SQLSTATE. The errors of rejected connections have no SQLSTATE.
sub errors
{
	my ($self) = @_;
	my %errors;
	for my $text (map { slurp_file($_) } glob "$self->{folder}/*.errors")
	{
		$errors{$_}++ for $text =~ /(?:ERROR|FATAL):  (\w{5}): /g, $text =~ /(connection to server was lost)/g;
	}
	return \%errors;
}

# Run until each client, or each client of the given kinds, has received the given number of new rows.
sub work
{
	my ($self, $count, @kinds) = @_;
	for my $kind (@kinds ? @kinds : qw(insert take create))
	{
		my @before = $self->rows($kind);
		$self->run_until(sub { my @now = $self->rows($kind);
		return !grep { $now[$_] < $before[$_] + $count } 0 .. $#before });
	}
}

# Call this when the server stops or has stopped.
sub lose_all
{
	my ($self) = @_;
	my $all_gone = sub { !grep { $_->{process} && waitpid($_->{process}, POSIX::WNOHANG) == 0 } @{ $self->{clients} } };
	wait_until($all_gone) or die 'the sessions do not end';
	$self->rows($_) for qw(insert take create);
	delete $_->{process} for @{ $self->{clients} };
	$self->{phase}++;
}

# Terminate the clients and their sessions.
sub finish
{
	my ($self) = @_;
	$self->_kill_all;
	$self->lose_all;
	$self->{node}->poll_query_until('postgres',
		q{SELECT count(*) = 0 FROM pg_stat_activity WHERE application_name = 'load'})
	  or die 'the sessions do not end';
}

# Return the rows that each client of the given kind received in the given phase, as a list of lines for each client.
sub _outputs
{
	my ($self, $kind, $phase) = @_;
	return map { [ map { chomp; $_ } _new_lines({}, $_) ] } glob "$self->{folder}/$kind.*.rows.$phase";
}

# Check that no identifier was repeated, and that each command created one order.
sub check
{
	my ($self) = @_;
	$self->finish;
	my %kinds = map { $_->{kind} => 1 } @{ $self->{clients} };
	$self->_check_values if $kinds{insert} || $kinds{take};
	$self->_check_orders if $kinds{create};
}

sub _check_values
{
	my ($self) = @_;
	my (%seen, %before, @repeated, @fallen);
	for my $phase (0 .. $self->{phase})
	{
		my %greatest = %before;
		for my $output (map { $self->_outputs($_, $phase) } 'insert', 'take')
		{
			my %last = %before;
			for my $row (map { [ split /\|/ ] } @$output)
			{
				push @repeated,
					map { "$functions[$_]: $row->[$_]" } grep { $seen{ $functions[$_] }{ $row->[$_] }++ } 0 .. $#$row;
				for my $i (0 .. $#Tickers::functions)
				{
					my $number = number($functions[$i], $row->[$i]);
					push @fallen, "$functions[$i]: $row->[$i]" if $number <= ($last{$i} // -1);
					$last{$i} = $number;
					$greatest{$i} = max($number, $greatest{$i} // -1);
				}
			}
		}
		%before = %greatest;
	}
	is(@repeated . ' ' . ($repeated[0] // ''), '0 ', 'none of ' . keys(%{ $seen{snowflake} })
	  . ' identifiers each was returned twice');
	is(@fallen . ' ' . ($fallen[0] // ''), '0 ',
		'identifiers on a ticker exceed all before in the session or before a fault');
}

sub _check_orders
{
	my ($self) = @_;
	my $file = PostgreSQL::Test::Utils::tempdir() . '/given';
	append_to_file($file, join('', map { "$_\n" } map { @$_ } map { $self->_outputs('create', $_) }
		  0 .. $self->{phase}));
	is($self->{node}->safe_psql('postgres', qq{
			CREATE TEMP TABLE given (command uuid, id uuid, created bool);
			\\copy given FROM '$file' DELIMITER '|'
			SELECT count(DISTINCT o.id) - count(DISTINCT command), count(*) - count(o.id),
				count(*) - count(c.entity_id),
				(SELECT count(*) - count(DISTINCT command) FROM orders),
				(SELECT count(*) FROM orders) - (SELECT count(*) FROM idgen.creation_identifiers
					WHERE command_name = 'order'),
				count(*) > 2 * count(DISTINCT command)
			FROM given LEFT JOIN orders o USING (command, id)
			LEFT JOIN idgen.creation_identifiers c ON c.command_id = command AND c.entity_id = id}),
		'0|0|0|0|0|t', 'each command has made one order, the one reported to its clients');
}
1;
