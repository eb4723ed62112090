# Verify that claims on pages have a source. On the pages that t/claims.txt names, each figure and each "reveals" must
# be part of a claim in that file. The source of each claim must exist: a string in a test, or a data point with this
# figure in a stored run.

use Server;
use Text::ParseWords qw(quotewords shellwords);

# Return the text of a page as one line, without headings, code blocks and the targets of links.
sub text_of
{
	# The sizes and names of types in the table of all keys in choosing.md are not figures.
	return slurp_file(shift) =~ s/^\| key \| bytes \|.*?\n\n//msr =~ s/^```.*?^```//msgr =~ s/^(?:#| {4}).*$//mgr
	  =~ s/\]\([^)]*\)/]/gr =~ s/\s+/ /gr;
}

# --- The table ------------------------------------------------------------------------
# Entries are separated by empty lines. The first lines of an entry are the claim as worded on the page, without the
# targets of links. The indented lines are its sources. The line "= PAGE" begins the claims of a page.
my (@entries, $page);
for my $entry (split /\n\n+/, slurp_file('t/claims.txt') =~ s/^#.*\n//mgr)
{
	my (@claim, @sources);
	for (split /\n/, $entry)
	{
		if (/^= (.*)/) { $page = $1 }
		elsif (/^\t(.*)/) { push @sources, $1 }
		elsif ($_ ne '') { push @claim, $_ }
	}
	push @entries, { page => $page, claim => join(' ', @claim), sources => \@sources } if @claim;
}
my %text = map { $_->{page} => text_of($_->{page}) } @entries;
cmp_ok(scalar @entries, '>=', 30, 'there are claims');

# Return the mean of a metric at a point of a run.
sub mean
{
	my ($path, $scene, $key, $series, $x, $metric) = @_;
	for (grep { /^point,/ } split /\n/, slurp_file($path))
	{
		my (undef, @point) = quotewords(',', 0, $_);
		next if join("\n", @point[ 0 .. 3 ]) ne join("\n", $scene, $key, $series, $x);
		my ($mean) = map { /^\Q$metric\E=(\S+)/ } @point;
		return $mean if defined $mean;
	}
	return;
}

# Return what is wrong with a source, or ''. A source has the form FILE: TEXT, where the file contains the text, or
# RUN.csv: POINT = FIGURE. Instead of POINT, it can contain POINT - POINT or POINT / POINT. A POINT consists of SCENE
# KEY SERIES X METRIC. A figure may be rounded, so zeros at its end are not significant.
sub problem
{
	my ($source, $claim) = @_;
	my ($path, $what) = $source =~ /^(\S+): (.*)$/ or return 'it is not FILE: TEXT';
	return 'the file does not exist' if !-e $path;
	return index(slurp_file($path), $what) < 0 ? 'the file does not contain the text' : '' if $path !~ /\.csv$/;

	my ($first, $operator, $second, $figure) = $what =~ m{^(.*?)(?: ([-/]) (.*))? = (\S+)$}
	  or return 'it has no figure';
	my ($value, $other) = map { mean($path, shellwords($_)) // return "the run has no point $_" } $first, $second // ();
	$value = $operator eq '-' ? $value - $other : $value / $other if defined $operator;
	my ($number, $zeros, $decimals) = ($figure =~ tr/,//dr) =~ /^(\d+?(0*)(?:\.(\d+))?)$/ or return 'it has no figure';
	my $unit = defined $decimals ? 10**-length $decimals : 10**length $zeros;
	return "the run has $value" if abs($value - $number) > $unit * 0.500001;
	return index($claim, $figure) < 0 ? 'the claim does not contain the figure' : '';
}

for my $entry (@entries)
{
	my ($claim, $sources) = @$entry{qw(claim sources)};
	my $name = "$entry->{page}: " . ($claim =~ s/^(.{60}).+/$1…/r);
	cmp_ok(index($text{ $entry->{page} }, $claim), '>=', 0, "$name is on the page") or diag($claim);
	is(join("\n", map { my $problem = problem($_, $claim); $problem ? "$_: $problem" : () } @$sources), '',
		"$name: the sources exist");
	cmp_ok(scalar @$sources, '>', 0, "$name: there is one") if !@$sources;
}

# --- Figures and "reveals" without a claim ----------------------------------------------------
# Version numbers, numbers of sections and RFCs, and SQLSTATEs are not figures.
my $no_figure = qr/`[^`]*`
	|(?i:PostgreSQL|versions?|from\ version|section)\ [\d., and]+
	|(?:RFC\ |SHA-|SipHash-2-)\d+
	|\b(?=\w*\d)[0-9A-Z]{5}\b/x;
for my $path (sort keys %text)
{
	my $rest = $text{$path};
	$rest =~ s/\Q$_->{claim}\E/ … /g for grep { $_->{page} eq $path } @entries;
	$rest =~ s/$no_figure/…/g;
	is(join("\n", $rest =~ /(.{0,60}(?:\d|[Rr]eveal).{0,40})/g), '',
		"$path: each figure and each \"reveals\" is in a claim");
}
done_testing();
