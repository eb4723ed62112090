# A server, which can be a given "node", and the SQL of a page of the documentation, which a
# test pastes as users do.
#
#   my $recipe = Recipe->new('event_feed', conf => 'max_connections = 60');
#   my ($stdout, $stderr) = $recipe->paste('An event feed', 0);   # a block; else all blocks
#   $recipe->prepared('An event feed');      # its PREPARE statements
#   $recipe->outcome('SELECT 1/0');          # what it returns, or "SQLSTATE constraint"

package Recipe;

use strict;
use warnings;
use Page;
use Server ();
use Test::More;

sub new
{
	my ($class, $name, %options) = @_;
	my $node = $options{node} // Server::start_server($name, "autovacuum = off\n" . ($options{conf} // ''));

	return bless { page => Page->new('recipes'), node => $node }, $class;
}

sub node { return $_[0]{node} }

sub page { return $_[0]{page} }

sub blocks
{
	my ($self, $heading, @numbers) = @_;
	my @blocks = $self->{page}->blocks($heading);

	return @numbers ? @blocks[@numbers] : @blocks;
}

# What psql prints, and its messages. The errors must be those that the page announces.
sub paste
{
	my ($self, $heading, @numbers) = @_;

	return $self->paste_sql($heading, join "\n", $self->blocks($heading, @numbers));
}

sub paste_sql
{
	my ($self, $name, $sql) = @_;
	my ($stdout, $stderr);

	$self->{node}->psql('postgres', $sql,
		on_error_stop => 0,
		stdout => \$stdout,
		stderr => \$stderr,
		extra_params => ['--set=VERBOSITY=verbose']);
	is_deeply([ $stderr =~ /ERROR:  (\w{5})/g ], [ $sql =~ /-- error (\w{5})/g ], "$name: the errors are those announced")
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

	return $stdout unless $stderr =~ /ERROR:  (\w{5})/;
	my $sqlstate = $1;
	return $sqlstate . ($stderr =~ /CONSTRAINT NAME:  (\S+)/ ? " $1" : '');
}

# The page's query uses the index, also in a generic plan.
sub plan_of
{
	my ($self, $heading, $execute, @settings) = @_;

	return Server::ask(join('; ', map("SET $_", @settings), $self->prepared($heading) . " EXPLAIN (COSTS OFF) EXECUTE $execute"));
}

1;
