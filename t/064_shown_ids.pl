# A table stores one key and shows another: a uuid shown as a prefixed id, and a bigint
# beside a uuid, with the sizes that docs/recipes.md names; malformed ids in conditions.

use FindBin;
use lib "$FindBin::RealBin/lib";
use Recipe;
use Server;

my $recipe = Recipe->new('shown_ids');

{
	my $heading = 'Store a uuid, show a prefixed id';
	my $id = 'cust_03cu7ltbh43kmxopehhx215t7';

	my ($stdout) = $recipe->paste($heading, 0);
	is($stdout, "$id|one", 'a row is found by its text');
	$recipe->query(q{INSERT INTO customers (name) SELECT 'other' FROM generate_series(1, 1000); ANALYZE customers});
	for my $mode (qw(force_custom_plan force_generic_plan))
	{
		like($recipe->plan_of($heading, "$_('$id')", "plan_cache_mode = $mode"), qr/Index Scan using customers_pkey/, "$_ uses the index ($mode)")
		  for qw(find_customer find_customer_or_none);
	}
	like($recipe->query("EXPLAIN (COSTS OFF) SELECT FROM shown_customers WHERE public_id = '$id'"),
		qr/^Seq Scan on customers/, 'a condition on the shown column reads the table');
	($stdout) = $recipe->paste($heading, 1);
	is($stdout, 'one', 'a row is found by the generated column');
	$recipe->query('ANALYZE customers');
	like($recipe->query("EXPLAIN (COSTS OFF) SELECT FROM customers WHERE shown_id = '$id'"),
		qr/customers_shown_id_key/, 'with its index');
	is($recipe->outcome(q{CREATE TABLE shown (id uuid, shown text GENERATED ALWAYS AS (idgen.prefixed_id('cust', id)) VIRTUAL)}),
		$recipe->query('SHOW server_version_num') >= 180000 ? '0A000' : '42601', 'a virtual column cannot call the function');

	# Malformed ids
	$recipe->query(q{SELECT idgen.create_id_domain('customer_id', 'cust'); CREATE TABLE told (id customer_id PRIMARY KEY, number bigint)});
	for (
		[ 'customers', q{id = 'cust_-'} => '22P02' ],
		[ 'told', q{number = 'cust_-'} => '22P02' ],
		[ 'customers', q{id = idgen.prefixed_id_to_uuid('cust_-', 'cust')} => '22P02' ],
		[ 'customers', q{id = idgen.prefixed_id_to_uuid(upper('cust_03cu7ltbh43kmxopehhx215t7'), 'cust')} => '22P02' ],
		[ 'customers', q{id = idgen.typeid_to_uuid('cust_-')} => '22P02' ],
		[ 'customers', q{id = idgen.ulid_to_uuid('cust_-')} => '22P02' ],
		[ 'customers', q{id = idgen.prefixed_id_to_uuid('acct_03cu7ltbh43kmxopehhx215t7', 'cust')} => '23514' ],
		[ 'told', q{id = 'cust_-'::customer_id} => '23514 prefixed_id_check' ],
		[ 'customers', q{id = idgen.unmask_uuid_v7('01932f1e-6b80-7abc-8def-0123456789ab')} => '22023' ],
		[ 'customers', q{id = idgen.prefixed_id_to_uuid('cust_-', 'cust') AND idgen.is_prefixed_id('cust_-', 'cust')} => '22P02' ],
		[ 'told', q{id = 'cust_-'} => '0' ],
		[ 'customers', q{shown_id = 'cust_-'} => '0' ])
	{
		my ($table, $condition, $expected) = @$_;
		is($recipe->outcome("SELECT count(*) FROM $table WHERE $condition"), $expected, "$condition: $expected");
	}
	my $prepared = 'SET plan_cache_mode = force_generic_plan; ' . $recipe->prepared($heading);
	is($recipe->outcome("$prepared EXECUTE find_customer_or_none($_)"), '', "none: $_")
	  for q{'cust_-'}, q{'acct_03cu7ltbh43kmxopehhx215t7'}, 'NULL', q{''};
	is($recipe->outcome("$prepared EXECUTE find_customer_or_none('$id')"), 'one', 'a valid id finds its row');
}

# --- Sizes ------------------------------------------------------------------

# The bytes a row, in the table and its indexes
sub bytes
{
	my ($table) = @_;

	return $recipe->query("SELECT pg_relation_size('$table') + pg_indexes_size('$table')") / 100_000;
}

{
	$recipe->paste('A bigint inside, a uuid outside');
	$recipe->query(q{
		CREATE TABLE plain_ids (id uuid PRIMARY KEY);
		CREATE TABLE both_ids (id uuid PRIMARY KEY,
			shown_id text COLLATE "C" UNIQUE GENERATED ALWAYS AS (idgen.prefixed_id('cust', id)) STORED);
		CREATE TABLE text_ids (id customer_id PRIMARY KEY);
		CREATE TABLE uuid_references (id uuid);
		CREATE INDEX ON uuid_references (id);
		CREATE TABLE bigint_references (id bigint);
		CREATE INDEX ON bigint_references (id);
		INSERT INTO plain_ids SELECT idgen.uuid_v7() FROM generate_series(1, 100000);
		INSERT INTO both_ids SELECT id FROM plain_ids ORDER BY id;
		INSERT INTO text_ids SELECT idgen.prefixed_id('cust', id) FROM plain_ids ORDER BY id;
		INSERT INTO members (public_id) SELECT id FROM plain_ids ORDER BY id;
		INSERT INTO uuid_references SELECT id FROM plain_ids ORDER BY id;
		INSERT INTO bigint_references SELECT id FROM members ORDER BY id});
	my ($both, $plain, $text) = $recipe->page->section('Store a uuid, show a prefixed id') =~ /take\s+([\d.]+)\s+MB,\s+with the view alone\s+([\d.]+),.*?\s([\d.]+)\.\s/s
	  or die 'the page has no sizes';
	my %shown = (both_ids => $both, plain_ids => $plain, text_ids => $text);
	for my $table (sort keys %shown)
	{
		my $found = bytes($table) * 100_000 / 1024**2;
		cmp_ok(abs($found / $shown{$table} - 1), '<', 0.03, "$table: $found MB");
	}

	# The entries' bytes; the index has a tenth of free space.
	my $more = bytes('members') - bytes('plain_ids');
	ok($more > 28 && $more < 28 / 0.9, "a second key takes $more bytes a row");
	my $less = bytes('uuid_references') - bytes('bigint_references');
	ok($less > 16 && $less < 16 / 0.9, "a reference takes $less bytes less");
}

done_testing();
