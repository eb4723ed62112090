# Orders that are made by create_once(), for tests of transactions.

package Orders;

use strict;
use warnings;
use Exporter 'import';
use HandedOut;
use Server ();

our @EXPORT = qw(new_shop command place);

# A server with a table "orders", and a function that makes an order once and
# returns the result of the command
sub new_shop
{
	my ($name) = @_;

	my $node = Server::start_server($name, $HandedOut::settings . q{
max_prepared_transactions = 20
max_connections = 60
deadlock_timeout = 50ms
});

	Server::ask(q{
	CREATE TABLE orders (id bigint, command uuid, history uuid[]);
	CREATE FUNCTION place_order(command uuid, number bigint) RETURNS bigint LANGUAGE plpgsql AS $$
	DECLARE
		o record;
	BEGIN
		SELECT * INTO o FROM idgen.create_once_bigint(command, number, 'place order');
		IF o.created THEN
			INSERT INTO orders VALUES (o.entity_number, command);
		END IF;
		RETURN o.entity_number;
	END $$});
	return $node;
}

sub command { return sprintf('c0000000-0000-4000-8000-%012x', $_[0]) }

sub place { my ($name, $number) = @_; return sprintf("SELECT place_order('%s', %s)", command($name), $number) }

1;
