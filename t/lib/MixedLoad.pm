# Many concurrent clients, which continue across server crashes: some insert rows whose identifiers are column
# defaults, some only fetch identifiers in different ways, some create orders with create_once(), where each command
# is sent up to five times by different clients, and by each of them until it is answered.
#
# All results are kept: an identifier must not be returned twice, even if its transaction did not commit; rows
# reported as committed must exist; and each command has made one order.
#
#   my $load = MixedLoad->new($node);
#   $load->work(1000);
#   $load->check;

package MixedLoad;
use strict;
use warnings;
use Client;
use HandedOut;
use List::Util qw(shuffle);
use Server qw(append_to_file is);
use Time::HiRes qw(time usleep);

# The columns of "things", which are filled by default
our @functions = (@HandedOut::functions, @Functions::independent_names);
my $columns = join(', ', @functions);
my $take = 'SELECT ' . join(', ', map { "idgen.$_()" } @functions);

# How clients fetch identifiers: how a session begins, and what it repeats
my @ways = (
	[ 'BEGIN; ', "$take FROM generate_series(1, 10)" ],
	[ '', "$take FROM generate_series(1, 50)" ],
	# no changes to commit, so that only the tickers flush WAL
	[ '', "BEGIN; $take; SAVEPOINT s; $take; ROLLBACK TO s; $take; ROLLBACK" ],
	[ '', $take ]);

