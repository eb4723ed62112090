# What readers, conversions and conditions return for identifiers of every scheme, and for text in other forms. check()
# compares the table below with the functions of a database. Its cells:
#
#   =  the right value: the time of the identifier, true, or what it contains
#   ?  a value, or true, that means nothing, since nothing in the identifier distinguishes it
#   -  NULL
#   f  false
#   E  an error: 22023, 22P02 or 23514

package OtherSchemes;
use strict;
use warnings;
use Server;
use Test::More;

# Samples, all of this time
my $at = '2026-11-20 03:44:00+00';
my %samples = (
	v1 => q{'9f0e4000-e494-11f1-8a2b-0123456789ab'},
	v4 => q{'919108f7-52d1-4320-9bac-f847db4148a8'},
	v5 => q{'2ed6657d-e927-568b-95e1-2665a8aea6a2'},
	v6 => q{'1f1e4949-f0e4-6000-8a2b-0123456789ab'},
	v7 => q{'01a1f70d-d000-7abc-8def-0123456789ab'},
	v13 => q{'1f1e4949-f0e4-d000-8a2b-0123456789ab'},
	comb => q{'01a1f70d-d000-4abc-8def-0123456789ab'},
	suffix => q{'9abc8def-0123-4abc-8def-01a1f70dd000'},
	short => q{'8780c1ac-3f5e-4d0e-9a51-0b8e4d3c2a17'},
	laravel => q{'a3448165-4000-4abc-8def-0123456789ab'},    # 48 bits of 10 us
	ncs => q{'01a1f70d-d000-7abc-0def-0123456789ab'},        # as a ULID in a column of type uuid can be
	md1 => q{'07cdfd23-373b-17c6-b337-251c22b7ea57'},        # md5() with a version and variant by chance
	md6 => q{'02a32ad2-669e-6fe2-98e6-07fe7cc0e1a0'},
	md7 => q{'01882513-d5fa-7c32-9e94-0dda99b12147'},
	md13 => q{'08d98638-c6fc-d194-a4b1-e6992063e944'},
	nil => q{'00000000-0000-0000-0000-000000000000'},
	max => q{'ffffffff-ffff-ffff-ffff-ffffffffffff'},

	ULID => q{'01M7VGVM00FAY8VVR14D2PF2DB'},
	ulid => q{'01m7vgvm00fay8vvr14d2pf2db'},
	alias => q{'0lM7VGVMO0FAY8VVR14D2PF2DB'},
	object => q{'6affc2000123456789abcdef'},
	OBJECT => q{'6AFFC2000123456789ABCDEF'},
	typeid => q{'user_01m7vgvm00fay8vvr14d2pf2db'},
	TYPEID => q{'user_01M7VGVM00FAY8VVR14D2PF2DB'},
	prefix => q{'acct_03h9oy13cdxgblsxzhv45ndm3'},
	PREFIX => q{'acct_03H9OY13CDXGBLSXZHV45NDM3'},
	uuid => q{'01a1f70d-d000-7abc-8def-0123456789ab'},
	UUID => q{'01A1F70D-D000-7ABC-8DEF-0123456789AB'},
	braces => q{'{01a1f70d-d000-7abc-8def-0123456789ab}'},
	word => q{'no identifier'},

	snowflake => '911461853429764101',
	twitter => '2123623365473210373',
	js_id => '455730926780417',
	trace => '4607323156292567041',
	decimal => '14150009200065',
	sonyflake => '646957366247882755',
	sequence => '1000',
	zero => '0',
	negative => '-1');

