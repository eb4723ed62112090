# Verify the order and the timestamps of time-ordered identifiers while the server's clock steps back, stands still and
# jumps ahead.

use Config;
use FakeClock;
use Functions;
use Page;
use Server;
use Time::Local qw(timegm);

FakeClock::skip_all_without();

my $clock = FakeClock->new('stepping');
my $node = init_server('stepping');
$clock->start($node);

# These generators have a clock as their only argument. The table "made" has a column for each of them.
my @generators = map { $_->{name} } grep { $_->{kind} eq 'generator'
  && $_->{signature} =~ /^\w+\(timestamptz\)$/ } @Functions::functions;
my $columns = join ', ', @generators;
my $calls = join ', ', map { "idgen.$_()" } @generators;
ask(qq{
	CREATE EXTENSION idgen;
	CREATE TABLE made AS SELECT 1::bigint AS place, '' AS phase, now() AS clock, now() AS clock_after,
		$calls WITH NO DATA;
	ALTER TABLE made ALTER place SET NOT NULL, ALTER place ADD GENERATED ALWAYS AS IDENTITY,
		ALTER object_id TYPE text COLLATE "C", ALTER ulid TYPE text COLLATE "C";
	CREATE VIEW phase AS
		SELECT phase, min(clock) AS first_clock, max(clock_after) AS last_clock,
			min(idgen.uuid_timestamp(uuid_v7)) AS first, max(idgen.uuid_timestamp(uuid_v7)) AS last
		FROM made GROUP BY phase});

my $backend = session();
my $ids = 0;

