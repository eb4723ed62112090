# Perl DBI with DBD::Pg
use strict;
use warnings;

use DBI;
use FindBin;
use JSON::PP qw(encode_json);
use POSIX qw(strftime);
use lib $FindBin::Bin;
use ShortComb qw(short_comb);

my $db;

sub connect_db
{
	$db = DBI->connect("dbi:Pg:host=$ENV{PGHOST};port=$ENV{PGPORT};dbname=$ENV{PGDATABASE}", $ENV{PGUSER}, '',
		{ RaiseError => 1, PrintError => 0 });

	# Errors begin with the SQLSTATE and the name of the constraint that was violated.
	$db->{HandleError} = sub {
		my ($message) = @_;

		die join(' ', $db->state, $db->pg_error_field('constraint') // ()) . ": $message\n";
	};
}

# Insert a row with a key that the database makes, and return the key.
sub insert_note
{
	my ($table, $note) = @_;

	return $db->selectrow_array("INSERT INTO $table (note) VALUES (?) RETURNING id", {}, $note);
}

sub note_of_order
{
	my ($id) = @_;

	my ($note) = $db->selectrow_array('SELECT note FROM orders WHERE id = ?', {}, $id);
	return $note // '';
}

# Create an order once, however often the command is sent. Returns the order's id, and whether this call created it.
sub create_order
{
	my ($command_id, $note) = @_;

	$db->begin_work;
	my @creation = eval {
		my ($id, $created) = $db->selectrow_array(q{
			SELECT entity_id, created
			FROM idgen.create_once(?, idgen.keyed_comb(area => 'orders'), 'create order', ?)}, {},
			$command_id, encode_json({ note => $note }));
		$db->do('INSERT INTO orders (id, note) VALUES (?, ?)', {}, $id, $note) if $created;
		$db->commit;
		($id, $created);
	};
	if (my $error = $@)
	{
		$db->rollback;
		die $error;
	}
	return @creation;
}

# The command id is made once, and is the same in every retry.
sub create_order_until_answered
{
	while (1)
	{
		my @creation = eval { connect_db(); create_order(@_) };
		return @creation if @creation;
		die $@ if $@ !~ /^(08|40|57P|DBI connect)/;
		select undef, undef, undef, 0.1;
	}
}

# With the argument "orders": an order for each command id that it reads.
if ("@ARGV" eq 'orders')
{
	$| = 1;
	while (my $id = <STDIN>)
	{
		chomp $id;
		my ($order) = create_order_until_answered($id, $id);
		print "$order\n";
	}
	exit;
}

connect_db();
my @tasks = (
	'generator' => sub {
		open my $answers, '<', 'short_comb_vectors.csv' or die "could not open short_comb_vectors.csv: $!\n";
		chomp(my ($header, @lines) = <$answers>);
		for (@lines)
		{
			my ($period, $bytes, $ms, $random, $expected) = split /,/;
			for my $time ($ms, $ms + 0.5)
			{
				my $id = short_comb($time, pack('H*', $random), $period, $bytes);
				$id eq $expected or die "$id in place of $expected\n";
			}
		}
		short_comb() ne short_comb() or die "two short COMBs are equal\n";
	},

	'default key' => sub {
		my $id = insert_note('orders', 'one');
		note_of_order($id) eq 'one' or die "no row $id\n";
	},

	'client key' => sub {
		my $insert = $db->prepare('INSERT INTO drafts (id, note) VALUES (?, ?)');
		$insert->execute(short_comb(), 'two');
		refused('23514 drafts_id_is_recent', sub { $insert->execute(short_comb((time - 86400) * 1000), 'three') });
	},

	'create once' => sub {
		my $command_id = short_comb();
		my @first = create_order($command_id, 'four');
		my @retry = create_order($command_id, 'four');
		$first[1] && !$retry[1] or die "created at the wrong call\n";
		$first[0] eq $retry[0] or die "two ids\n";
		note_of_order($first[0]) eq 'four' or die "no order of the command\n";
		refused('23514 creation_identifiers_same_command', sub { create_order($command_id, 'five') });
	},

	'bigint keys' => sub {
		for my $table ('visits', 'clicks')
		{
			my $id = insert_note($table, 'six');
			my ($digits) = $db->selectrow_array("SELECT id::text FROM $table WHERE id = ?", {}, $id);
			$id + 0 eq $digits or die "$table: $id\n";
		}
		my $beyond_double = (1 << 53) + 1;    # 2**53 is a double
		$db->do('DELETE FROM visits WHERE id = ?', {}, $beyond_double);
		my ($id) = $db->selectrow_array('INSERT INTO visits (id) VALUES (?) RETURNING id', {}, $beyond_double);
		$id eq '9007199254740993' or die "$id\n";
	},

	'prefixed id' => sub {
		my $id = insert_note('accounts', 'seven');
		$id =~ /^acct_[0-9a-z]{25}$/ or die "$id\n";
		my $other = $id =~ s/acct/order/r;
		refused('23514 prefixed_id_check', sub { $db->do('INSERT INTO accounts (id) VALUES (?)', {}, $other) });
	},

	'range of time' => sub {
		my $id = insert_note('events', 'eight');
		my $time = sub { strftime('%Y-%m-%dT%H:%M:%SZ', gmtime(time + 3600 * shift)) };
		my $count = $db->prepare('SELECT count(*) FROM events WHERE idgen.uuid_v7_within(id, ?, ?) AND id = ?');
		$db->selectrow_array($count, {}, $time->(-1), $time->(1), $id) == 1 or die "not in its hours\n";
		$db->selectrow_array($count, {}, $time->(1), $time->(2), $id) == 0 or die "in a later hour\n";
	});

sub refused
{
	my ($violation, $statement) = @_;

	die "accepted\n" if eval { $statement->(); 1 };
	$@ =~ /^$violation: / or die $@;
}

my $failed = 0;
while (my ($name, $task) = splice @tasks, 0, 2)
{
	if (eval { $task->(); 1 })
	{
		print "ok dbi: $name\n";
		next;
	}
	print "not ok dbi: $name: ", $@ =~ s/\s+/ /gr, "\n";
	$failed = 1;
}
exit $failed;
