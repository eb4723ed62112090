# The scripts of the laboratory that time functions, with few calls: each prints its
# tables of figures, and no message of a program that it uses.

use strict;
use warnings;

use File::Basename qw(dirname);
use IPC::Run;
use PostgreSQL::Test::Utils;
use Test::More;

plan skip_all => 'PG_CONFIG is not set' unless $ENV{PG_CONFIG};

my $lab = dirname(__FILE__) . '/../../bench/lab';

# name, options, and the beginning of a row of each table
for (
	[ 'functions', [qw(--calls 100 --rounds 1 --memory-calls 100 --edition-calls 100)],
		'`idgen.short_comb()`', '`idgen.snowflake()`', '`idgen.permute(', '`idgen.uuid_to_base(', '`idgen.create_once(request), replay`' ],
	[ 'throughput', [qw(--clients 1,2 --seconds 1 --rounds 1)], '`idgen.snowflake()`' ],
	[ 'create_once', [qw(--transactions 10 --rounds 1 --known 100)], 'first call, create_once()' ])
{
	my ($name, $options, @rows) = @$_;
	my ($stdout, $stderr) = ('', '');

	ok(IPC::Run::run([ "$lab/$name.sh", @$options ], '<', \undef, '>', \$stdout, '2>', \$stderr), "$name.sh succeeds");
	is(join('', grep { !/^\[\d+:\d\d\] / } split /^/m, $stderr), '', "$name.sh prints only its progress");

	for my $row (@rows)
	{
		my ($figures) = $stdout =~ /^\| \Q$row\E[^|]*\|(.*)\|$/m;
		like($figures // 'no row', qr/^[-\d., |]*\d[-\d., |]*$/, "$name.sh: the figures of $row");
	}
}

done_testing();