# How many clients insert, take and create, and in which isolation levels. The node
# needs $HandedOut::settings, unless no client inserts or takes.
sub new
{
	my ($class, $node, %how) = @_;
	my ($inserting, $taking, $creating) = ($how{inserting} // 4, $how{taking} // 2, $how{creating} // 6);
	my $self = bless {
		node => $node, (map { $_ => 0 } qw(answers commands sends replays taken lost)),
		(map { $_ => [] } qw(clients queue repeated reported)),
		handed_out => HandedOut->new(@functions),
		isolation => $how{isolation} // ['READ COMMITTED'],
		errors => {}, entity_of => {} }, $class;

	$self->{clients} = [
		(map { { work => \&_insert } } 1 .. $inserting),
		(map { { work => \&_take, way => $ways[ $_ % @ways ], values => 0 } } 1 .. $taking),
		(map { { work => \&_create } } 1 .. $creating) ];
	$node->safe_psql('postgres', "CREATE TABLE things AS $take LIMIT 0;"
		  . join(';', map { "ALTER TABLE things ALTER $_ SET DEFAULT idgen.$_()" } @functions)) if $inserting;
	$node->safe_psql('postgres', 'CREATE TABLE orders (id uuid, command uuid, filler text DEFAULT repeat(md5(random()::text), 8))')
	  if $creating;
	return $self;
}

sub sessions { return grep { defined } map { $_->{session} } @{ $_[0]->{clients} } }

# The server stops or has stopped: read the last answers. Later identifiers exceed them.
sub lose_all
{
	my ($self) = @_;
	$self->_handle_answers($PostgreSQL::Test::Utils::timeout_default) or die 'the sessions do not end' while $self->sessions;
	$self->{handed_out}->begin_phase;
}

sub _lose { my ($self, $client) = @_; $self->{lost}++; $client->{work}->($self, $client, 'lost'); $client->{session} = undef }

# A client disconnects.
sub vanish
{
	my ($self, $session) = @_;
	$session->disconnect;
	$self->_lose(grep { ($_->{session} // 0) == $session } @{ $self->{clients} });
}

# Let the clients work until a condition holds, which takes the given time or little more;
# a client without a session connects again.
sub run_until
{
	my ($self, $until, $seconds) = @_;
	my $deadline = time + ($seconds // 0) + $PostgreSQL::Test::Utils::timeout_default;
	until ($until->())
	{
		die 'the load makes no progress: ' . join(', ', %{ $self->{errors} }) if time > $deadline;
		for my $client (grep { !$_->{session} } @{ $self->{clients} })
		{
			$client->{session} = Client->connect($self->{node}) or last;
			$client->{doing} = 'connect';
		}
		usleep(20_000) unless $self->sessions;
		$self->_handle_answers(1);
	}
}

# Run until the clients got some more answers, in total and of each kind.
sub work
{
	my ($self, $answers) = @_;
	my $counts = sub { return ($self->{answers}, scalar @{ $self->{reported} }, scalar keys %{ $self->{entity_of} }) };
	my @from = $counts->();
	$self->run_until(sub { my @to = $counts->(); $to[0] - $from[0] >= $answers && $to[1] - $from[1] >= 20 && $to[2] - $from[2] >= 5 });
}

# Wait for answers, and handle them; return their number.
sub _handle_answers
{
	my ($self, $seconds) = @_;
	my %done = map { $_ => 1 } Client::wait_for_any([ $self->sessions ], $seconds);
	$self->_handle($_) for grep { $_->{session} && $done{ $_->{session} } } @{ $self->{clients} };
	return scalar keys %done;
}

sub _handle
{
	my ($self, $client) = @_;
	my $session = $client->{session};
	$self->{errors}{ $session->{sqlstate} }++ if $session->{sqlstate};
	if ($session->{gone})
	{
		$client->{session} = undef, usleep(20_000), return if $client->{doing} eq 'connect';
		return $self->_lose($client);
	}
	$self->{answers}++ unless $session->{sqlstate};
	my $begins = $client->{doing} =~ /^(connect|recover)$/;
	$client->{work}->($self, $client, $session->{sqlstate} ? 'lost' : $begins ? 'begin' : $client->{doing});
	$self->_do($client, 'recover', 'ROLLBACK') if $session->{sqlstate};
}

sub _do { my ($self, $client, $doing, $sql) = @_; $client->{doing} = $doing; $client->{session}->send($sql) }

# Insert rows: as a statement, or in a transaction that commits or rolls back.
sub _insert
{
	my ($self, $client, $what) = @_;
	my $count = 1 + int rand 10;
	my $insert = "INSERT INTO things (snowflake) SELECT idgen.snowflake() FROM generate_series(1, $count) RETURNING $columns";
	$self->{handed_out}->see($client->{session}, $client->{session}{rows}) if $client->{doing} =~ /insert/;
	$client->{rows} = undef, return if $what eq 'lost';
	$client->{rows} = [ map { $_->[0] } @{ $client->{session}{rows} } ] if $what =~ /^insert/;
	return $self->_do($client, rand() < 0.3 ? ('roll back', 'ROLLBACK') : ('commit', 'COMMIT')) if $what eq 'insert in a transaction';
	push @{ $self->{reported} }, @{ $client->{rows} } if $what eq 'insert' || $what eq 'commit';
	$client->{rows} = undef;
	return if $self->{ending};
	$self->_do($client, rand() < 0.5 ? ('insert', $insert) : ('insert in a transaction', "BEGIN; $insert"));
}

# Fetch identifiers that are not stored.
sub _take
{
	my ($self, $client, $what) = @_;
	my ($begin, $statement) = @{ $client->{way} };
	if ($client->{doing} eq 'take')
	{
		my $rows = $client->{session}{rows};
		$self->{handed_out}->see($client->{session}, $rows);
		$_ += $what eq 'take' ? @$rows : 0 for $self->{taken}, $client->{values};
	}
	return if $what eq 'lost' || $self->{ending};
	$self->_do($client, 'take', $what eq 'begin' ? "$begin$statement" : $statement);
}

# Run until each client that only fetches identifiers has got some more.
sub take_more
{
	my ($self) = @_;
	my %enough = map { $_ => $_->{values} + 50 } grep { $_->{way} } @{ $self->{clients} };
	$self->run_until(sub { !grep { $_->{way} && $_->{values} < $enough{$_} } @{ $self->{clients} } });
}

# Repeat a command until it is answered. The order is made by the same statement or by the next one.
sub _create
{
	my ($self, $client, $what) = @_;
	my $session = $client->{session};
	return if $what eq 'lost';
	$client->{answer} = $session->{rows}[0] if $what =~ /^create/;
	my ($id, $created) = @{ $client->{answer} // [] };
	if ($what eq 'create in a transaction')
	{
		return $self->_do($client, 'finish',
			$created eq 't' ? "INSERT INTO orders (id, command) VALUES ('$id', '$client->{command}'); COMMIT" : 'COMMIT');
	}
	if ($what eq 'create' || $what eq 'finish')
	{
		my $known = $self->{entity_of}{ $client->{command} } //= $id;
		$self->{replays}++ if $created eq 'f';
		push @{ $self->{repeated} }, "command $client->{command}: $known, then $id" if $known ne $id;
		$client->{command} = undef;
	}

	# new commands, each as often as it will be sent
	push @{ $self->{queue} },
	  shuffle(map { (sprintf('c0000000-0000-4000-8000-%012x', ++$self->{commands})) x (1 + int rand 5) } 1 .. 100)
	  if @{ $self->{queue} } < 200 && !$self->{ending};
	defined($client->{command} //= shift @{ $self->{queue} }) or return;
	$self->{sends}++;
	my $create = "idgen.create_once('$client->{command}', idgen.uuid_v7(), 'order', '{\"number\": \"$client->{command}\"}')";
	my $begin = "BEGIN ISOLATION LEVEL $self->{isolation}[ rand @{ $self->{isolation} } ]";
	$self->_do($client, rand() < 0.5 ? ('create in a transaction', "$begin; SELECT * FROM $create") : ('create',
			"WITH o AS (SELECT * FROM $create),
			 i AS (INSERT INTO orders (id, command) SELECT entity_id, '$client->{command}' FROM o WHERE created)
			 SELECT entity_id, created FROM o"));
}

# Let each client finish, until it continues: all commands are answered.
sub finish
{
	my ($self) = @_;
	$self->{ending} = 1;
	$self->run_until(sub { !grep { !$_->{session} || $_->{session}->is_busy } @{ $self->{clients} } });
	(delete $_->{session})->quit for @{ $self->{clients} };
	$self->{handed_out}->begin_phase;
	$self->{ending} = 0;
}

# A query with a temporary table "given"
sub _with
{
	my ($self, $columns, $lines, $query) = @_;
	my $file = PostgreSQL::Test::Utils::tempdir() . '/given';
	append_to_file($file, join('', map { "$_\n" } @$lines));
	return $self->{node}->safe_psql('postgres', "CREATE TEMP TABLE given ($columns);\n\\copy given FROM '$file'\n$query");
}

# Check that nothing was repeated, nothing reported as committed is lost, and each command made one order.
sub check
{
	my ($self) = @_;
	$self->finish;
	HandedOut::none($self->{repeated}, 'no command got two entities');
	$self->{handed_out}->check;
	$self->_check_things if grep { $_->{work} == \&_insert } @{ $self->{clients} };

	my @answers = map { "$_\t$self->{entity_of}{$_}" } keys %{ $self->{entity_of} };
	is($self->_with('command uuid, id uuid', \@answers, q{
			SELECT count(*), count(o.id), count(DISTINCT o.id), count(c.entity_id), (SELECT count(*) FROM orders),
				   (SELECT count(*) FROM idgen.creation_identifiers)
			FROM given a LEFT JOIN orders o USING (command, id)
			LEFT JOIN idgen.creation_identifiers c ON c.command_id = a.command AND c.entity_id = a.id}),
		join('|', ($self->{commands}) x 6), 'each command has made one order, the one reported to its client');
}

sub _check_things
{
	my ($self) = @_;
	is($self->{node}->safe_psql('postgres', "SELECT count(*) - count(DISTINCT $_) FROM things"),
		'0', "$_: none is in the table twice, of " . $self->{handed_out}->count($_) . ' that were seen') for @functions;
	my $reported = @{ $self->{reported} };
	is($self->_with('snowflake bigint', $self->{reported}, 'SELECT count(*) FROM given JOIN things USING (snowflake)'),
		$reported, "$reported rows are there");
}

sub figures
{
	my ($self) = @_;
	return sprintf('%d rows of %d identifiers seen, %d repeated; %d rows reported; %d commands sent %d times, '
		  . '%d answered as replays; %d sessions lost',
		$self->{handed_out}->count('snowflake'), scalar @functions, scalar @{ $self->{handed_out}{repeated} }, scalar @{ $self->{reported} },
		$self->{commands}, $self->{sends}, $self->{replays}, $self->{lost});
}
1;
