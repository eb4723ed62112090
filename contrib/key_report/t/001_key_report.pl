# key_report.sql finds each planted fault, and nothing in tables without one; its statements
# run, or say why not, and repair what it reports. It needs no rights and no extension.

use Server;

my $node = init_server('schema', "autovacuum = off\nidgen.node_id = 1", extra => ['--encoding=UTF8']);
$node->start;
ask('CREATE ROLE visitor LOGIN');
ask(q{CREATE DATABASE other TEMPLATE template0 ENCODING 'UTF8' LOCALE 'C' LOCALE_PROVIDER icu ICU_LOCALE 'en'});

my @columns = qw(name title level facing categories description detail remediation metadata cache_key);

# The report as a list of rows, each a hash, and as text: "LEVEL cache_key"
sub report
{
	my (%how) = @_;
	local $ENV{PGUSER} = $how{user} if $how{user};
	local $ENV{PGOPTIONS} = $how{options} // '';
	my ($out, $err) = run_command([ psql($how{database}, 'format=splinter', $how{level} ? "level=$how{level}" : ()) ]);

	is($err, '', 'the report has no error');
	return map { my %row; @row{@columns} = split /\t/; \%row } split /\n/, $out;
}
sub psql
{
	my ($database, @variables) = @_;
	return ('psql', '-X', '-At', '-F', "\t", (map { ('-v', $_) } @variables),
		'-d', $node->connstr($database // 'postgres'), '-f', 'contrib/key_report/key_report.sql');
}
sub lines { return [ map { "$_->{level} $_->{cache_key}" } grep { $_->{name} ne 'coverage' } @_ ] }

# --- One fault in each table of "bad", and the same without it in "good" -------------
# Tables have 10,000 rows unless their rule is not about cost.
my %fault = (
	'WARN no_key_bad.log' => 'CREATE TABLE bad.log (at timestamptz, id int)',
	'WARN no_key_bad.nullable' => 'CREATE TABLE bad.nullable (code int UNIQUE)',
	'WARN no_key_bad.with_null' => 'CREATE TABLE bad.with_null (code int UNIQUE);
		INSERT INTO bad.with_null VALUES (NULL)',
	'WARN no_key_bad.parts' => 'CREATE TABLE bad.parts (id int, at date) PARTITION BY RANGE (at);
		CREATE TABLE bad.part PARTITION OF bad.parts DEFAULT',
	'WARN no_key_bad.inherited' => 'CREATE TABLE bad.inherited (at date);
		CREATE TABLE bad.heir (id int PRIMARY KEY) INHERITS (bad.inherited)',
	'WARN range_used_bad.half_id' => q{CREATE TABLE bad.half (id serial PRIMARY KEY);
		SELECT setval('bad.half_id_seq', 1500000000)},
	'ERROR range_used_bad.small_id' =>
	  q{CREATE TABLE bad.small (id smallint GENERATED ALWAYS AS IDENTITY PRIMARY KEY);
		SELECT setval('bad.small_id_seq', 30000)},
	'ERROR range_used_bad.short_sequence_id' => q{CREATE TABLE bad.short_sequence (id bigserial PRIMARY KEY);
		ALTER SEQUENCE bad.short_sequence_id_seq AS integer; SELECT setval('bad.short_sequence_id_seq', 2100000000)},
	'ERROR range_used_bad.short_identity_id' =>
	  q{CREATE TABLE bad.short_identity (id bigint GENERATED ALWAYS AS IDENTITY (MAXVALUE 1000) PRIMARY KEY);
		SELECT setval('bad.short_identity_id_seq', 900)},
	# the application numbers these: with a sequence of its own, by max() + 1, downwards
	'ERROR range_used_bad.invoices_id' => 'CREATE TABLE bad.invoices (id int PRIMARY KEY);
		INSERT INTO bad.invoices SELECT 2100000000 + i FROM many',
	'WARN range_used_bad.days_id' => 'CREATE TABLE bad.days (id smallint PRIMARY KEY);
		INSERT INTO bad.days SELECT 20000 + i FROM many WHERE i < 1000',
	'ERROR range_used_bad.down_id' => 'CREATE TABLE bad.down (id int PRIMARY KEY);
		INSERT INTO bad.down SELECT -2100000000 - i FROM many',
	'ERROR range_used_bad.backwards_id' => q{CREATE TABLE bad.backwards (id int PRIMARY KEY);
		CREATE SEQUENCE bad.backwards_seq INCREMENT -1;
		ALTER TABLE bad.backwards ALTER id SET DEFAULT nextval('bad.backwards_seq');
		SELECT setval('bad.backwards_seq', -2000000000)},
	'ERROR range_used_bad.receipts_number' =>
	  q{CREATE TABLE bad.receipts (id uuid PRIMARY KEY, number serial);
		SELECT setval('bad.receipts_number_seq', 2147483647)},
	'ERROR range_used_bad.viewed_number' => q{CREATE TABLE bad.viewed (id uuid PRIMARY KEY, number serial);
		CREATE VIEW bad.view AS SELECT number FROM bad.viewed; SELECT setval('bad.viewed_number_seq', 2147483647)},
	'WARN sequence_behind_bad.behind_id' => 'CREATE TABLE bad.behind (id bigserial PRIMARY KEY);
		INSERT INTO bad.behind SELECT generate_series(1, 1000)',
	'WARN sequence_behind_bad.seed_id' => 'CREATE TABLE bad.seed (id serial PRIMARY KEY);
		INSERT INTO bad.seed SELECT generate_series(1, 4)',
	'WARN sequence_behind_bad.reserved_id' =>
	  'CREATE TABLE bad.reserved (id serial PRIMARY KEY); INSERT INTO bad.reserved SELECT generate_series(1, 1000);
		INSERT INTO bad.reserved VALUES (2147483647)',
	'WARN foreign_key_type_bad.narrow_narrow_tenant_parent_fkey' =>
	  'CREATE TABLE bad.narrow (id bigint PRIMARY KEY, tenant bigint, parent int,
			FOREIGN KEY (tenant, parent) REFERENCES bad.parent (tenant, id));
		CREATE INDEX ON bad.narrow (parent)',
	'WARN foreign_key_type_bad.narrow_viewed_narrow_viewed_parent_fkey' =>
	  'CREATE TABLE bad.narrow_viewed (id bigint PRIMARY KEY, parent int UNIQUE REFERENCES bad.lookup8);
		CREATE VIEW bad.narrow_view AS SELECT parent FROM bad.narrow_viewed',
	'WARN foreign_key_type_bad.exact_exact_id_fkey' =>
	  'CREATE TABLE bad.exact (id bigint PRIMARY KEY REFERENCES bad.lookup_numeric)',
	'WARN foreign_key_index_bad.cascade_cascade_parent_fkey' =>
	  q{CREATE TABLE bad.cascade (id bigint PRIMARY KEY, parent bigint REFERENCES bad.lookup8 ON DELETE SET NULL);
		CREATE INDEX ON bad.cascade (parent) WHERE parent > 0; CREATE INDEX ON bad.cascade (id, parent)},
	'WARN foreign_key_index_bad.ordered_ordered_parent_fkey' =>
	  q{CREATE TABLE bad.ordered (id bigint PRIMARY KEY,
			parent text COLLATE "und-x-icu" REFERENCES bad.lookup_text ON DELETE CASCADE);
		CREATE INDEX ON bad.ordered (parent)},
	'INFO foreign_key_index_bad.plain_plain_parent_fkey' =>
	  'CREATE TABLE bad.plain (id bigint PRIMARY KEY, parent bigint REFERENCES bad.lookup8 ON UPDATE CASCADE)',
	'INFO foreign_key_index_bad.split_split_parent_fkey' =>
	  'CREATE TABLE bad.split (id bigint PRIMARY KEY, parent bigint REFERENCES bad.lookup8)
		PARTITION BY RANGE (id); CREATE TABLE bad.split1 PARTITION OF bad.split DEFAULT',
	'WARN foreign_key_not_valid_bad.old_old_parent_fkey' =>
	  q{CREATE TABLE bad.old (id bigint PRIMARY KEY, parent bigint);
		CREATE INDEX ON bad.old (parent);
		ALTER TABLE bad.old ADD FOREIGN KEY (parent) REFERENCES bad.lookup8 NOT VALID},
	'WARN uuid_as_text_bad.upper_id' => q{CREATE TABLE bad.upper (id text COLLATE "C" PRIMARY KEY DEFAULT '');
		INSERT INTO bad.upper SELECT upper(gen_random_uuid()::text) FROM many},
	'WARN uuid_as_text_bad.braces_id' =>
	  q{CREATE TABLE bad.braces (id text COLLATE "C" PRIMARY KEY);
		INSERT INTO bad.braces SELECT '{' || gen_random_uuid() || '}' FROM many},
	'WARN uuid_as_text_bad.digits_id' =>
	  q{CREATE TABLE bad.digits (id varchar PRIMARY KEY);
		INSERT INTO bad.digits SELECT replace(gen_random_uuid()::text, '-', '') FROM many},
	'WARN uuid_as_text_bad.by_type_id' => 'CREATE TABLE bad.by_type (id char(36) PRIMARY KEY)',
	'WARN text_collation_bad.words_id' =>
	  q{CREATE TABLE bad.words (id text COLLATE "und-x-icu" PRIMARY KEY);
		INSERT INTO bad.words SELECT 'order_' || 100000 + i FROM many;
		CREATE TABLE bad.sayings (word text COLLATE "und-x-icu" PRIMARY KEY REFERENCES bad.words)},
	'WARN random_keys_bad.random_id' => q{CREATE TABLE bad.random (id uuid DEFAULT gen_random_uuid() PRIMARY KEY);
		INSERT INTO bad.random SELECT FROM generate_series(1, 100000)},
	'WARN random_keys_bad.random_text_id' =>
	  q{CREATE TABLE bad.random_text (id text COLLATE "C" DEFAULT 'u' || gen_random_uuid() PRIMARY KEY);
		INSERT INTO bad.random_text SELECT FROM generate_series(1, 100000)},
	'INFO random_keys_bad.clients_id' =>
	  q{CREATE DOMAIN bad.key AS uuid; CREATE DOMAIN bad.order_key AS bad.key;
		CREATE TABLE bad.clients (id bad.order_key PRIMARY KEY);
		INSERT INTO bad.clients SELECT gen_random_uuid() FROM many},
	'INFO random_keys_bad.wrapped_id' =>
	  q{CREATE FUNCTION bad.my_uuid() RETURNS uuid LANGUAGE sql VOLATILE AS 'SELECT gen_random_uuid()';
		CREATE TABLE bad.wrapped (id uuid DEFAULT bad.my_uuid() PRIMARY KEY); INSERT INTO bad.wrapped SELECT FROM many},
	'INFO random_keys_bad.split_random_id' =>
	  q{CREATE TABLE bad.split_random (id uuid PRIMARY KEY) PARTITION BY HASH (id);
		CREATE TABLE bad.split_random0 PARTITION OF bad.split_random FOR VALUES WITH (MODULUS 2, REMAINDER 0);
		CREATE TABLE bad.split_random1 PARTITION OF bad.split_random FOR VALUES WITH (MODULUS 2, REMAINDER 1);
		INSERT INTO bad.split_random SELECT gen_random_uuid() FROM many},
);
my $many = 'SET client_min_messages = warning; CREATE TEMP VIEW many AS SELECT i FROM generate_series(1, 10000) i;';
ask("$many CREATE SCHEMA bad; CREATE TABLE bad.parent (tenant bigint, id bigint, PRIMARY KEY (tenant, id));
	CREATE TABLE bad.lookup8 (id bigint PRIMARY KEY); CREATE TABLE bad.lookup_numeric (id numeric PRIMARY KEY);
	CREATE TABLE bad.lookup_text (id text COLLATE \"C\" PRIMARY KEY);");
ask("$many $fault{$_}") for sort keys %fault;
ask('CREATE TABLE bad.few (id uuid DEFAULT gen_random_uuid() PRIMARY KEY, number serial UNIQUE);
	CREATE TABLE bad.empty (token text COLLATE "und-x-icu" PRIMARY KEY)');
ask("ANALYZE bad.$_")
  for qw(invoices days down behind seed reserved upper braces digits words random random_text clients wrapped
  split_random);

ask(qq{$many CREATE SCHEMA good;
	CREATE TABLE good.parent (tenant bigint, id bigint, name varchar(50) COLLATE "C" UNIQUE, PRIMARY KEY (tenant, id));
	CREATE TEMP TABLE log (at timestamptz);
	CREATE TABLE good.by_index (code int NOT NULL); CREATE UNIQUE INDEX by_index_code ON good.by_index (code);
	CREATE TABLE good.parts (id bigint, at date, PRIMARY KEY (id, at)) PARTITION BY RANGE (at);
	CREATE TABLE good.part PARTITION OF good.parts DEFAULT;
	CREATE TABLE good.sequence (id bigserial PRIMARY KEY); INSERT INTO good.sequence SELECT FROM many;
	CREATE TABLE good.other_default (id bigserial PRIMARY KEY);
	INSERT INTO good.other_default SELECT i::bigint << 20 FROM many;
	ALTER TABLE good.other_default ALTER COLUMN id SET DEFAULT 5;
	CREATE TABLE good.two_nodes (id bigint GENERATED ALWAYS AS IDENTITY (INCREMENT 2) PRIMARY KEY);
	INSERT INTO good.two_nodes OVERRIDING SYSTEM VALUE SELECT i FROM many;
	CREATE TABLE good.sentinel (id serial PRIMARY KEY); INSERT INTO good.sentinel SELECT FROM many;
	INSERT INTO good.sentinel VALUES (2147483647), (-1);
	CREATE TABLE good.sentinel8 (id bigserial PRIMARY KEY); INSERT INTO good.sentinel8 SELECT FROM many;
	INSERT INTO good.sentinel8 VALUES (9000000000);
	CREATE TABLE good.cycle (id smallint PRIMARY KEY); CREATE SEQUENCE good.cycle_seq AS smallint CYCLE;
	SELECT setval('good.cycle_seq', 32000);
	ALTER TABLE good.cycle ALTER id SET DEFAULT nextval('good.cycle_seq');
	CREATE TABLE good.hashed (id int PRIMARY KEY); INSERT INTO good.hashed SELECT DISTINCT hashint4(i) FROM many;
	CREATE TABLE good.emptied (id serial PRIMARY KEY); INSERT INTO good.emptied SELECT FROM many;
	ANALYZE good.emptied; TRUNCATE good.emptied RESTART IDENTITY;
	CREATE TABLE good.wide (id int8 PRIMARY KEY REFERENCES good.by_index (code));
	CREATE DOMAIN good.id AS bigint;
	CREATE TABLE good.references (id bigint PRIMARY KEY, a good.id, b bigint,
		c text COLLATE "C" REFERENCES good.parent (name) ON DELETE CASCADE,
		FOREIGN KEY (a, b) REFERENCES good.parent ON DELETE CASCADE);
	CREATE INDEX ON good.references (b, a, c); CREATE INDEX ON good.references USING hash (c) WHERE c IS NOT NULL;
	CREATE TABLE good.partial (a bigint, b bigint UNIQUE NOT NULL,
		FOREIGN KEY (a, b) REFERENCES good.parent ON DELETE CASCADE, PRIMARY KEY (a, b));
	CREATE TABLE good.few (id bigint PRIMARY KEY, parent bigint REFERENCES good.sequence ON DELETE CASCADE);
	INSERT INTO good.few VALUES (1);
	CREATE TABLE good.md5 (id text COLLATE "C" PRIMARY KEY); INSERT INTO good.md5 SELECT md5(i::text) FROM many;
	CREATE TABLE good.names (name text COLLATE "und-x-icu" PRIMARY KEY);
	INSERT INTO good.names SELECT 'name' || repeat('x', i) FROM many WHERE i < 100;
	INSERT INTO good.names SELECT 'Name ' || i FROM many;
	CREATE TABLE good.version_7 (id uuid DEFAULT gen_random_uuid() PRIMARY KEY);
	INSERT INTO good.version_7 SELECT overlay(gen_random_uuid()::text PLACING '7' FROM 15)::uuid
		FROM generate_series(1, 100000);
	INSERT INTO good.version_7
		VALUES ('00000000-0000-0000-0000-000000000000'), ('ffffffff-ffff-ffff-ffff-ffffffffffff');
	ANALYZE good.sequence, good.other_default, good.two_nodes, good.few, good.md5, good.names, good.version_7,
		good.sentinel, good.sentinel8, good.hashed});
ask('CREATE TABLE good.not_enforced (id bigint REFERENCES good.sequence NOT ENFORCED PRIMARY KEY)')
  if $node->pg_version >= 18;
ask('CREATE EXTENSION btree_gin;
	CREATE TABLE good.by_gin (id bigint PRIMARY KEY, parent bigint REFERENCES good.sequence ON DELETE CASCADE);
	CREATE INDEX ON good.by_gin USING gin (parent)')
  if ask(q{SELECT count(*) FROM pg_available_extensions WHERE name = 'btree_gin'});

my @report = report();
is_deeply(lines(@report), [ sort { rank($a) <=> rank($b) || $a cmp $b } keys %fault ],
	'each fault is reported, and nothing else');
sub rank { return index 'ERROR WARN INFO', (split / /, shift)[0] }

like(join("\n", map { "$_->{cache_key}: $_->{detail} | $_->{remediation}" } @report), $_, "there is $_")
  for qr/^range_used_bad.half_id: bad.half.id: 69.8 % of 2147483647 used: integer,/m,
  qr/used: integer, sequence bad.half_id_seq at 1500000000 \| contrib\/rekey/,
  qr/short_sequence.*ALTER SEQUENCE bad.short_sequence_id_seq AS bigint/,
  qr/sequence_behind_bad.reserved_id: .*keys from 1 to 991, .* WHERE id <= 1000991;$/m,
  qr/ordered_parent_fkey: .*CREATE INDEX CONCURRENTLY ON bad.ordered \(parent COLLATE "C"\);/,
  qr/text_collation_bad.words_id: .*collation und-x-icu; referenced by bad.sayings.word/,
  qr/split_random_id: bad.split_random.id: 10000 rows, 100 %/,
  qr/uuid_as_text_bad.upper_id: .*10000 rows, text of 37 bytes \| contrib\/rekey/,
  qr/10000 rows, text of 37 bytes \| contrib\/rekey\/rekey.sh plan 'bad.upper.id' --type uuid/;
like($report[0]{metadata}, qr/"table": "bad\./, 'the metadata name the table');
unlike(join("\n", map { $_->{remediation} } @report), qr/COLLATE "C";|TYPE (?:int|smallint)/,
	'no statement changes a collation or narrows a type');

my ($table, $errors) = run_command([ grep { $_ ne '-At' } psql(undef, 'level=WARN') ]);
is($errors, '', 'the table for the eye has no error');
is((grep { length > 150 } split /\n/, $table), 0, 'of at most 150 columns');
like($table, qr/^ level +\| +table +\| +detail +\| +remediation *\n/, 'with four of them');
like($table, qr/^ WARN  \| NO_KEY +\| No statement.*\n.*\n WARN  \| bad.inherited /m, 'grouped by rule');

for my $wrong ('level=WARNING', 'level=', 'format=csv')
{
	command_checks_all([ psql(undef, $wrong) ], 3, [qr/^$/], [qr/ERROR:  level must be ERROR, WARN or INFO/],
		"$wrong is an error");
}

# --- By other roles and settings -----------------------------------------------------
is_deeply(lines(report(level => 'WARN')), [ grep { !/^INFO/ } @{ lines(@report) } ], 'level WARN leaves out INFO');
is_deeply(lines(report(level => 'error')), [ grep { /^ERROR/ } @{ lines(@report) } ],
	'level ERROR leaves out the others');

ask('CREATE SCHEMA trap; CREATE TABLE trap.pg_class ();
	CREATE FUNCTION trap.format(text, text) RETURNS text LANGUAGE sql RETURN 1 / 0;
	CREATE FUNCTION trap.upper(text) RETURNS text LANGUAGE sql RETURN 1 / 0;
	CREATE FUNCTION trap.equal(name, name) RETURNS bool LANGUAGE sql RETURN 1 / 0 = 1;
	CREATE OPERATOR trap.= (FUNCTION = trap.equal, LEFTARG = name, RIGHTARG = name)', 'other');
is_deeply(lines(report(database => 'other', options => '-c search_path=trap,pg_catalog', level => 'WARN')),
	['WARN no_key_trap.pg_class'],
	'with a hostile search_path');

my @seen = report(user => 'visitor');
my ($coverage) = map { $_->{detail} } grep { $_->{name} eq 'coverage' } @seen;
like($coverage, qr/^(\d+) tables, of which role visitor may not read \g1, and \d+ were never analyzed;/, 'tables');
like($coverage, qr/; it may not read [1-9]\d* sequences$/,
	'a role without rights');
is(join(' ', map { $_->{level} } grep { $_->{name} eq 'coverage' } report(user => 'visitor', level => 'WARN')), 'WARN',
	'... is warned');
is_deeply((map { [ grep { /no_key|foreign_key_(?:type|not)/ } @$_ ] } lines(@seen), lines(@report)),
	'it sees what the catalog says');

# --- In continuous integration: the steps of the example --------------------------------
my ($migrations, $step) = slurp_file('.github/workflows/key-report.yml')
  =~ /- name: Run the migrations\n +run: (.*)\n.*- name: Report on the keys\n +run: \|\n(.*)/s;
$step =~ s{(?=contrib/key_report/key_report.sql)}{\$OLDPWD/} or die 'no report in the workflow';
@ENV{qw(PGHOST PGPORT PGDATABASE LEVEL)} = ($node->host, $node->port, 'postgres', 'ERROR');
sub step { return [ 'bash', '-e', '-c', 'cd "$1"; ' . $step, 'step', PostgreSQL::Test::Utils::tempdir() ] }
command_fails_like(step(), qr/^$/, 'the workflow fails if there are errors');
ask('DROP SCHEMA trap CASCADE', 'other');
$ENV{PGDATABASE} = 'other';
$ENV{LEVEL} = 'WARN';
command_ok([ 'bash', '-e', '-c', "$migrations >/dev/null" ], 'the migrations of the example') if -e 'contrib/portable';
command_ok(step(), 'the workflow succeeds without warnings');
ask('CREATE TABLE log (at timestamptz)', 'other');
command_fails(step(), '... and fails on one');
$ENV{LEVEL} = 'ERROR';
command_ok(step(), 'by choice, on errors only');
$ENV{LEVEL} = 'ERORR';
command_fails(step(), 'it fails on a level that does not exist');
ask('DROP TABLE log; DROP SCHEMA IF EXISTS idgen CASCADE', 'other');

# --- The statements ---------------------------------------------------------------------
# Each that can be run does so, or says why it fails; then the report has no such line any more.
my @run = grep { $_->{remediation} =~ m{(?:;|\*/)$} } @report;
for my $row (@run)
{
	my $statement = $row->{remediation} =~ s/CONCURRENTLY //r;
	my $failure = $statement =~ /fails if (?:there are NULLs|a view)/ && $row->{cache_key} =~ /with_null|viewed/;

	is(outcome("SET client_min_messages = warning; BEGIN; $statement; ROLLBACK") =~ /^(\w{5})$/ ? 'fails' : 'runs',
		$failure ? 'fails' : 'runs', "$row->{cache_key}: $statement");
}
my @repaired = grep { $_->{cache_key} !~ /with_null|viewed/ } @run;
ask($_) for map { split /(?<=;) /, $_->{remediation} =~ s{ /\*.*}{}r } @repaired;
my %repaired = map { ("$_->{level} $_->{cache_key}" => 1) } @repaired;
is_deeply(lines(report()), [ grep { !$repaired{$_} } @{ lines(@report) } ],
	'the statements of the remediation repair what is reported');
is(outcome("INSERT INTO bad.$_ DEFAULT VALUES RETURNING id"), { behind => 1001, seed => 5, reserved => 1001 }->{$_},
	"inserts into $_ continue")
  for qw(behind seed reserved);

# --- idgen's keys ----------------------------------------------------------------------
ask('CREATE EXTENSION idgen_advisor CASCADE', 'other');
my %type = (
	random => 'uuid DEFAULT gen_random_uuid()',
	token => 'text DEFAULT idgen.ulid()',
	(map { ($_ => "uuid DEFAULT idgen.$_()") } qw(short_comb keyed_comb uuid_v7 comb uuid_v6)),
	(map { ($_ => "bigint DEFAULT idgen.$_()") } qw(snowflake trace_id js_id)),
	(map { ($_ => qq{text COLLATE "C" DEFAULT idgen.$_()}) } qw(ulid object_id)));
ask("CREATE TABLE public.$_ (id $type{$_} PRIMARY KEY);
	INSERT INTO public.$_ SELECT FROM generate_series(1, 100000); ANALYZE public.$_", 'other') for sort keys %type;
my @others = report(database => 'other');
is_deeply(lines(@others), [ 'WARN random_keys_public.random_id', 'WARN text_collation_public.token_id' ],
	q{idgen's keys and tables are without faults});
like($others[0]{remediation},
	qr/^ALTER TABLE public.random ALTER COLUMN id SET DEFAULT idgen.keyed_comb\(area => 'random'\);$/, 'of idgen');
done_testing();
