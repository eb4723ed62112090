# What a role gets from a statement.

package Roles;

use strict;
use warnings;
use Exporter 'import';

our @EXPORT = qw(as_role create_roles new_database);

# The rows, or the SQLSTATE of the first error. Options are set in the connection.
sub as_role
{
	my ($node, $role, $database, $query, $options) = @_;
	my ($rows, $errors);

	local $ENV{PGOPTIONS} = $options // '';
	$node->psql(
		$database, $query,
		stdout => \$rows,
		stderr => \$errors,
		extra_params => [ '--username', $role, '--set=VERBOSITY=sqlstate' ]);
	die "$role cannot connect: $errors" if $errors =~ /^psql: error/m;
	return $errors =~ /ERROR:  (\w{5})/ ? $1 : $rows;
}

# An installer without superuser rights, an application with grants, a stranger
sub create_roles
{
	my ($node) = @_;

	$node->safe_psql('postgres', "CREATE ROLE $_ LOGIN") for qw(installer application stranger);
}

# A database in which the installer may create the extension
sub new_database
{
	my ($node, $database) = @_;

	$node->safe_psql('postgres', "CREATE DATABASE $database; GRANT CREATE ON DATABASE $database TO installer");
}

1;
