# 64 clients send creation commands, each command one to five times from different clients, while sessions are
# terminated and cancelled and clients disconnect, all at random. A client without an answer sends the command again.
# In the end each command has made exactly one order, and all its senders got that order.
#
# IDGEN_LOAD_SECONDS: duration, 15 seconds by default; the test runs longer until
# there were enough faults. contrib/portable/t/002_portable_load.pl runs it with the portable edition.

use MixedLoad;
use Server;
use Time::HiRes qw(time);

my $seconds = $ENV{IDGEN_LOAD_SECONDS} || 15;

my $node = init_server('shop', "max_connections = 200\ndeadlock_timeout = 100ms\nlog_statement = none\n"
	  . "log_min_messages = panic\nlog_min_error_statement = panic");
$node->start;
ask($ENV{IDGEN_PORTABLE} ? join('', map { slurp_file("contrib/portable/$_.sql") } qw(uuids create_once)) : 'CREATE EXTENSION idgen');

my @isolation = (('READ COMMITTED') x 4, 'REPEATABLE READ', 'SERIALIZABLE');
my $load = MixedLoad->new($node, inserting => 0, taking => 0, creating => 64, isolation => \@isolation);
my $control = session();
my %count = map { $_ => 0 } qw(terminated cancelled vanished);

# Every few milliseconds, a fault for a random busy client
sub accident
{
	my @busy = grep { $_->is_busy && $_->{pid} } $load->sessions or return;
	my $session = $busy[ rand @busy ];
	my $what = (sort keys %count)[ rand 3 ];
	if ($what eq 'vanished') { $load->vanish($session) }
	else
	{
		my $function = $what eq 'terminated' ? 'pg_terminate_backend' : 'pg_cancel_backend';
		return if $control->ask("SELECT $function($session->{pid})") ne 't';
	}
	$count{$what}++;
}

my $end = time + $seconds;
my $next_accident = time;
my $enough = sub {
	accident(), $next_accident = time + rand 0.02 if time >= $next_accident;
	return time >= $end && $load->{replays} > 10 && !grep { $_ <= 10 } values %count;
};
$load->run_until($enough, $seconds);
$load->check;
is(join(' ', grep { !/^(40001|40P01|57014|57P01)$/ } sort keys %{ $load->{errors} }), '', 'all errors can be retried');
cmp_ok($count{$_}, '>', 10, "$_: $count{$_}") for sort keys %count;
cmp_ok($load->{replays}, '>', 10, 'and commands were repeated');
diag("figures: 64 clients, $seconds seconds: " . join(', ', map { "$count{$_} $_" } sort keys %count) . '; ' . $load->figures);
done_testing();
