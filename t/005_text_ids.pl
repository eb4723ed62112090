# Text identifiers in a UTF8 database: error messages count characters, not
# bytes, and the order of text is the order of uuids in COLLATE "C" but not in
# every collation.

use utf8;
use Server;

my $node = start_server('server');
ask(q{CREATE DATABASE utf8 ENCODING 'UTF8' LOCALE 'C' TEMPLATE template0});
$node->safe_psql('utf8', q{CREATE EXTENSION idgen; SELECT idgen.create_id_domain('account_id', 'acct')});

# --- Messages ---------------------------------------------------------------

# U&'\00E4' is a character of two bytes, U&'\+01F600' is one of four.
for my $case (
	[ q{uuid_from_base('12ä', 36)} => 'Invalid character at position 3; a digit of base 36 is expected.' ],
	[ q{uuid_from_base(repeat('1', 12) || repeat('ä', 13), 36)} => 'Invalid character at position 13; a digit of base 36 is expected.' ],
	[ q{uuid_from_base(repeat('1', 24) || '😀', 36)} => 'Invalid character at position 25; a digit of base 36 is expected.' ],
	[ q{uuid_from_base(repeat('1', 26), 36)} => 'At most 25 digits are allowed.' ],
	[ q{uuid_from_base(repeat('😀', 26), 36)} => 'At most 25 characters are allowed.' ],
	[ q{bigint_from_base('ää', 62)} => 'Invalid character at position 1; a digit of base 62 is expected.' ],
	[ q{ulid_to_uuid(repeat('ä', 13))} => 'Invalid character at position 1; a digit of base 32 is expected.' ],
	[ q{ulid_to_uuid('01ARZ3NDEKä')} => 'Invalid character at position 11; a digit of base 32 is expected.' ],
	[ q{ulid_to_uuid('01ARZ3NDEK')} => 'Exactly 26 digits are required.' ],
	[ q{ulid_to_uuid(repeat('😀', 27))} => 'At most 26 characters are allowed.' ],
	[ q{typeid_to_uuid('usär_' || repeat('0', 26))} => 'Invalid character at position 3; a prefix must consist of lower-case letters and underscores.' ],
	[ q{typeid_to_uuid('user_' || repeat('ä', 13))} => 'Invalid character at position 6; a digit of base 32 is expected.' ],
	[ q{typeid_to_uuid('user_' || repeat('ä', 60))} => 'Invalid character at position 6; a digit of base 32 is expected.' ],
	[ q{typeid_to_uuid(repeat('😀', 91))} => 'At most 90 characters are allowed.' ],
	[ q{prefixed_id_to_uuid('acct_1ä')} => 'Invalid character at position 7; a digit of base 36 is expected.' ],
	[ q{prefixed_id_to_uuid('äcct_1')} => 'Invalid character at position 1; a prefix must begin with a lower-case letter.' ],
	[ q{prefixed_id_to_uuid('a' || repeat('ä', 40) || '_1')} => 'Invalid character at position 2; a prefix must consist of lower-case letters, digits and underscores.' ],
	[ q{prefixed_id_to_uuid(repeat('ä', 40))} => 'An underscore must separate the prefix from the digits.' ],
	[ q{prefixed_id_to_uuid(repeat('a', 64) || '_1')} => 'At most 63 characters are allowed in a prefix.' ],
	[ q{prefixed_id_to_uuid(repeat('😀', 90))} => 'At most 89 characters are allowed.' ],
	[ q{prefixed_id('a' || repeat('ä', 40))} => 'Invalid character at position 2; a prefix must consist of lower-case letters, digits and underscores.' ],
	[ q{prefixed_id('a' || repeat('ä', 31))} => 'Invalid character at position 2; a prefix must consist of lower-case letters, digits and underscores.' ],
	[ q{prefixed_id('a_')} => 'A prefix must not end with an underscore.' ])
{
	my ($call, $detail) = @$case;

	# psql takes bytes
	utf8::encode(my $query = "SET client_encoding = UTF8; SELECT idgen.$call");
	utf8::encode(my $name = $call);
	like(errors($query, database => 'utf8'), qr/^DETAIL:  \Q$detail\E$/m, $name);
}
utf8::encode(my $query = q{SET client_encoding = UTF8; SELECT idgen.is_prefixed_id('acct_' || repeat('ä', 12) || '1', 'acct'), idgen.is_prefixed_id('äcc_3e6wlko0bp8e7c9916hklbnd', 'acct')});
is($node->safe_psql('utf8', $query), 'f|f', 'is_prefixed_id() rejects characters of two bytes');

# --- Order ------------------------------------------------------------------

# In Estonian, z sorts between s and t.
SKIP:
{
	skip 'the server has no ICU collations', 15
	  if $node->safe_psql('utf8', q{SELECT count(*) FROM pg_collation WHERE collname = 'et-x-icu'}) == 0;

	for my $name ((map { "uuid_to_base(id, $_)" } 32, 36, 58, 62), 'ulid_from_uuid(id)', q{typeid_from_uuid('user', id)}, q{prefixed_id('acct', id)})
	{
		for my $collation ('et-x-icu', 'C')
		{
			is( $node->safe_psql('utf8', qq{
					SELECT count(*) FILTER (WHERE text COLLATE "$collation" <= previous COLLATE "$collation") = 0
					FROM (SELECT text, lag(text) OVER (ORDER BY id) AS previous
						  FROM (SELECT id, idgen.$name AS text FROM (SELECT md5(n::text)::uuid AS id FROM generate_series(1, 2000) n) u) t) s}),
				$collation eq 'C' ? 't' : 'f',
				"$name is " . ($collation eq 'C' ? '' : 'not ') . "in the order of uuids in collation $collation");
		}
	}

	# the collation of a domain overrides that of the database
	is( $node->safe_psql('utf8', q{
			CREATE TABLE account (id account_id PRIMARY KEY, uuid uuid);
			INSERT INTO account SELECT idgen.prefixed_id('acct', id), id FROM (SELECT md5(n::text)::uuid AS id FROM generate_series(1, 2000) n) u;
			SELECT array_agg(uuid ORDER BY id) = array_agg(uuid ORDER BY uuid) FROM account}),
		't', 'an id domain is in the order of uuids');
}

done_testing();
