# This module provides a server with keys for masks in the file idgen_keys in the data directory, and with a role
# "caller" that can only call the functions. To let the role do this in another database, call ask($Masks::grant,
# $database).
#
#   my $masks = Masks->new;
#   $masks->outcome(q{SELECT idgen.permute(2, 'a')});   # rows, or the error with SQLSTATE
#   $masks->permuted;                             # the outcome of $Masks::permute
#   $masks->write_keys("default $Masks::key{other}\n");
#   $masks->reload($session);                     # returns when the session has read them

package Masks;
use strict;
use warnings;
use Server qw(append_to_file ask init_server psql_said slurp_file wait_until);
use Test::More;

our %key = (
	default => '000102030405060708090a0b0c0d0e0f',
	published => 'efcdab89674523011032547698badcfe',
	orders => 'C0FFEE00c0ffee11c0ffee22c0ffee33',
	other => 'fedcba98765432100123456789abcdef');

our $permute = q{SELECT idgen.permute(1, '')};
our $grant = 'GRANT EXECUTE ON FUNCTION idgen.mask_uuid_v7, idgen.unmask_uuid_v7, idgen.permute,
	idgen.unpermute TO caller';
our $all_keys = "# name, key\n\n\t " . join('', map { "$_  $key{$_} \t# of a test\r\n" } sort keys %key)
  . "gr\303\274n $key{other}\n#";

sub new
{
	my ($class) = @_;
	my $node = init_server('server', 'idgen.key_file = idgen_keys', allows_streaming => 1);
	my $self = bless { node => $node, file => $node->data_dir . '/idgen_keys' }, $class;
	$self->write_keys($all_keys);
	$node->start;
	ask("CREATE EXTENSION idgen; CREATE ROLE caller LOGIN; $grant");
	return $self;
}

sub write_keys
{
	my ($self, $content, $mode) = @_;
	unlink $self->{file};
	append_to_file($self->{file}, $content);
	chmod $mode // 0600, $self->{file} or die;
}

# Return what a query returns to the role "caller".
sub outcome
{
	my ($self, $query, %how) = @_;
	my ($rows, $errors) = psql_said($query, user => 'caller', %how);
	return $rows if $errors !~ s/^.*?ERROR:  //s;
	return $errors =~ s/\n?LOCATION:.*//sr;
}

sub permuted { my ($self, %how) = @_; return $self->outcome($permute, %how) }

# Write other keys, and wait until the session uses them. A session processes a reload between two commands.
sub reload
{
	my ($self, $session, $content) = @_;
	my $former = $session->ask($permute);
	$self->write_keys($content);
	$self->{node}->reload;
	wait_until(sub { $session->ask($permute) ne $former });
}
1;
