# INSERTs that a client repeats, with its own key, with an idempotency key in the row,
# and the alternatives of docs/recipes.md; PostgreSQL 19's ON CONFLICT DO SELECT.

use FindBin;
use lib "$FindBin::RealBin/lib";
use Recipe;
use Server;

my $recipe = Recipe->new('repeated_inserts');
my $heading = 'A client that repeats its INSERT';

{
	my $old = '017f22e2-79b0-7cc3-98c4-dc0c0c07398f';
	my $create = $recipe->prepared($heading);

	$recipe->paste($heading);
	my $id = $recipe->query('SELECT idgen.uuid_v7()');
	is($recipe->outcome("$create EXECUTE create_report('$id', 'one'); EXECUTE create_report('$id', 'two'); SELECT body FROM reports"), 'one', 'a repeated INSERT changes nothing');
	is($recipe->outcome("$create EXECUTE create_report('$old', 'late')"), '23514 check_id', 'a late repetition of what was rolled back is refused');
	$recipe->query("ALTER TABLE reports DISABLE TRIGGER check_id; INSERT INTO reports VALUES ('$old', 'then'); ALTER TABLE reports ENABLE TRIGGER check_id");
	is($recipe->outcome("$create EXECUTE create_report('$old', 'late')"), '', 'a late repetition of what was committed succeeds');
	is($recipe->query("SELECT body FROM reports WHERE id = '$old'"), 'then', 'and changes nothing');
}

my $control = $recipe->session;

SKIP:
{
	skip 'ON CONFLICT DO SELECT is there from PostgreSQL 19 on', 8 if $recipe->query('SHOW server_version_num') < 190000;
	my ($find_or_create) = $recipe->page->blocks($heading, 'text');
	my ($one, $two) = map { $recipe->session } 1 .. 2;
	my $id = $recipe->query('SELECT idgen.uuid_v7()');

	$_->ask($find_or_create) for $one, $two;
	$one->ask('BEGIN');
	is($one->ask("EXECUTE find_or_create_report('$id', 'mine')"), 't', 'DO SELECT: the first one creates the row');
	$two->send("EXECUTE find_or_create_report('$id', 'other')");
	ok($control->poll_waiting($two), 'the second one waits');
	$one->ask('COMMIT');
	is($two->answer, 'f', 'and is told that the row is another');
	is($two->ask("EXECUTE find_or_create_report('$id', 'mine')"), 't', 'a repetition is told that it is its own');
	is($recipe->query("SELECT body FROM reports WHERE id = '$id'"), 'mine', 'which is not changed');

	$two->ask('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM reports');
	my $unseen = $recipe->query('SELECT idgen.uuid_v7()');
	$one->ask("EXECUTE find_or_create_report('$unseen', 'mine')");
	is($two->ask("EXECUTE find_or_create_report('$unseen', 'mine')"), '40001', 'REPEATABLE READ: a row that is not visible is 40001');
	$two->ask('ROLLBACK');

	$recipe->query('CREATE ROLE writer; GRANT INSERT ON reports TO writer');
	is($recipe->outcome("SET ROLE writer; $find_or_create EXECUTE find_or_create_report('$id', 'mine')"), '42501', 'it requires SELECT');
	$recipe->query('GRANT SELECT ON reports TO writer');
	is($recipe->outcome("SET ROLE writer; $find_or_create EXECUTE find_or_create_report('$id', 'mine')"), 't', 'which suffices');
	$_->quit for $one, $two;
}

# --- An idempotency key in the row --------------------------------------------

{
	my $tenant = '5ca1ab1e-0000-4000-8000-000000000001';
	my $other = '5ca1ab1e-0000-4000-8000-000000000002';
	my ($one, $two) = map { $recipe->session } 1 .. 2;
	$_->ask($_->{prepared} = $recipe->prepared($heading)) for $one, $two;

	$one->ask('BEGIN');
	my $id = $one->ask("EXECUTE refund('$tenant', 'a', 100)");
	$two->send("EXECUTE refund('$tenant', 'a', 100)");
	ok($control->poll_waiting($two), 'a concurrent repetition waits');
	$one->ask('COMMIT');
	is($two->answer, $id, 'and gets the first row');
	is($one->ask("EXECUTE refund('$tenant', 'a', 7)"), $id, 'a repetition with another amount gets the first one');
	isnt($one->ask("EXECUTE refund('$other', 'a', 100)"), $id, "another tenant's is another row");
	is($recipe->query('SELECT count(*), count(DISTINCT id) FROM refunds'), '2|2', 'two rows');
	$_->quit for $one, $two;
}

# --- Optimistic locking, abandoned drafts ---------------------------------------

{
	my $prepared = $recipe->prepared($heading);
	my $id = $recipe->query('INSERT INTO drafts DEFAULT VALUES RETURNING id');
	my $confirm = "$prepared EXECUTE confirm_draft('$id', 1); SELECT version, confirmed FROM drafts WHERE id = '$id'";

	is($recipe->outcome($confirm), '2|t', 'a confirmed draft has its second version') for 1 .. 2;
	$recipe->query(q{INSERT INTO drafts SELECT idgen.uuid_v7(now() - i * interval '25 minutes') FROM generate_series(0, 9) i});
	$recipe->outcome("$prepared EXECUTE delete_abandoned_drafts('1 hour')");
	is($recipe->query('SELECT count(*) FILTER (WHERE confirmed), count(*) FILTER (WHERE NOT confirmed) FROM drafts'), '1|3', 'old drafts are deleted, confirmed ones are not');
}

done_testing();
