# Generators whose values are ordered by time, while the server's clock steps
# back, stands still and jumps ahead.

use Config;
use FakeClock;
use Server;
use Time::Local qw(timegm);

FakeClock::skip_all_without();

my $clock = FakeClock->new('stepping');
my $node = init_server('stepping');
$clock->start($node);

ask(q{
	CREATE EXTENSION idgen;
	CREATE TABLE made (
		place bigint GENERATED ALWAYS AS IDENTITY,
		phase text,
		clock timestamptz,
		v7 uuid,
		v6 uuid,
		lambert uuid,
		v1 uuid,
		object_id text COLLATE "C",
		comb uuid,
		ulid text COLLATE "C",
		clock_after timestamptz);
	CREATE VIEW phase AS
		SELECT phase, count(*) AS ids,
			min(clock) AS first_clock, max(clock_after) AS last_clock,
			min(idgen.uuid_timestamp(v7)) AS first, max(idgen.uuid_timestamp(v7)) AS last
		FROM made GROUP BY phase});

my $backend = $node->background_psql('postgres');
my $ids = 0;

# Insert rows with the next identifiers of one backend, in the order of calls,
# each row between two readings of the clock.
sub make
{
	my ($phase, $count) = @_;

	$backend->query_safe(
		"INSERT INTO made (phase, clock, v7, v6, lambert, v1, object_id, comb, ulid, clock_after)
		 SELECT '$phase', clock_timestamp(), idgen.uuid_v7(), idgen.uuid_v6(), idgen.lambert_comb(), idgen.uuid_v1(), idgen.object_id(), idgen.comb(),
				idgen.ulid(), clock_timestamp()
		 FROM generate_series(1, $count)");
	$ids += $count;
}

make('before', 2000);

$clock->run_ahead_by(-3600);
make('back an hour', 2000);

# The commands that a connection pooler sends between two clients keep the order.
$backend->query_safe('DISCARD ALL');
make('after discard', 2000);

$clock->run_ahead_by(3600);
make('ahead an hour', 2000);

# 10000 values at one instant exceed one millisecond of version 7
$clock->stand_still_at(timegm(0, 0, 0, 1, 0, 2037));
make('standing still', 10000);

$clock->run_ahead_by(0);
make('back by years', 2000);

# The fake clock did step, and idgen reads it: comb() follows it in both
# directions.
is( ask(q{SELECT string_agg(p.phase || ' ' || round(extract(epoch FROM p.first_clock - b.last_clock) / 3600), ', ' ORDER BY p.phase)
		  FROM phase p, phase b
		  WHERE p.phase IN ('back an hour', 'ahead an hour') AND b.phase = 'before'}),
	'ahead an hour 1, back an hour -1',
	'the clock of a running backend steps by an hour');
is( ask(q{SELECT count(DISTINCT clock) FROM made WHERE phase = 'standing still'}),
	'1', 'the clock of a running backend stands still');
is( ask(q{SELECT count(*) FROM made
		  WHERE idgen.comb_timestamp(comb) NOT BETWEEN date_trunc('milliseconds', clock) AND clock_after}),
	'0', 'comb() contains the time of the clock');

# The others do not follow it back. Version 1 counts the same ticks as version 6.
for my $id ('v7', 'v6', 'lambert', 'idgen.uuid_v1_to_v6(v1)', 'object_id', 'ulid')
{
	is(ask("SELECT count(DISTINCT $id) FROM made"), $ids, "no $id is repeated");
	is( ask("SELECT phase, place FROM
				(SELECT phase, place, $id <= lag($id) OVER (ORDER BY place) AS falls FROM made) m
			  WHERE falls ORDER BY place LIMIT 1"),
		'', "each $id is greater than the one before");
}

# While the clock is behind, each identifier advances by 1/4096 of a millisecond.
is( ask(q{SELECT p.last - b.last < interval '2 ms' FROM phase p, phase b
		  WHERE p.phase = 'after discard' AND b.phase = 'before'}),
	't', 'while the clock is behind, timestamps advance by less than a millisecond');
is( ask(q{SELECT extract(epoch FROM last - first) * 1000 FROM phase WHERE phase = 'standing still'})
	  + 0,
	2, '10000 identifiers at one instant advance by the milliseconds that they fill');

# Within a millisecond, a ULID is the previous one plus one.
is( ask(q{SELECT count(*) FROM (SELECT ulid, lag(ulid) OVER (ORDER BY place) AS previous FROM made WHERE phase = 'standing still') s
		  WHERE left(ulid, 14) <> left(previous, 14)
			 OR idgen.bigint_from_base(right(ulid, 12), 32) - idgen.bigint_from_base(right(previous, 12), 32) <> 1}),
	'0', 'a ULID is the previous one plus one within a millisecond');

# Versions 6, 1 and 13 share one counter of 100 ns ticks: three for each row.
is( ask(q{SELECT extract(epoch FROM max(idgen.uuid_timestamp(v1)) - min(idgen.uuid_timestamp(v6))) * 1000000
		  FROM made WHERE phase = 'standing still'})
	  + 0,
	2999, '10000 rows advance versions 1, 6 and 13 by one tick for each value');

# When the clock is ahead of the last identifier, they follow it.
is( ask(q{SELECT first >= date_trunc('milliseconds', first_clock)
			AND last <= last_clock + interval '1 ms'
		  FROM phase WHERE phase = 'ahead an hour'}),
	't', 'when the clock is ahead of the last identifier, version 7 follows it');
is( ask(q{
		SELECT count(*) FILTER (WHERE idgen.uuid_timestamp(v6) NOT BETWEEN clock AND clock_after + interval '1 ms'),
			count(*) FILTER (WHERE idgen.ulid_timestamp(ulid) NOT BETWEEN date_trunc('ms', clock) AND clock_after),
			bool_and(idgen.object_id_timestamp(object_id) BETWEEN date_trunc('s', clock) AND clock_after)
		FROM made WHERE phase = 'ahead an hour'}),
	'0|0|t', 'as do version 6, ULID and ObjectId');

# The order is kept for each backend: a new one starts at the clock.
is( ask(q{SELECT idgen.uuid_timestamp(id) BETWEEN date_trunc('milliseconds', before) AND after
		  FROM (SELECT clock_timestamp() AS before, idgen.uuid_v7() AS id, clock_timestamp() AS after OFFSET 0) made}),
	't', 'a new backend starts at the clock');

$backend->quit;

# On a machine whose time_t has 32 bits, libfaketime cannot reach these years.
SKIP:
{
	skip 'time_t has 32 bits', 6 if $Config{ptrsize} < 8;

	# 60 bits of ticks since 1582 end in 5236. A backend that saw a later clock follows
	# the corrected one again.
	$backend = $node->background_psql('postgres', on_error_stop => 0);
	$clock->stand_still_at(timegm(0, 0, 0, 1, 0, 5300));
	$backend->query('SELECT idgen.uuid_v6()');
	like($backend->{stderr}, qr/timestamp is out of range for the identifier/, 'version 6 rejects a clock after its last tick');
	$clock->run_ahead_by(0);
	is( $backend->query(q{SELECT idgen.uuid_timestamp(idgen.uuid_v6()) < clock_timestamp() + interval '1 day'}),
		't', 'a backend follows the clock after it was out of range');
	$backend->quit;
	$node->stop;

	# The last second but one that 32 bits can hold. One ObjectId more than the counter
	# has values takes two seconds, whatever value the counter begins with.
	FakeClock::start_still($node, 2**32 - 2);
	$backend = $node->background_psql('postgres', on_error_stop => 0);
	$backend->query(
		q{CREATE FUNCTION number(text) RETURNS bigint LANGUAGE sql
			RETURN idgen.bigint_from_base(left($1, 8) || right($1, 6), 16)});
	my $full = 'SELECT idgen.object_id() AS id FROM (SELECT generate_series(0, 16777216)) n';
	is( $backend->query(
			qq{SELECT count, number(last) - number(first), idgen.object_id_timestamp(first), idgen.object_id_timestamp(last)
			   FROM (SELECT count(*), min(id COLLATE "C") AS first, max(id COLLATE "C") AS last FROM ($full) m) s}),
		'16777217|16777216|2106-02-07 06:28:14+00|2106-02-07 06:28:15+00',
		'a counter overflow advances the seconds');
	$backend->query("SELECT count(*) FROM ($full) m");
	like($backend->{stderr}, qr/timestamp is out of range for the identifier/, 'an overflow of the last second is an error');
	$backend->quit;
	$node->stop;

	# the second in which the ticks end
	FakeClock::start_still($node, int((2**60 - 122_192_928_000_000_000) / 10**7));
	my $session = session();
	is($session->ask('SELECT count(*) FROM (SELECT idgen.uuid_v6() FROM generate_series(1, 6846976) OFFSET 0) s'),
		'6846976', 'version 6 has all ticks of its last second');
	is($session->ask('SELECT idgen.uuid_v6()'), '22008', 'and no other');
	$session->quit;
}
$node->stop;

# A clock before 1970, which no identifier with Unix milliseconds can contain
FakeClock::start_still($node, -86400);
like(errors("SELECT idgen.$_()"), qr/ERROR:  22008: timestamp is out of range /, "$_() rejects 1969")
  for qw(uuid_v7 ulid comb object_id);
$node->stop;
FakeClock::start_still($node, 0);
is(ask("SELECT substr(translate(idgen.$_()::text, '-', ''), 1, 8)"), '00000000', "$_() accepts 1970") for qw(uuid_v7 ulid comb object_id);
done_testing();
