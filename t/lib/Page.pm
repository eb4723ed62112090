# This module returns the SQL on a documentation page by section, so that a test executes the same SQL that users paste.
#
#   my $page = Page->new('recipes');          # docs/recipes.md; or a path: 'contrib/portable/README.md'
#   $page->blocks('Store a uuid');            # the blocks of ```sql in this section
#   $page->blocks('Node numbers', 'sh');      # the blocks of another language
#   $page->blocks_in_order;                   # all blocks of SQL and shell commands
#   $page->table('Store a uuid');             # the cells of each table row
#   $page->prose('Store a uuid');             # its text without code blocks and line breaks
#   my ($stdout, $stderr) = $page->paste('An event feed', 0);   # executes block 0, by default all blocks
#   $page->prepared('An event feed');         # its PREPARE statements
#   $page->outcome('SELECT 1/0', user => 'app');    # the rows, or "SQLSTATE constraint"

package Page;
use strict;
use warnings;
use File::Basename qw(dirname);
use PostgreSQL::Test::Utils;
use Server ();
use Test::More;

sub new
{
	my ($class, $name) = @_;
	my $path = $name =~ m{/} ? $name : "docs/$name.md";
	my (%sections, @headings);
	my $heading = '';
	for my $part (split /^(?=#+ )/m, slurp_file(dirname(__FILE__) . "/../../$path"))
	{
		$heading = $1 if $part =~ /^#+ +(.*\S)/;
		$sections{$heading} = $part;
		push @headings, $heading;
	}
	return bless { sections => \%sections, headings => \@headings }, $class;
}

sub headings { return @{ $_[0]{headings} } }
sub section { my ($self, $heading) = @_; return $self->{sections}{$heading} // die "no section \"$heading\"" }

# Return the text without its code blocks, as one line.
sub prose { my ($self, $heading) = @_; return $self->section($heading) =~ s/^ *```.*?^ *```//msgr =~ s/\s+/ /gr }

sub blocks
{
	my ($self, $heading, $language) = @_;
	$language //= 'sql';
	my $section = $self->section($heading);
	my @blocks;
	push @blocks, $2 =~ s/^$1//gmr while $section =~ /^( *)```$language\n(.*?)^ *```/msg;
	@blocks or die "no blocks in \"$heading\"";
	return @blocks;
}

# Return all SQL and shell blocks of the page as lists of section, language and text.
sub blocks_in_order
{
	my ($self) = @_;
	my @blocks;
	for my $heading (@{ $self->{headings} })
	{
		while ($self->{sections}{$heading} =~ /^( *)```(sql|sh)\n(.*?)^ *```/msg)
		{
			my ($indentation, $language, $text) = ($1, $2, $3);
			push @blocks, [ $heading, $language, $text =~ s/^$indentation//gmr ];
		}
	}
	return @blocks;
}

sub table
{
	my ($self, $heading) = @_;
	return map { [ split / *\| */, $_ ] } $self->section($heading) =~ /^\| *(.*?) *\|$/mg;
}

# Paste SQL blocks into psql, and return its output and its messages. The errors must be those that the page announces.
sub paste
{
	my ($self, $heading, @numbers) = @_;
	my @blocks = $self->blocks($heading);
	my $sql = join "\n", @numbers ? @blocks[@numbers] : @blocks;
	my ($stdout, $stderr) = Server::psql_said("\\set ON_ERROR_STOP off\n$sql");
	is_deeply([ $stderr =~ /ERROR:  (\w{5})/g ], [ $sql =~ /-- error (\w{5})/g ],
		"$heading: the errors are those announced")
	  or diag($stderr);
	return ($stdout, $stderr);
}

sub prepared
{
	my ($self, $heading) = @_;
	return join("\n", map { /^(PREPARE.*?;)/msg } $self->blocks($heading)) || die 'nothing is prepared';
}

sub outcome
{
	my ($self, $sql, %how) = @_;
	my ($stdout, $stderr) = Server::psql_said($sql, %how);
	return join(' ', map { $stderr =~ $_ } qr/ERROR:  (\w{5})/, qr/CONSTRAINT NAME:  (\S+)/) || $stdout;
}

# Return the plan of the page's query.
sub plan_of
{
	my ($self, $heading, $execute, @settings) = @_;
	my $explain = $self->prepared($heading) . " EXPLAIN (COSTS OFF) EXECUTE $execute";
	return Server::ask(join('; ', map("SET $_", @settings), $explain));
}
1;
