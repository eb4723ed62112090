# The library's symbols: the server loads libraries with RTLD_GLOBAL, so that
# each exported name could meet one of another library. Exported are the SQL
# functions and what the server looks up in a library.

use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('symbols');
$node->init;
$node->start;

my @functions = split /\n/, $node->safe_psql(
	'postgres', q{
	CREATE EXTENSION idgen;
	SELECT DISTINCT prosrc FROM pg_proc p
	JOIN pg_language l ON l.oid = p.prolang AND l.lanname = 'c'
	JOIN pg_depend d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e'
	JOIN pg_extension e ON d.refclassid = 'pg_extension'::regclass AND e.oid = d.refobjid AND e.extname = 'idgen'});
my %expected = map { $_ => 1 } 'Pg_magic_func', '_PG_init', map { ($_, "pg_finfo_$_") } @functions;

my $library = $node->config_data('--pkglibdir') . '/idgen.so';
my ($symbols, $errors) = run_command([ 'nm', '-D', '--defined-only', '--format=posix', $library ]);
my %exported = map { /^(\S+)/ => 1 } split /\n/, $symbols;
is($errors, '', 'nm reads the library');
is(join(' ', sort grep { !$exported{$_} } keys %expected), '', 'what the server looks up is exported');
is(join(' ', sort grep { !$expected{$_} } keys %exported), '', 'and nothing else');

$node->stop;
done_testing();
