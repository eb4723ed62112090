# docs/recipes.md, "Tests, fixtures, imports, offline clients": what check_recent_id()
# refuses, and the ways past it: a loading role, triggers that are disabled (restores of
# data: 042_restore.pl), a given clock, and a window of days.

use Page;
use Server;

my $page = Page->new('recipes');
start_server('shop', 'log_statement = none');
my $title = 'Tests, fixtures, imports, offline clients';

ask(join "\n", $page->blocks('A client that repeats its INSERT'));
ask(join "\n", $page->blocks($title));
ask('CREATE ROLE app; GRANT INSERT ON reports, visits TO app; GRANT loader TO app');

sub insert
{
	my ($role, $table, $id) = @_;
	return outcome("SET ROLE $role; INSERT INTO $table VALUES ($id, 'a row')") || 'stored';
}
my $fixture = q{idgen.uuid_v5('6ba7b810-9dad-11d1-80b4-00c04fd430c8', 'orders.one')};
my $old = q{idgen.uuid_v7('2001-01-01 00:00:00+00')};
is(insert('app', 'reports', $fixture), '23514', 'the name-based key of a fixture is refused');
is(insert('app', 'reports', $old), '23514', 'so is a key of a clock that a test has set');
is(insert('loader', 'reports', $fixture), 'stored', 'the loading role stores fixtures');
is(insert('loader', 'reports', $old), 'stored', '... and old keys');
is(insert('app', 'reports', 'idgen.uuid_v7()'), 'stored', 'the application stores new keys');
is(outcome("SELECT idgen.check_recent_uuid_v7($old, clock => '2001-01-01 00:05:00+00') IS NOT NULL"), 't',
	'a late batch is checked against its own time');

ask('ALTER TABLE reports DISABLE TRIGGER check_id');
is(insert('app', 'reports', q{idgen.uuid_v5('6ba7b810-9dad-11d1-80b4-00c04fd430c8', 'orders.two')}), 'stored',
	'so are fixtures while the trigger is disabled');

# clients that were offline
my $days_ago = q{idgen.short_comb(clock => now() - interval '%s')};
is(insert('app', 'visits', sprintf $days_ago, '2 days 23 hours'), 'stored', 'a key of three days ago is stored');
is(insert('app', 'visits', sprintf $days_ago, '3 days 2 minutes'), '23514', 'an older one is refused');
is(insert('app', 'visits', q{idgen.short_comb(clock => now() + interval '10 minutes')}), '23514', '... as is one of the future');
my ($share) = $page->section($title) =~ /that ([\d,]+) of the 65,536 prefixes pass/;
is(ask(q{
	SELECT count(*) FROM generate_series(0, 65535) prefix
	WHERE idgen.is_recent_short_comb((lpad(to_hex(prefix), 4, '0') || '000000004000' || '8000000000000000')::uuid,
		past_tolerance => '3 days', future_tolerance => '5 minutes', clock => '2026-11-20 03:44:30+00')}),
	$share =~ s/,//r, 'as many prefixes pass as the page says');

# a key that is not unique alone
ask(q{CREATE TABLE notes (tenant int, id uuid, PRIMARY KEY (tenant, id));
	CREATE TRIGGER check_id BEFORE INSERT ON notes FOR EACH ROW EXECUTE FUNCTION idgen.check_recent_id('id', 'uuid_v7')});
my $without = 'The table has no unique index on the column alone';
like(errors("INSERT INTO notes VALUES (1, $old)"), qr/DETAIL: .*$without/, 'the error says that a repetition is refused, too');
ask('ALTER TABLE notes ADD UNIQUE (id)');
unlike(errors("INSERT INTO notes VALUES (1, $old)"), qr/$without/, '... and with a unique index, not');
done_testing();
