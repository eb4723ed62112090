# statements.pl: print a source in a form that does not depend on columns, for check.sh.
#
# clang-format has most of pgindent's rules, but not those for the columns of variable
# names, comments and continued statements. So each statement and each initializer is on
# one line here, and one blank is in place of several after the indentation.

use strict;
use warnings;

my $atom = qr{/\*.*?\*/|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'}s;

$_ = join '', <>;
s/^(#.*\\)\n((?:.*\\\n)*.*)/"$1\n" . ($2 =~ s{^\s+}{ }gmr)/gme;								# continued macros
s/(\((?:$atom|[^()]|(?1))*\))/$1 =~ s{\s+}{ }gr/ge;											# in parentheses
s/\)\s+(?=[(\[])|\) (?=\{)/)/g;
s/(=\s*|\))(\{(?:$atom|[^{}]|(?2))*\})/$1 . ($2 =~ s{\s+}{ }gr =~ s{ ?([{}]) ?}{$1}gr)/ge;		# initializers
s/(?<=\S)[ \t]+/ /g;
s~(?<!\belse)(?<!\bdo)(?:(?<=[^;:{})/\n])|(?<= :))\n[ \t]+~ ~g;								# continued statements
s/ $//gm;
print;
