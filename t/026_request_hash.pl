# Verify that the hash of a request is the same in every server encoding, and that a short request that denotes very
# long numbers is rejected.

use utf8;
use Digest::SHA qw(sha256);
use Encode qw(encode);
use Server;

start_server('hashed');
$ENV{PGCLIENTENCODING} = 'UTF8';

# There is one database for each encoding, with the characters to test in it.
my %database = (UTF8 => 'é€', LATIN1 => 'é', LATIN9 => 'é€', EUC_JP => '', SQL_ASCII => 'é€');
add_database($_, $_) for keys %database;
ask(q{
	CREATE FUNCTION hash_of(request jsonb) RETURNS bigint LANGUAGE plpgsql AS $$
	DECLARE
		id uuid := gen_random_uuid();
	BEGIN
		PERFORM idgen.create_once_bigint(id, 1, '', request);
		RETURN (SELECT request_hash FROM idgen.creation_identifiers WHERE command_id = id);
	END $$}, lc) for keys %database;

# Replace the $ in the two requests with characters that exist in the encoding. In LATIN1, "é" is one byte long and
# precedes "zz". In UTF-8, it is two bytes long and follows "zz".
my @requests = (
	[ '{"name": "$"}' => '{"name": "$"}' ],
	[ '"$"', '"$"' ],
	[ '["$", {"$": "$\u0001\"\\\\"}]' => '["$", {"$": "$\u0001\"\\\\"}]' ],
	# Keys that contain "é" are longer in UTF-8 than in LATIN1, which changes the order of the keys.
	[ '{"éa": 1, "zz": 2, "y": {"é": 3, "x": 4, "xx": 5}}' => '{"y": {"x": 4, "xx": 5, "é": 3}, "zz": 2, "éa": 1}' ]);

sub expected { return unpack('q>', sha256(encode('UTF-8', $_[0]))) }

for my $encoding (sort keys %database)
{
	for my $character (split //, $database{$encoding} || 'ソ表')
	{
		for my $case (@requests)
		{
			my ($request, $hashed) = @$case;
			next if $encoding eq 'EUC_JP' && $request =~ /é/;
			s/\$/$character/g for $request, $hashed;
			is(ask(encode('UTF-8', "SELECT hash_of('$request')"), lc $encoding),
				expected($hashed), encode('UTF-8', "$encoding: $request"));
		}
	}
}

# Pass bytes that are not valid UTF-8 in a database without an encoding.
is(outcome("SELECT hash_of(('\"' || E'\\xe9' || '\"')::jsonb)", database => 'sql_ascii'), '22021',
	'bytes that are not UTF-8 are an error in SQL_ASCII');

# This 90 kB request denotes 10,000 numbers with 131,072 digits each.
is(outcome(q{SELECT hash_of(('[' || repeat('1e131071,', 10000) || '1]')::jsonb)}, database => 'utf8'), '22003',
	'long numbers are refused');
done_testing();