# Call each expression with each sample, where the function is installed, and compare what comes back with the table.
# Returns the cells of each function.
sub check
{
	my ($database) = @_;
	my %installed = map { $_ => 1 }
	  split /\n/, ask(q{SELECT proname FROM pg_proc WHERE pronamespace = 'idgen'::regnamespace}, $database);
	my (@kinds, @different, %said);

	ask(q{CREATE FUNCTION outcome(expression text) RETURNS text LANGUAGE plpgsql AS $$
		DECLARE result text;
		BEGIN EXECUTE 'SELECT (' || expression || ')::text' INTO result; RETURN result;
		EXCEPTION WHEN OTHERS THEN RETURN '!' || SQLSTATE; END $$}, $database);
	for (grep { /\S/ } table())
	{
		my ($expression, $cells) = /^(\w+\(.*?\))? +(\S.*)/ or die "not a row: $_";
		my @cells = split ' ', $cells;
		if (!defined $expression) { @kinds = @cells; next }
		my ($name) = $expression =~ /(\w+)\(/;
		next if !$installed{$name};
		die "$expression: cells are missing" if @cells != @kinds;

		my @calls = map { 'idgen.' . $expression =~ s/\bid\b/$samples{$_}/gr =~ s/\bat\b/'$at'/gr } @kinds;
		my @results = split /\n/, ask("SET timezone = 'UTC'; SELECT coalesce(outcome(call), 'NULL') FROM unnest(ARRAY["
			  . join(', ', map { '$q$' . $_ . '$q$' } @calls) . ']) call', $database);
		for my $i (0 .. $#kinds)
		{
			my $is_time = $results[$i] =~ /^\d+-\d\d-\d\d /;
			my $cell = $results[$i] eq 'NULL' ? '-' : $results[$i] eq 'false' ? 'f'
			  : $results[$i] =~ /^!(22023|22P02|23514)$/ ? 'E' : $results[$i] =~ /^!/ ? $results[$i]
			  : $is_time ? ($results[$i] eq $at ? '=' : '?') : $cells[$i] eq '=' ? '=' : '?';
			push @different, "$expression, $kinds[$i]: $results[$i], not $cells[$i]" if $cell ne $cells[$i];
			$said{$name} .= $cells[$i];
		}
	}
	is(join("\n", @different), '', 'identifiers of other schemes, and text in other forms, give what the table says');
	return %said;
}

sub table { return split /\n/, <<'TABLE' }
                                         v1 v4 v5 v6 v7 v13 comb suffix short laravel ncs nil max  md1 md6 md7 md13
uuid_version(id)                         =  =  =  =  =  =   =    =      =     =       -   -   -    ?   ?   ?   ?
uuid_timestamp(id)                       =  -  -  =  =  =   -    -      -     -       -   -   -    ?   ?   ?   ?
uuid_text_timestamp(id)                  =  -  -  =  =  =   -    -      -     -       -   -   -    ?   ?   ?   ?
comb_timestamp(id)                       -  ?  -  -  -  -   =    ?      ?     ?       -   -   -    -   -   -   -
suffix_comb_timestamp(id)                -  ?  -  -  -  -   ?    =      ?     ?       -   -   -    -   -   -   -
short_comb_timestamp(id, clock => at)    -  ?  -  -  -  -   ?    ?      =     ?       -   -   -    -   -   -   -
uuid_v7_within(id, '-infinity')          f  f  f  f  =  f   f    f      f     f       f   f   f    f   f   ?   f
comb_within(id, '-infinity')             f  ?  f  f  f  f   =    ?      ?     ?       f   f   f    f   f   f   f
is_recent_uuid_v7(id, clock => at)       f  f  f  f  =  f   f    f      f     f       f   f   f    f   f   f   f
is_recent_comb(id, clock => at)          f  f  f  f  f  f   =    f      f     f       f   f   f    f   f   f   f
is_recent_short_comb(id, clock => at)    f  f  f  f  f  f   f    f      =     f       f   f   f    f   f   f   f
check_recent_uuid_v7(id, clock => at)    E  E  E  E  =  E   E    E      E     E       E   E   E    E   E   E   E
check_recent_comb(id, clock => at)       E  E  E  E  E  E   =    E      E     E       E   E   E    E   E   E   E
check_recent_short_comb(id, clock => at) E  E  E  E  E  E   E    E      =     E       E   E   E    E   E   E   E
created_near(id, at)                     =  f  f  =  =  =   f    f      f     f       f   f   f    f   f   f   f
uuid_v1_to_v6(id)                        =  E  E  E  E  E   E    E      E     E       E   E   E    ?   E   E   E
uuid_v6_to_v1(id)                        E  E  E  =  E  E   E    E      E     E       E   E   E    E   ?   E   E
uuid_v1_to_lambert_comb(id)              =  E  E  E  E  E   E    E      E     E       E   E   E    ?   E   E   E
lambert_comb_to_uuid_v1(id)              E  E  E  E  E  =   E    E      E     E       E   E   E    E   E   E   ?
mask_uuid_v7(id)                         E  E  E  E  =  E   E    E      E     E       E   E   E    E   E   ?   E
unmask_uuid_v7(id)                       E  ?  E  E  E  E   ?    ?      ?     ?       E   E   E    E   E   E   E
                                         ULID ulid alias object OBJECT typeid TYPEID prefix PREFIX uuid UUID braces word
is_ulid(id)                              =    f    f     f      f      f      f      f      f      f    f    f      f
ulid_timestamp(id)                       =    =    =     E      E      E      E      E      E      E    E    E      E
ulid_to_uuid(id)                         =    =    =     E      E      E      E      E      E      E    E    E      E
ulid_within(id, '-infinity')             =    f    f     f      f      f      f      f      f      f    f    f      f
is_object_id(id)                         f    f    f     =      f      f      f      f      f      f    f    f      f
object_id_timestamp(id)                  E    E    E     =      =      E      E      E      E      E    E    E      E
object_id_within(id, '-infinity')        f    f    f     =      f      f      f      f      f      f    f    f      f
is_typeid(id)                            f    ?    f     f      f      =      f      f      f      f    f    f      f
typeid_to_uuid(id)                       E    ?    E     E      E      =      E      E      E      E    E    E      E
typeid_prefix(id)                        E    ?    E     E      E      =      E      E      E      E    E    E      E
is_prefixed_id(id)                       f    f    f     f      f      f      f      =      f      f    f    f      f
prefixed_id_to_uuid(id)                  E    E    E     E      E      E      E      =      =      E    E    E      E
prefixed_id_prefix(id)                   E    E    E     E      E      E      E      =      =      E    E    E      E
parse_prefixed_id(id)                    E    E    E     E      E      E      E      =      =      E    E    E      E
is_uuid(id)                              f    f    f     f      f      f      f      f      f      =    =    f      f
uuid_text_timestamp(id)                  E    E    E     E      E      E      E      E      E      =    =    =      E
uuid_from_base(id, 32)                   =    =    =     ?      ?      E      E      E      E      E    E    E      E
                                         snowflake twitter js_id trace decimal sonyflake sequence zero negative
snowflake_timestamp(id)                  =         ?       ?     ?     ?       ?         ?        -    -
snowflake_node(id)                       =         ?       ?     ?     ?       ?         ?        -    -
snowflake_counter(id)                    =         ?       ?     ?     ?       ?         ?        -    -
snowflake_within(id, '-infinity')        =         ?       ?     ?     ?       ?         ?        ?    f
js_id_timestamp(id)                      -         -       =     -     ?       -         ?        -    -
js_id_node(id)                           -         -       =     -     ?       -         ?        -    -
js_id_counter(id)                        -         -       =     -     ?       -         ?        -    -
js_id_within(id, '-infinity')            f         f       =     f     ?       f         ?        ?    f
trace_id_timestamp(id, at)               ?         ?       ?     =     ?       ?         ?        -    -
trace_id_node(id)                        ?         ?       ?     =     ?       ?         ?        -    -
trace_id_counter(id)                     ?         ?       ?     =     ?       ?         ?        -    -
decimal_id_parts(id)                     ?         ?       ?     ?     =       ?         -        -    -
TABLE

1;
