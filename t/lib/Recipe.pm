# A server, and the SQL of a page of the documentation, which a test pastes as users do.
#
#   my $recipe = Recipe->new('event_feed', conf => 'max_connections = 60');
#   my ($stdout, $stderr) = $recipe->paste('An event feed', 0);   # a block; else all blocks
#   $recipe->prepared('An event feed');      # its PREPARE statements
#   $recipe->query('SELECT 1');              # must succeed
#   $recipe->outcome('SELECT 1/0');          # what it returns, or "SQLSTATE constraint"
#   $recipe->session->ask('SELECT 1');       # a session, see Client.pm

package Recipe;

use strict;
use warnings;
use Client;
use Page;
use PostgreSQL::Test::Cluster;
use Test::More;

sub new
{
	my ($class, $name, %options) = @_;
	my $node = PostgreSQL::Test::Cluster->new($name);

	$node->init;
	$node->append_conf('postgresql.conf', "autovacuum = off\n" . ($options{conf} // ''));
	$node->start;
	$node->safe_psql('postgres', 'CREATE EXTENSION idgen');
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

sub query { return shift->{node}->safe_psql('postgres', @_) }

sub outcome
{
	my ($self, $sql) = @_;
	my ($stdout, $stderr);

	$self->{node}->psql('postgres', $sql, stdout => \$stdout, stderr => \$stderr, on_error_stop => 1, extra_params => ['--set=VERBOSITY=verbose']);
	return $stdout unless $stderr =~ /ERROR:  (\w{5})/;
	my $sqlstate = $1;
	return $sqlstate . ($stderr =~ /CONSTRAINT NAME:  (\S+)/ ? " $1" : '');
}

sub session
{
	my ($self, %where) = @_;
	my $session = Client->connect($self->{node}, %where);

	$session->wait and die 'no session';
	return $session;
}

# The page's query uses the index, also in a generic plan.
sub plan_of
{
	my ($self, $heading, $execute, @settings) = @_;

	return $self->query(join('; ', map("SET $_", @settings), $self->prepared($heading) . " EXPLAIN (COSTS OFF) EXECUTE $execute"));
}

1;
