#!/usr/bin/env perl
#
# statements.pl: the source, each statement on one line, for check.sh.
#
# clang-format knows most of pgindent's rules, but not the columns that it puts
# the names of variables, comments and the rest of a statement into. So two
# sources are compared by what is left of them here: every statement behind its
# indentation, with braces on lines of their own, and with one blank for many.

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

	# comments and the preprocessor's lines stand by themselves
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
	my $block = $code =~ /^\s*[{}]$/ && $statement !~ /=\s*(\{|$)/;	# and no list of values
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
