# contrib/key_report/key_report.sql finds each planted fault, and nothing in tables without one; its
# statements repair what it reports. It needs no rights and no extension.

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
	my ($out, $err) = run_command([ 'psql', '-X', '-At', '-F', "\t", ($how{level} ? ('-v', "level=$how{level}") : ()),
			'-d', $node->connstr($how{database} // 'postgres'), '-f', 'contrib/key_report/key_report.sql' ]);

	is($err, '', 'the report has no error');
	return map { my %row; @row{@columns} = split /\t/; \%row } split /\n/, $out;
}
sub lines { return [ map { "$_->{level} $_->{cache_key}" } grep { $_->{name} ne 'coverage' } @_ ] }

# --- One fault in each table of "bad", and the same without it in "good" -------------
# Tables have 10,000 rows unless their rule is not about cost.
my %fault = (
	'WARN no_key_bad.log' => 'CREATE TABLE bad.log (at timestamptz, id int)',
	'WARN no_key_bad.nullable' => 'CREATE TABLE bad.nullable (code int UNIQUE)',
	'INFO no_primary_key_bad.by_index' => 'CREATE TABLE bad.by_index (code int NOT NULL); CREATE UNIQUE INDEX by_index_code ON bad.by_index (code)',
	'WARN range_used_bad.half_id' => q{CREATE TABLE bad.half (id serial PRIMARY KEY); SELECT setval('bad.half_id_seq', 1500000000)},
	'ERROR range_used_bad.small_id' =>
	  q{CREATE TABLE bad.small (id smallint GENERATED ALWAYS AS IDENTITY PRIMARY KEY); SELECT setval('bad.small_id_seq', 30000)},
	'ERROR range_used_bad.short_sequence_id' => q{CREATE TABLE bad.short_sequence (id bigserial PRIMARY KEY);
		ALTER SEQUENCE bad.short_sequence_id_seq AS integer; SELECT setval('bad.short_sequence_id_seq', 2100000000)},
	'WARN sequence_behind_bad.behind_id' => 'CREATE TABLE bad.behind (id bigserial PRIMARY KEY); INSERT INTO bad.behind SELECT generate_series(1, 1000)',
	'WARN foreign_key_type_bad.narrow_narrow_tenant_parent_fkey' =>
	  'CREATE TABLE bad.narrow (id bigint PRIMARY KEY, tenant bigint, parent int, FOREIGN KEY (tenant, parent) REFERENCES bad.parent (tenant, id));
		CREATE INDEX ON bad.narrow (parent)',
	'INFO foreign_key_type_bad.wide_wide_id_fkey' => 'CREATE TABLE bad.wide (id int8 PRIMARY KEY REFERENCES bad.lookup)',
	'WARN foreign_key_action_bad.cascade_cascade_parent_fkey' =>
	  q{CREATE TABLE bad.cascade (id bigint PRIMARY KEY, parent bigint REFERENCES bad.lookup8 ON DELETE SET NULL);
		CREATE INDEX ON bad.cascade (parent) WHERE parent > 0; CREATE INDEX ON bad.cascade (id, parent)},
	'INFO foreign_key_index_bad.plain' => 'CREATE TABLE bad.plain (id bigint PRIMARY KEY, parent bigint REFERENCES bad.lookup8 ON UPDATE CASCADE)',
	'WARN foreign_key_not_valid_bad.old_old_parent_fkey' => q{CREATE TABLE bad.old (id bigint PRIMARY KEY, parent bigint);
		CREATE INDEX ON bad.old (parent); ALTER TABLE bad.old ADD FOREIGN KEY (parent) REFERENCES bad.lookup8 NOT VALID},
	'WARN uuid_as_text_bad.upper_id' => q{CREATE TABLE bad.upper (id text COLLATE "C" PRIMARY KEY);
		INSERT INTO bad.upper SELECT upper(gen_random_uuid()::text) FROM many},
	'WARN uuid_as_text_bad.digits_id' =>
	  q{CREATE TABLE bad.digits (id varchar PRIMARY KEY); INSERT INTO bad.digits SELECT replace(gen_random_uuid()::text, '-', '') FROM many},
	'WARN uuid_as_text_bad.by_type_id' => 'CREATE TABLE bad.by_type (id char(36) PRIMARY KEY)',
	'WARN text_collation_bad.words_id' =>
	  q{CREATE TABLE bad.words (id text COLLATE "und-x-icu" PRIMARY KEY); INSERT INTO bad.words SELECT 'order_' || 100000 + i FROM many},
	'WARN random_default_bad.random_id' => q{CREATE TABLE bad.random (id uuid DEFAULT gen_random_uuid() PRIMARY KEY);
		INSERT INTO bad.random SELECT FROM generate_series(1, 100000)},
	'INFO uuid_version_4_bad.clients_id' =>
	  q{CREATE DOMAIN bad.key AS uuid; CREATE DOMAIN bad.order_key AS bad.key; CREATE TABLE bad.clients (id bad.order_key PRIMARY KEY);
		INSERT INTO bad.clients SELECT gen_random_uuid() FROM many},
	'INFO mixed_versions_bad.mixed_id' => q{CREATE TABLE bad.mixed (id uuid PRIMARY KEY);
		INSERT INTO bad.mixed SELECT overlay(gen_random_uuid()::text PLACING CASE WHEN i % 2 = 0 THEN '7' ELSE '4' END FROM 15)::uuid FROM many},
);
my $many = 'SET client_min_messages = warning; CREATE TEMP VIEW many AS SELECT i FROM generate_series(1, 10000) i;';
ask("$many CREATE SCHEMA bad; CREATE TABLE bad.parent (tenant bigint, id bigint, PRIMARY KEY (tenant, id));
	CREATE TABLE bad.lookup (id int PRIMARY KEY); CREATE TABLE bad.lookup8 (id bigint PRIMARY KEY);");
ask("$many $fault{$_}") for sort keys %fault;
ask('CREATE TABLE bad.few (id uuid DEFAULT gen_random_uuid() PRIMARY KEY, number serial UNIQUE);
	CREATE TABLE bad.empty (token text COLLATE "und-x-icu" PRIMARY KEY)');
$fault{'INFO keys_of_32_bits'} = 'several tables';
ask("ANALYZE bad.$_") for qw(behind upper digits words random clients mixed);

ask(qq{$many CREATE SCHEMA good;
	CREATE TABLE good.parent (tenant bigint, id bigint, name varchar(50) UNIQUE, PRIMARY KEY (tenant, id));
	CREATE TEMP TABLE log (at timestamptz);
	CREATE TABLE good.parts (id bigint, at date, PRIMARY KEY (id, at)) PARTITION BY RANGE (at);
	CREATE TABLE good.part PARTITION OF good.parts DEFAULT;
	CREATE TABLE good.sequence (id bigserial PRIMARY KEY); INSERT INTO good.sequence SELECT FROM many;
	CREATE TABLE good.other_default (id bigserial PRIMARY KEY); INSERT INTO good.other_default SELECT i::bigint << 20 FROM many;
	ALTER TABLE good.other_default ALTER COLUMN id SET DEFAULT 5;
	CREATE TABLE good.two_nodes (id bigint GENERATED ALWAYS AS IDENTITY (INCREMENT 2) PRIMARY KEY);
	INSERT INTO good.two_nodes OVERRIDING SYSTEM VALUE SELECT i FROM many;
	CREATE DOMAIN good.id AS bigint;
	CREATE TABLE good.references (id bigint PRIMARY KEY, a good.id, b bigint, c text REFERENCES good.parent (name) ON DELETE CASCADE,
		FOREIGN KEY (a, b) REFERENCES good.parent ON DELETE CASCADE);
	CREATE INDEX ON good.references (b, a, c); CREATE INDEX ON good.references USING hash (c) WHERE c IS NOT NULL;
	CREATE TABLE good.partial (a bigint, b bigint UNIQUE NOT NULL, FOREIGN KEY (a, b) REFERENCES good.parent ON DELETE CASCADE, PRIMARY KEY (a, b));
	CREATE TABLE good.few (id bigint PRIMARY KEY, parent bigint REFERENCES good.sequence ON DELETE CASCADE); INSERT INTO good.few VALUES (1);
	CREATE TABLE good.md5 (id text COLLATE "C" PRIMARY KEY); INSERT INTO good.md5 SELECT md5(i::text) FROM many;
	CREATE TABLE good.names (name text COLLATE "und-x-icu" PRIMARY KEY); INSERT INTO good.names SELECT 'name' || repeat('x', i) FROM many WHERE i < 100;
	INSERT INTO good.names SELECT 'Name ' || i FROM many;
	CREATE TABLE good.version_7 (id uuid DEFAULT NULL PRIMARY KEY);
	INSERT INTO good.version_7 SELECT overlay(gen_random_uuid()::text PLACING '7' FROM 15)::uuid FROM many;
	ANALYZE good.sequence, good.other_default, good.two_nodes, good.few, good.md5, good.names, good.version_7});
ask('CREATE TABLE good.not_enforced (id bigint REFERENCES good.sequence NOT ENFORCED PRIMARY KEY)') if $node->pg_version >= 18;

my @report = report();
is_deeply(lines(@report), [ sort { rank($a) <=> rank($b) || $a cmp $b } keys %fault ], 'each fault is reported, and nothing else');
sub rank { return index 'ERROR WARN INFO', (split / /, shift)[0] }

like(join("\n", map { "$_->{cache_key}: $_->{detail} | $_->{remediation}" } @report), $_, "there is $_")
  for qr/^range_used_bad.half_id: bad.half.id: 69.8 % of 2147483647 used: id of type integer, sequence bad.half_id_seq at 1500000000/m,
  qr/short_sequence.*ALTER SEQUENCE bad.short_sequence_id_seq AS bigint/,
  qr/random_id: bad.random.id: \d+ rows, index of \d+ [kM]B, default gen_random_uuid\(\)\. \|/,
  qr/uuid_as_text_bad.upper_id: .*10000 rows, text of 37 bytes, 0 foreign keys/;
like($report[0]{metadata}, qr/"table": "bad\./, 'the metadata name the table');

# --- By other roles and settings -----------------------------------------------------
is_deeply(lines(report(level => 'WARN')), [ grep { !/^INFO/ } @{ lines(@report) } ], 'level WARN leaves out INFO');
is_deeply(lines(report(level => 'error')), [ grep { /^ERROR/ } @{ lines(@report) } ], 'level ERROR leaves out the others');

ask('CREATE SCHEMA trap; CREATE FUNCTION trap.format(text, text) RETURNS text LANGUAGE sql RETURN 1 / 0; CREATE TABLE trap.pg_class ();
	CREATE FUNCTION trap.equal(name, name) RETURNS bool LANGUAGE sql RETURN 1 / 0 = 1;
	CREATE OPERATOR trap.= (FUNCTION = trap.equal, LEFTARG = name, RIGHTARG = name)', 'other');
is_deeply(lines(report(database => 'other', options => '-c search_path=trap,pg_catalog', level => 'WARN')), ['WARN no_key_trap.pg_class'],
	'with a hostile search_path');

my @seen = report(user => 'visitor');
my ($coverage) = map { $_->{detail} } grep { $_->{name} eq 'coverage' } @seen;
like($coverage, qr/^(\d+) tables, of which \g1 may not be read by role visitor and \d+ were never analyzed; [1-9]\d* sequences may not be read$/,
	'a role without rights');
is_deeply((map { [ grep { /no_key|foreign_key/ } @$_ ] } lines(@seen), lines(@report)), 'it sees what the catalog says');

# --- In continuous integration: the last step of the example -------------------------
my ($step) = slurp_file(".github/workflows/key-report.yml") =~ /- name: Report on the keys\n +run: \|\n(.*)/s;
$step =~ s{(?=contrib/key_report/key_report.sql)}{\$OLDPWD/} or die 'no report in the workflow';
@ENV{qw(PGHOST PGPORT PGDATABASE LEVEL)} = ($node->host, $node->port, 'postgres', 'ERROR');
sub step { return [ 'bash', '-e', '-c', 'cd "$1"; ' . $step, 'step', PostgreSQL::Test::Utils::tempdir() ] }
command_fails_like(step(), qr/^$/, 'the workflow fails if there are errors');
$ENV{PGDATABASE} = 'other';
command_ok(step(), 'the workflow succeeds without errors');
$ENV{LEVEL} = 'WARN';
command_fails(step(), 'by choice, it fails on warnings');

# --- The statements repair -----------------------------------------------------------
my $repaired = qr/(?:no_key_bad\.log|no_primary_key|foreign_key_(?:action|index|not_valid)|sequence_behind|text_collation_)/;
ask($_) for map { split /; /, $_->{remediation} } grep { $_->{cache_key} =~ /^$repaired/ } @report;
is_deeply(lines(report()), [ grep { !/ $repaired/ } @{ lines(@report) } ], 'the statements of the remediation repair what is reported');

# --- idgen's keys ----------------------------------------------------------------------
ask('DROP SCHEMA trap CASCADE; CREATE EXTENSION idgen_advisor CASCADE', 'other');
my %type = (
	random => 'uuid DEFAULT gen_random_uuid()',
	token => 'text DEFAULT idgen.ulid()',
	(map { ($_ => "uuid DEFAULT idgen.$_()") } qw(short_comb keyed_comb uuid_v7 comb uuid_v6)),
	(map { ($_ => "bigint DEFAULT idgen.$_()") } qw(snowflake trace_id js_id)),
	(map { ($_ => qq{text COLLATE "C" DEFAULT idgen.$_()}) } qw(ulid object_id)));
ask("CREATE TABLE public.$_ (id $type{$_} PRIMARY KEY);
	INSERT INTO public.$_ SELECT FROM generate_series(1, 100000); ANALYZE public.$_", 'other') for sort keys %type;
my @others = report(database => 'other');
is_deeply(lines(@others), [ 'WARN random_default_public.random_id', 'WARN text_collation_public.token_id' ],
	q{idgen's keys and tables are without faults});
like($others[0]{detail}, qr/SELECT \* FROM idgen.index_report\('public.random_pkey'\) measures/, 'the advisor measures more');
like($others[0]{remediation}, qr/^ALTER TABLE public.random ALTER COLUMN id SET DEFAULT idgen.keyed_comb\(area => 'random'\)$/, 'of idgen');
done_testing();
