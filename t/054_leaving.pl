# Verify that a database in use can begin and stop using idgen as described in docs/migrating.md and docs/upgrade.md.
# Meanwhile, two sessions insert into all tables, and none of their transactions fails. Stored data must not change.

use Page;
use Server;

my $node = start_server('leaving', 'idgen.node_id = 1');
ask(q{
	CREATE TABLE drafts (
		id uuid PRIMARY KEY DEFAULT idgen.uuid_v7(),
		created_at timestamptz GENERATED ALWAYS AS (idgen.uuid_timestamp(id)) STORED);
	CREATE TRIGGER drafts_id_is_recent BEFORE INSERT OR UPDATE OF id ON drafts
		FOR EACH ROW EXECUTE FUNCTION idgen.check_recent_id('id', 'uuid_v7', 'tolerance=10 minutes');
	CREATE TABLE events (id bigserial PRIMARY KEY);
	SELECT idgen.create_id_domain('account_id', 'acct');
	CREATE TABLE accounts (
		id account_id PRIMARY KEY DEFAULT idgen.prefixed_id_from_uuid('acct', idgen.keyed_comb('accounts')));
	CREATE TABLE parts (id uuid) PARTITION BY RANGE (id);
	CREATE TABLE parts_2 PARTITION OF parts FOR VALUES
		FROM (idgen.uuid_v7_floor('2020-01-01 00:00:00+00')) TO (MAXVALUE);
	SELECT idgen.create_once(idgen.uuid_v4(), idgen.uuid_v7(), 'draft');

	-- Repeat a transaction until the table "go" is empty.
	CREATE TABLE go AS SELECT true;
	CREATE PROCEDURE insert_all() LANGUAGE plpgsql AS $$
	BEGIN
		WHILE EXISTS (SELECT FROM go) LOOP
			INSERT INTO drafts DEFAULT VALUES;
			INSERT INTO events DEFAULT VALUES;
			INSERT INTO accounts DEFAULT VALUES;
			INSERT INTO parts VALUES ('ffffffff-0000-4000-8000-000000000000');
			COMMIT;
		END LOOP;
	END $$});

# Do this before the clients start, because DROP EXTENSION locks all tables that use the extension and could deadlock
# with the clients.
like(errors('DROP EXTENSION idgen'),
	qr/ERROR:  2BP01.*default value for column id of table drafts.*trigger drafts_id_is_recent on table drafts/s,
	'DROP EXTENSION names what uses it');

my @clients = map { session() } 1 .. 2;
$_->send('CALL insert_all()') for @clients;

# Wait until both clients have inserted more rows.
my $inserting = q{SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND query LIKE 'CALL insert_all%'};
sub let_insert
{
	my ($name) = @_;
	my $rows = 200 + ask('SELECT count(*) FROM drafts');
	wait_until(sub { ask('SELECT count(*) FROM drafts') > $rows || ask($inserting) < 2 });
	is(ask($inserting), '2', "$name: the clients insert");
}

# --- The way in ---------------------------------------------------------------------------
# A transaction that has read the table blocks ALTER TABLE. Without the page's timeout, the clients would wait, too.
my $migrating = Page->new('migrating');
my ($timeout) = $migrating->prose('Changing the keys of a table in use') =~ /`(SET lock_timeout = .*?)`/;
my ($change) = ($migrating->blocks('From bigserial or identity'))[0] =~ /^(BEGIN;.*?COMMIT;)/ms;
$change =~ s/invoices/events/g;
my ($reading, $changing) = map { session() } 1 .. 2;
$reading->ask('BEGIN; SELECT count(*) FROM drafts; SELECT count(*) FROM events');
is($changing->ask($timeout), '', $timeout);
is($changing->ask($_), '55P03', "behind a reader, it gives up: $_")
  for 'ALTER TABLE drafts ALTER id SET DEFAULT idgen.uuid_v7()', $change =~ s/;.*?\K;.*/;/sr;
is($changing->ask('ROLLBACK'), '', '... and is rolled back');
let_insert('beside a reader');
$reading->ask('COMMIT');
my $changed;
wait_until(sub {
		$changed = $changing->ask($change);
		$changing->ask('ROLLBACK') if $changed eq '55P03';
		return $changed ne '55P03' });
is($changed, 't', 'when repeated, it succeeds');
cmp_ok(ask('INSERT INTO events DEFAULT VALUES RETURNING id'), '>', 1e15, '... and new keys are snowflakes');
$_->quit for $reading, $changing;

# --- The way out --------------------------------------------------------------------------
my $leaving = session();
my ($block, $drop) = map { s/ *--.*//gmr } Page->new('upgrade')->blocks('Leaving');
let_insert('before');
for my $statement ("$block$drop" =~ /(BEGIN;.*?COMMIT;|[^;]+;)\n/gs)
{
	my $result;
	# Repeat a statement that ended with a lock timeout.
	wait_until(sub {
			$result = $leaving->ask($statement);
			$leaving->ask('ROLLBACK') if $result eq '55P03';
			return $result ne '55P03' });
	is($leaving->{sqlstate}, undef, $statement) or diag($leaving->{errors});
	let_insert($statement);
}
ask('DELETE FROM go');
is($_->answer, '', 'no transaction of a client failed') for @clients;

is(ask(q{SELECT count(*) FROM pg_extension WHERE extname = 'idgen'}), '0', 'the extension is gone');
is(ask('SELECT count(*) FROM recorded_commands'), '1', '... the recorded commands are kept');
is(ask('SELECT count(*) FROM drafts WHERE created_at IS NULL'), '0', 'generated values stay, and new rows have one');
is(ask(q{SELECT min(length(id)) || ' ' || max(length(id)) FROM accounts WHERE id LIKE 'acct\_%'}), '30 37',
	'... and new accounts have longer ids');
is(ask('SELECT last_value = (SELECT max(id) FROM events) FROM events_id_seq'), 't',
	'the sequence has continued above the numbers of before');
is(ask(q{INSERT INTO drafts VALUES (gen_random_uuid()) RETURNING 1; SELECT 'anything'::account_id}), "1\nanything",
	'without the trigger and the constraint, any key is accepted');
$_->quit for @clients, $leaving;

done_testing();
