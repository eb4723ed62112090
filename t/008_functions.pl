# The list of functions in t/lib/Functions.pm is complete: it has every function
# that is installed, with its volatility and parallel safety, and a property for
# every function that takes an identifier, text or a number.

use Functions;
use Properties;
use Server;

my $node = start_server('functions');
Functions::install($node, 'postgres');

my %installed = map { split /\|/ } split /\n/, ask("SELECT signature, attributes FROM ($Functions::installed) p");
my %listed = map { $_->{signature} => $_->{attributes} }
  grep { $_->{kind} ne 'advisor' || $installed{ $_->{signature} } } @Functions::functions;

is(join("\n", grep { !exists $listed{$_} } sort keys %installed), '', 'each function has a row')
  or diag('Add the rows to the list in t/lib/Functions.pm.');
is(join("\n", grep { !exists $installed{$_} } sort keys %listed), '', 'each row has a function')
  or diag('Remove the rows from the list in t/lib/Functions.pm.');
is(join("\n", map { "$_: $installed{$_}" } grep { exists $listed{$_} && $listed{$_} ne $installed{$_} } sort keys %installed),
	'', 'each function has the volatility, parallel safety and strictness of its row')
  or diag('Correct the function, or its row in the list in t/lib/Functions.pm.');

my $properties = join "\n", map { @$_ } @Properties::properties;
my @without = map { $_->{signature} }
  grep { $_->{signature} =~ /\b(_?uuid|text|int8)\b/ && $properties !~ /\b(idgen|tried)\.$_->{name}\(/ } @Functions::functions;
is(join("\n", grep { !/^(min|max)\(/ } @without), '', 'each function that takes an identifier, text or a number has a property')
  or diag('Add them to @properties in t/lib/Properties.pm.');

is( ask(q{SELECT string_agg(layout, ' ' ORDER BY layout) FROM idgen.tickers}),
	join(' ', sort @Functions::tickers), 'each ticker has a function')
  or diag('Correct the rows of the kind "ticker" in the list in t/lib/Functions.pm.');

done_testing();
