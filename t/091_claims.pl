# Claims of pages have a source. Each figure of these pages, and each "reveals", is part of a claim in t/claims.txt, and
# the source of each claim exists: a test, or a point of a stored run with the figure.

use Server;
use Text::ParseWords qw(quotewords shellwords);

# The text of a page in one line, without headings, blocks of code and the targets of links
sub text_of
{
	# the sizes and names of types in choosing.md's table of all keys are not figures
	return slurp_file(shift) =~ s/^\| key \| bytes \|.*?\n\n//msr =~ s/^```.*?^```//msgr =~ s/^(?:#| {4}).*$//mgr
	  =~ s/\]\([^)]*\)/]/gr =~ s/\s+/ /gr;
}

# --- The table ------------------------------------------------------------------------
# Entries are separated by empty lines. The first lines of an entry are the claim as it stands on the page, without the
# targets of links; the indented ones are its sources. A line "= PAGE" begins the claims of a page.
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

# The mean of a metric at a point of a run
sub mean
{
	my ($path, $scene, $key, $series, $x, $metric) = @_;
	for (grep { /^point,/ } split /\n/, slurp_file($path))
	{
		my (undef, @point) = quotewords(',', 0, $_);
		next if join("\n", @point[ 0 .. 3 ]) ne join("\n", $scene, $key, $series, $x);
		return (map { /^\Q$metric\E=(\S+)/ } @point)[0];
	}
	return;
}

# A source is FILE: TEXT THAT IS IN IT, or RUN.csv: POINT = FIGURE, also with POINT - POINT or POINT / POINT. A POINT is
# SCENE KEY SERIES X METRIC. A figure may be rounded: its zeros at the end do not count.
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
# Numbers of versions, of specifications and of errors are not figures.
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
