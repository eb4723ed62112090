# Verify the exported symbols of the libraries. The server loads libraries with RTLD_GLOBAL, so each exported name can
# clash with a name in another library. Only SQL functions and symbols that the server looks up are exported. The name
# of each SQL function is written out in the source, so that ctags and grep find it. Also verify that all files contain
# the same version.

use Functions;
use Server;

my $node = start_server('symbols');
my $has_advisor = Functions::install($node, 'postgres');

my $sources = join "\n", map { slurp_file($_) } glob 'src/*.c contrib/advisor/*.c';
my %looked_up = (idgen => [ 'Pg_magic_func', '_PG_init' ], $has_advisor ? (idgen_advisor => ['Pg_magic_func']) : ());
for my $extension (sort keys %looked_up)
{
	my @functions = split /\n/, ask(qq{
		SELECT DISTINCT prosrc FROM pg_proc p
		JOIN pg_language l ON l.oid = p.prolang AND l.lanname = 'c'
		JOIN pg_depend d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e'
		JOIN pg_extension e ON d.refclassid = 'pg_extension'::regclass AND e.oid = d.refobjid
			AND e.extname = '$extension'});
	my %expected = map { $_ => 1 } @{ $looked_up{$extension} }, map { ($_, "pg_finfo_$_") } @functions;

	is_deeply([ grep { $sources !~ /^$_\(PG_FUNCTION_ARGS/m } @functions ], [],
		"$extension: each function is visible to tools");

	my $library = $node->config_data('--pkglibdir') . "/$extension.so";
	my ($symbols, $errors) = run_command([ 'nm', '-D', '--defined-only', '--format=posix', $library ]);
	my %exported = map { /^(\S+)/ => 1 } split /\n/, $symbols;
	is($errors, '', "$extension: nm reads the library");
	is(join(' ', sort keys %exported), join(' ', sort keys %expected),
		"$extension: exported is what the server looks up, and nothing else");

	# In PostgreSQL 15.20, heap_getattr() calls heap_datum_check(), which does not exist in 15.18.
	my ($required) = run_command([ 'nm', '-D', '--undefined-only', '--format=posix', $library ]);
	unlike($required, qr/^heap_datum_check /m,
		"$extension: a library built with a newer minor release works on an older one");
}

# META.json defines the version. All other files must contain the same version, or its first two numbers.
my ($version) = slurp_file('META.json') =~ /"version": "(.*?)"/ or die 'no version';
my ($short) = $version =~ /^(\d+\.\d+)\.\d+$/ or die "not a version: $version";
for (
	[ 'META.json', qr/"idgen": \{[^}]*"version": "(.*?)"/ ], [ 'src/idgen.c', qr/\.version = "(.*?)"/ ],
	[ 'CHANGELOG.md', qr/^## (\d\S*)/m ], [ 'debian/changelog', qr/\A\S+ \((\S+)-\d+\)/ ],
	[ 'dev/packaging/rpm/idgen.spec', qr/^Version: +(\S+)$/m ],
	[ 'dev/packaging/rpm/idgen.spec', qr/^%changelog\n\* .* - (\S+)-\d+$/m ],
	[ 'dev/packaging/README.md', qr/idgen-(\d\S*)\.zip/ ],
	[ 'dev/packaging/cloudnativepg/Dockerfile', qr/idgen:(\d[\d.]*)-/ ],
	[ 'idgen.control', qr/^default_version = '(.*)'$/m ],
	[ 'sql/interface.sql', qr/^CREATE EXTENSION idgen VERSION '(.*)'/m ])
{
	my ($file, $pattern) = @$_;
	is((slurp_file($file) =~ $pattern)[0], $file =~ /control|sql/ ? $short : $version, "$file has the version");
}
my ($of_advisor) = slurp_file('contrib/advisor/idgen_advisor.control') =~ /^default_version = '(.*)'$/m;
like(slurp_file('contrib/advisor/index_report.c'), qr/\.version = "\Q$of_advisor\E\.\d+"/, 'the advisor has its own');

# The library's version begins with the extension's version.
SKIP:
{
	skip 'PostgreSQL 18 shows versions of libraries', 2 if ask('SHOW server_version_num') < 180000;
	my %loaded = map { split /\|/ } split /\n/, ask(join(';', map({ "LOAD '$_'" } sort keys %looked_up), q{
		SELECT module_name, version FROM pg_get_loaded_modules() JOIN pg_extension ON extname = module_name
		WHERE starts_with(version, extversion || '.')}));
	is(join(' ', sort keys %loaded), join(' ', sort keys %looked_up),
		'the server shows names and versions of the libraries');
	is($loaded{idgen}, $version, '... that of the archive');
}

done_testing();
