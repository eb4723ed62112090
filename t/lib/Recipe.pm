# A page of the documentation whose SQL a test pastes into its server, as users do.
#
#   my $recipe = Recipe->new('recipes');      # with the methods of Page.pm
#   my ($stdout, $stderr) = $recipe->paste('An event feed', 0);   # a block; else all blocks
#   $recipe->prepared('An event feed');      # its PREPARE statements
#   $recipe->outcome('SELECT 1/0');          # what it returns, or "SQLSTATE constraint"

package Recipe;

use strict;
use warnings;
use parent 'Page';
use Server ();
use Test::More;

# What psql prints, and its messages. The errors must be those that the page announces.
sub paste
{
	my ($self, $heading, @numbers) = @_;
	my @blocks = $self->blocks($heading);
	my $sql = join "\n", @numbers ? @blocks[@numbers] : @blocks;
	my ($stdout, $stderr) = Server::psql_said("\\set ON_ERROR_STOP off\n$sql");

	is_deeply([ $stderr =~ /ERROR:  (\w{5})/g ], [ $sql =~ /-- error (\w{5})/g ], "$heading: the errors are those announced")
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
	my ($self, $sql) = @_;
	my ($stdout, $stderr) = Server::psql_said($sql);

	return join(' ', map { $stderr =~ $_ } qr/ERROR:  (\w{5})/, qr/CONSTRAINT NAME:  (\S+)/) || $stdout;
}

# The page's query uses the index, also in a generic plan.
sub plan_of
{
	my ($self, $heading, $execute, @settings) = @_;

	return Server::ask(join('; ', map("SET $_", @settings), $self->prepared($heading) . " EXPLAIN (COSTS OFF) EXECUTE $execute"));
}

1;
