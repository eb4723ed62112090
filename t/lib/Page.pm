# The SQL of a page of the documentation, by section, so that a test runs what
# users paste.
#
#   my $page = Page->new('recipes');
#   $page->blocks('Store a uuid');            # the blocks of ```sql there
#   $page->blocks('Node numbers', 'sh');      # or of another language
#   $page->table('Store a uuid');             # the cells of the tables' rows

package Page;

use strict;
use warnings;
use File::Basename qw(dirname);
use PostgreSQL::Test::Utils;

sub new
{
	my ($class, $name) = @_;
	my %sections;
	my $heading = '';

	for my $part (split /^(?=#+ )/m, slurp_file(dirname(__FILE__) . "/../../docs/$name.md"))
	{
		$heading = $1 if $part =~ /^#+ +(.*\S)/;
		$sections{$heading} = $part;
	}
	return bless { sections => \%sections }, $class;
}

sub section { my ($self, $heading) = @_; return $self->{sections}{$heading} // die "no section \"$heading\"" }

sub blocks
{
	my ($self, $heading, $language) = @_;
	$language //= 'sql';
	my @blocks = $self->section($heading) =~ /^```$language\n(.*?)^```/msg;

	@blocks or die "no blocks in \"$heading\"";
	return @blocks;
}

sub table
{
	my ($self, $heading) = @_;

	return map { [ split / *\| */, $_ ] } $self->section($heading) =~ /^\| *(.*?) *\|$/mg;
}

1;
