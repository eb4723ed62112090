# Verify the generators in nine languages. They must generate the keys of the test vectors, and the same keys as the
# server for other times. The server must accept the keys that they generate for the current time. With wrong arguments,
# they must not generate a key.

use lib 'contrib/clients/t/lib';
use Page;
use Program;
use Server;

sub vectors
{
	my (undef, @lines) = split /\n/, slurp_file("$Program::folder/$_[0]_vectors.csv");
	return map { [ split /,/ ] } @lines;
}
my @short = vectors('short_comb');
my @hmac = vectors('hmac_comb');

my $node = init_server('generators', 'idgen.key_file = idgen_keys');
my $key_file = $node->data_dir . '/idgen_keys';
my $key = $hmac[0][0];
append_to_file($key_file, "first $key\nsecond $Program::id_key\n");
chmod 0600, $key_file or die "chmod $key_file: $!";
$node->start;
ask('CREATE EXTENSION idgen');
is_deeply([ scalar @short, scalar @hmac ], [ 44, 120 ], 'there are test vectors');

# --- short_comb: the vectors are those of the page, of the extension and of the portable edition
my %known = map { join(',', @$_) => 1 } @short;
is_deeply([ grep { !$known{$_} } split /\n/, (Page->new('short-comb')->blocks('Test vectors', 'text'))[0] ], [],
	'those of the specification are among them');
my @editions = ('postgres');
if (-e 'contrib/portable/uuids.sql')
{
	push @editions, 'portable';
	ask('CREATE DATABASE portable');
	ask(slurp_file('contrib/portable/uuids.sql'), 'portable');
}
my $values = join ', ', map { sprintf "(%s, %s, %s, '%s', uuid '%s')", @$_ } @short;
for my $edition (@editions)
{
	is(ask(qq{
		SELECT id FROM (VALUES $values) v (period, bytes, ms, random, id),
			idgen.short_comb(period * interval '1 ms', bytes,
				clock => timestamptz '1970-01-01 00:00+00' + ms * interval '1 ms') made
		WHERE (substr(uuid_send(id), 1, bytes), idgen.uuid_version(id), idgen.uuid_variant(id),
			right(replace(id::text, '-', ''), 15))
			IS DISTINCT FROM (substr(uuid_send(made), 1, bytes), idgen.uuid_version(made), idgen.uuid_variant(made),
			right(random, 15))}, $edition),
		'', "$edition: prefix, version and variant are the server's, and the end is random");
}

# --- hmac_comb: the first eight digits for each secret key, area, period in ms, and Unix time in ms
sub first_digits
{
	my $values = join ', ', map { sprintf "('%s', '%s', %s::bigint, %s::bigint)", @$_[ 0 .. 3 ] } @_;
	return split /\n/, ask(qq{
		SELECT left(idgen.hmac_comb_at(
			timestamptz '1970-01-01 00:00+00' + ms / 1000 * interval '1 s' + ms % 1000 * interval '1 ms',
			area, CASE key WHEN '$key' THEN 'first' ELSE 'second' END, period * interval '1 ms')::text, 8)
		FROM (VALUES $values) v (key, area, period, ms)});
}
is_deeply([ first_digits(@hmac) ], [ map { $_->[4] } @hmac ], 'hmac_comb: the first digits are those of the vectors');

# Use another key, and times before 1970 and far in the future.
my @more;
for my $ms (map { ($_ - 1, $_, $_ + 1) } -62135596800000, -3600000, -300000, 1795146240000, 253402300799000)
{
	push @more, map { [ $Program::id_key, 'orders', $_, $ms ] } 1, 7, 3600000, 86400000;
}
# Use the longest area, and an area with a character that some libraries treat as the end of a line.
push @more, map { [ $Program::id_key, $_, 3600000, 1795146240000 ] } 'ö' x 31 . 'o', "a\xe2\x80\xa8b";
my @digits = first_digits(@more);
push @$_, shift @digits for @more;
push @hmac, @more;