# Insert rows that contain the next identifiers that one backend generates. Each row also contains the clock's time
# before and after the calls.
sub make
{
	my ($phase, $count) = @_;
	is($backend->ask("INSERT INTO made (phase, clock, $columns, clock_after)
		SELECT '$phase', clock_timestamp(), $calls, clock_timestamp() FROM generate_series(1, $count)"), '', $phase);
	$ids += $count;
}

make('before', 2000);
$clock->run_ahead_by(-3600);
make('back an hour', 2000);
# DISCARD ALL, which connection poolers send between clients, does not reset the order.
$backend->ask('DISCARD ALL');
make('after discard', 2000);
$clock->run_ahead_by(3600);
make('ahead an hour', 2000);
# The timestamps of 10,000 version 7 UUIDs generated at one instant span more than a millisecond.
$clock->stand_still_at(timegm(0, 0, 0, 1, 0, 2037));
make('standing still', 10000);
$clock->run_ahead_by(0);
make('back by years', 2000);

# Check that the fake clock has stepped in both directions, and that comb() has followed it.
is(ask(q{SELECT string_agg(p.phase || ' ' || round(extract(epoch FROM p.first_clock - b.last_clock) / 3600),
	', ' ORDER BY p.phase)
		FROM phase p, phase b WHERE p.phase IN ('back an hour', 'ahead an hour') AND b.phase = 'before'}),
	'ahead an hour 1, back an hour -1', 'the clock of a running backend steps by an hour');
is(ask(q{SELECT count(DISTINCT clock) FROM made WHERE phase = 'standing still'}), '1',
	'the clock of a running backend stands still');
is(ask(q{SELECT count(*) FROM made
		WHERE idgen.comb_timestamp(comb) NOT BETWEEN date_trunc('milliseconds', clock) AND clock_after}),
	'0', 'comb() contains the time of the clock');

# Generators that docs/choosing.md calls ordered "within a session" never step back. Version 1 UUIDs are converted to
# version 6, which sorts by time.
my $ordered = join "\n", map { $_->[0] } grep { ($_->[2] // '') =~ /^within a session/ }
  Page->new('choosing')->table('All keys');
my @ordered = grep { $ordered =~ /`$_\(/ } @generators;
cmp_ok(scalar @ordered, '>=', 5, 'there are generators with an order');
for my $id ('idgen.uuid_v1_to_v6(uuid_v1)', @ordered)
{
	is(ask("SELECT count(DISTINCT $id), count(*) FILTER (WHERE falls)
			FROM (SELECT *, $id <= lag($id) OVER (ORDER BY place) AS falls FROM made) m"),
		"$ids|0", "no $id is repeated, and each is greater than the one before");
}
is(ask(q{SELECT p.last - b.last < interval '2 ms' FROM phase p, phase b
		WHERE p.phase = 'after discard' AND b.phase = 'before'}),
	't', 'while the clock is behind, timestamps advance by less than a millisecond');
is(ask(q{SELECT extract(epoch FROM last - first) * 1000 FROM phase WHERE phase = 'standing still'}) + 0,
	2, '10000 identifiers at one instant advance by the milliseconds that they fill');
is(ask(q{SELECT count(*) FROM (SELECT ulid, lag(ulid) OVER (ORDER BY place) AS previous FROM made
	WHERE phase = 'standing still') s
		WHERE left(ulid, 14) <> left(previous, 14)
			OR idgen.bigint_from_base(right(ulid, 12), 32) - idgen.bigint_from_base(right(previous, 12), 32) <> 1}),
	'0', 'a ULID is the previous one plus one within a millisecond');
is(ask(q{SELECT count(*) FROM (SELECT object_id, lag(object_id) OVER (ORDER BY place) AS previous FROM made) s
		WHERE (idgen.bigint_from_base(right(object_id, 6), 16) - idgen.bigint_from_base(right(previous, 6), 16))
			& 16777215 <> 1}),
	'0', 'the counter of an ObjectId is the previous one plus one, whatever the clock does');
# UUIDs of versions 1, 6 and 13 share one counter, which advances by one tick of 100 ns for each value.
is(ask(q{SELECT extract(epoch FROM max(idgen.uuid_timestamp(uuid_v1)) - min(idgen.uuid_timestamp(uuid_v6))) * 1000000
		FROM made WHERE phase = 'standing still'}) + 0, 2999,
			'10000 rows advance versions 1, 6 and 13 by one tick for each value');

# When the clock is ahead of the last identifier, these generators follow the clock.
is(ask(q{SELECT first >= date_trunc('milliseconds', first_clock) AND last <= last_clock + interval '1 ms'
		FROM phase WHERE phase = 'ahead an hour'}), 't',
			'when the clock is ahead of the last identifier, version 7 follows it');
is(ask(q{
		SELECT count(*) FILTER (WHERE idgen.uuid_timestamp(uuid_v6) NOT BETWEEN clock
			AND clock_after + interval '1 ms'),
			count(*) FILTER (WHERE idgen.ulid_timestamp(ulid) NOT BETWEEN date_trunc('ms', clock) AND clock_after),
			bool_and(idgen.object_id_timestamp(object_id) BETWEEN date_trunc('s', clock) AND clock_after)
		FROM made WHERE phase = 'ahead an hour'}), '0|0|t', 'as do version 6, ULID and ObjectId');
is(ask(q{SELECT idgen.uuid_timestamp(id) BETWEEN date_trunc('milliseconds', before) AND after
		FROM (SELECT clock_timestamp() AS before, idgen.uuid_v7() AS id, clock_timestamp() AS after OFFSET 0) made}),
	't', 'a new backend starts at the clock');
$backend->quit;

# If time_t has 32 bits, libfaketime cannot set the years that are tested here.
SKIP:
{
	skip 'time_t has 32 bits', 6 if $Config{ptrsize} < 8;
	my $out_of_range = qr/^timestamp is out of range for the identifier/;
	# The 60-bit count of ticks since 1582 overflows in the year 5236. A backend that has seen a later time follows the
	# clock again after it is corrected.
	my $session = session();
	$clock->stand_still_at(timegm(0, 0, 0, 1, 0, 5300));
	$session->ask('SELECT idgen.uuid_v6()');
	like($session->{message}, $out_of_range, 'version 6 rejects a clock after its last tick');
	$clock->run_ahead_by(0);
	is($session->ask(q{SELECT idgen.uuid_timestamp(idgen.uuid_v6()) < clock_timestamp() + interval '1 day'}),
		't', 'a backend follows the clock after it was out of range');
	$session->quit;
	$node->stop;

	# The clock stands still at 2^32 - 2 seconds, the next-to-last value that fits into 32 bits. The test generates one
	# ObjectId more than the counter has values. The ObjectIds therefore span two seconds, regardless of the counter's
	# initial value.
	FakeClock::start_still($node, 2**32 - 2);
	$session = session();
	$session->ask(q{CREATE FUNCTION number(text) RETURNS bigint LANGUAGE sql
		RETURN idgen.bigint_from_base(left($1, 8) || right($1, 6), 16)});
	my $full = 'SELECT idgen.object_id() AS id FROM (SELECT generate_series(0, 16777216)) n';
	is($session->ask(
			qq{SELECT count, number(last) - number(first), idgen.object_id_timestamp(first),
				idgen.object_id_timestamp(last)
			FROM (SELECT count(*), min(id COLLATE "C") AS first, max(id COLLATE "C") AS last FROM ($full) m) s}),
		'16777217|16777216|2106-02-07 06:28:14+00|2106-02-07 06:28:15+00', 'a counter overflow advances the seconds');
	$session->ask("SELECT count(*) FROM ($full) m");
	like($session->{message}, $out_of_range, 'an overflow of the last second is an error');
	$session->quit;
	$node->stop;

	# Stop the clock in the second in which the 60-bit count of ticks overflows.
	FakeClock::start_still($node, int((2**60 - 122_192_928_000_000_000) / 10**7));
	$session = session();
	is($session->ask('SELECT count(*) FROM (SELECT idgen.uuid_v6() FROM generate_series(1, 6846976) OFFSET 0) s'),
		'6846976', 'version 6 has all ticks of its last second');
	is($session->ask('SELECT idgen.uuid_v6()'), '22008', 'and no other');
	$session->quit;
}
$node->stop;

my @unix = qw(uuid_v7 ulid comb object_id);
FakeClock::start_still($node, -86400);
is(outcome("SELECT idgen.$_()"), '22008', "$_() rejects a clock of 1969") for @unix;
$node->stop;
FakeClock::start_still($node, 0);
is(ask("SELECT substr(translate(idgen.$_()::text, '-', ''), 1, 8)"), '00000000', "$_() accepts 1970") for @unix;
ask(q{SELECT idgen.create_once(idgen.uuid_v4(), idgen.uuid_v4(), 'order')});
is(ask(q{SELECT idgen.purge_creations('106750000 days')}), '0', 'no command is older than the earliest timestamp');
done_testing();
