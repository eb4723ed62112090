#!/usr/bin/env perl
#
# statements.pl: print a source with each statement on one line, for check.sh.
#
# clang-format has most of pgindent's rules, but not those for the columns of
# variable names, comments and continued statements. This form of a source does
# not depend on them: each statement after its indentation, braces on lines of
# their own, and one blank in place of several.

use strict;
use warnings;

my $statement = '';
my $in_comment = 0;

sub flush_statement
{
	return if $statement eq '';
	my ($indentation, $rest) = $statement =~ /^([ \t]*)(.*)$/s;
	$rest =~ s/\s+/ /g;
	$rest =~ s/ ?([{}]) ?/$1/g;
	$rest =~ s/\) (?=[(\[])/)/g;
	print "$indentation$rest\n";
	$statement = '';
}

while (my $line = <>)
{
	$line =~ s/\s+$//;

	# comments and preprocessor directives remain as they are
	my $continued = $statement =~ /^\s*#.*\\$/;
	if ($in_comment || $line eq '' || $line =~ m{^\s*/\*} && $line !~ m{\*/.*\S$} || $line =~ m{^\s*/\*.*\*/$} || $line =~ /^#/ || $continued)
	{
		flush_statement();
		$statement = $line eq '' ? "\n" : $line;
		$in_comment = 1 if $line =~ m{/\*} && $line !~ m{\*/};
		$in_comment = 0 if $line =~ m{\*/$};
		if ($line =~ /\\$/)
		{
			$statement = "# $line";
			print "$statement\n" =~ s/[ \t]+/ /gr;
			$statement = "#\\";
			next;
		}
		if ($line eq '') { print "\n"; $statement = ''; }
		elsif ($continued) { print "# $line\n" =~ s/[ \t]+/ /gr; $statement = ''; }
		else { flush_statement(); }
		next;
	}

	my $code = $line =~ s{\s*/\*.*\*/$}{}r;
	my $block = $code =~ /^\s*[{}]$/ && $statement !~ /=\s*(\{|$)/;	# and not an initializer
	flush_statement() if $block;
	$statement = $statement eq '' ? $line : "$statement $line";

	my $so_far = $statement =~ s{\s*/\*.*?\*/}{}gr;
	my $balanced = ($so_far =~ tr/(//) == ($so_far =~ tr/)//);
	flush_statement()
	  if $block
	  || $balanced && ($code =~ /;$/
		|| $so_far =~ /^\s*(if|for|while|switch|else|do|case|default)\b/ && $code =~ /(\)|else|do|:)$/
		|| $so_far =~ /^\w+:$/);
}
flush_statement();