# --- the languages: a line for each key; "now" is a short COMB and an HMAC COMB
my ($random, $rest) = ('f0e1d2c3b4a5968778695a4b3c2d1e0f', 'b4a54687b8695a4b3c2d1e0f');
my $area = 'größe';
my @lines = ((map { [ 'short', $random, '', @$_[ 0 .. 3 ] ] } @short),
	map { [ 'hmac', @$_[ 0 .. 2 ], 0, $_->[3], $random ] } @hmac);
my @now = ([ 'now', $key, $area, 0, 0, 0, $random ]) x 2;
my @expected = map { s/-//gr } ((map { $_->[4] } @short), map { $_->[4] . $rest } @hmac);

# Return a program's answers to the given lines.
sub answers
{
	my ($language, @lines) = @_;
	my $input = PostgreSQL::Test::Utils::tempdir() . "/$language->{name}";
	append_to_file($input, join '', map { join("\t", @$_) . "\n" } @lines);
	return (run_command([ $language->in_folder("$language->{command} <$input") ]))[0];
}

# Verify that the version 7 UUID of a given time is the example in appendix A.6 of RFC 9562, that the version and
# variant do not depend on the random bytes, and that the server accepts a UUID of the current time.
sub version_7
{
	my ($language) = @_;
	my $ms = hex '017F22E279B0';
	for ([ '00' x 6 . '0CC318C4DC0C0C07398F', '017f22e2-79b0-7cc3-98c4-dc0c0c07398f' ],
		[ 'ff' x 16, '017f22e2-79b0-7fff-bfff-ffffffffffff' ])
	{
		my ($bytes, $expected) = @$_;
		my ($made, $of_now) = split ' ', answers($language, [ 'v7', '', '', 1, 1, $ms, $bytes ]);
		is($made, $expected, "$language->{name}: version 7 of RFC 9562's time, random bytes $bytes");
		is(ask("SELECT idgen.check_recent_uuid_v7('$of_now')"), $of_now, '... and one of now');
	}
}

for my $language (Program::all('generators'))
{
	SKIP:
	{
		my $name = $language->{name};
		skip "the runtime is not installed: $language->{packages}", 1 if !$language->can_run;
		my @made = map { s/-//gr } split /\s/, answers($language, @lines, $language->{has}{now} ? @now : ());
		my @of_now = splice @made, @expected;
		is_deeply(\@made, \@expected, "$name: " . @expected . ' keys are those of the vectors')
		  or diag(slurp_file($language->{log}));

		my @wrong = ([ 'hmac', $key, 'ö' x 32, 3600000 ]);
		push @wrong, [ 'hmac', '00' x 15, $area, 1 ], [ 'hmac', '00' x 17, $area, 1 ], [ 'hmac', $key, $area, 0 ],
		  [ 'short', $key, $area, 0 ] if $language->{has}{now};
		my $few_bytes = $random =~ s/..$//r;
		push @wrong, [ 'hmac', $key, '\\N', 3600000 ], map { [ $_, $key, $area, 60000, $few_bytes ] } 'hmac', 'short'
		  if $language->{has}{null};
		for (@wrong)
		{
			my ($kind, $bytes, $text, $period, $few) = @$_;
			unlike(answers($language, [ $kind, $bytes, $text, $period, 2, 1, $few // $random ]), qr/4b3c2d1e/,
				"... no $kind COMB with a key of " . length($bytes) / 2 . " bytes, area $text, period $period ms"
				  . ($few ? ', 15 random bytes' : ''));
		}
		next if !$language->{has}{now};

		is(scalar(do { my %ids = map { $_ => 1 } @of_now; keys %ids }), 4, "$name: keys of now are four");
		is(ask(sprintf "SELECT %s", join ' AND ',
			(map { "idgen.is_recent_short_comb('$_')" } @of_now[ 0, 2 ]),
			map { "idgen.is_recent_hmac_comb('$_', '$area', 'first')" } @of_now[ 1, 3 ]),
			't', '... which the server accepts');
		version_7($language) if $language->{has}{v7};
	}
}
done_testing();
