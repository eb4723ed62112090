# Django's models with the keys of contrib/clients/django keep all keys and foreign keys in 35 uses: where the server
# generates the keys, and where the application does.

use lib 'contrib/clients/t/lib';
use Program;
use Server;

my ($django) = grep { $_->{name} eq 'django' } Program::all('stack');
plan skip_all => 'Django is not installed' if !$django || !$django->can_run;
Program::start_server('django');
my $command = $django->{command};

for my $keys (qw(server application))
{
	ask("CREATE DATABASE $keys OWNER app");
	ask('CREATE EXTENSION idgen', $keys);
	$django->{command} = $command =~ s/=settings (.*)main\.py/=cases.settings CASES_KEYS=$keys $1-m cases.run/r;
	$django->{database} = $keys;
	my $cases = $django->start;
	is_deeply([ $cases->answer ], [ 'ok', 35 ], "all cases pass where the $keys generates the keys");
	is($cases->end, 0, 'the program ends well');
}

done_testing();
