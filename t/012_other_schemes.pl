# What functions return for an identifier of another scheme: t/lib/OtherSchemes.pm has the table. The page names the
# functions that cannot tell.

use Functions;
use OtherSchemes;
use Page;
use Server;

Functions::add_key(init_server('other_schemes', 'log_min_error_statement = panic'))->start;
ask('CREATE EXTENSION idgen');

my %cells = OtherSchemes::check('postgres');
my %named = map { $_ => 1 } Page->new('reference')->section('Identifiers of other schemes') =~ /`(\w+)`/g;
my $cannot_tell = join ' ', sort grep { $cells{$_} =~ /\?/ } keys %cells;
is(join(' ', sort grep { $cells{$_} } keys %named), $cannot_tell, 'the page names the functions that cannot tell');

# except those that write any uuid or number in another form, and those that are not for identifiers
my $others = qr/^(?:uuid_(?:variant|v5|to_base|smaller|larger)|min|max|bigint_to_base|prefixed_id|typeid_from_uuid
	|ulid_from_uuid|create_id_domain|internal_\w+)$/x;
is(join(' ', grep { !$cells{$_} && !$named{$_} && !/$others/ } map { $_->{name} }
		grep { $_->{kind} =~ /^(reader|mask|prefixes)$/ && $_->{signature} =~ /\((uuid|text|int8)\b/ } @Functions::functions),
	'', 'each function that takes an identifier is in the table or on the page');

done_testing();
