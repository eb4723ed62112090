#!/usr/bin/env perl
#
# clients.pl: print the requests of the demo's clients as a CSV file.
#
# The clients do not use idgen: they generate their ids by the formula, as an
# application without a connection to the database would. check.sql contains the
# expected verdict of each line.

use strict;
use warnings;
use POSIX qw(strftime);

use constant { MINUTE => 60, HOUR => 3600, DAY => 86400 };

# A short COMB: the number of the minute, modulo 65536, in two bytes; then
# random bytes; marked as a UUID of version 4 and variant 10.
sub short_comb {
    my ($time) = @_;
    open my $random, '<:raw', '/dev/urandom' or die "/dev/urandom: $!";
    read($random, my $id, 16) == 16 or die "/dev/urandom: $!";
    substr($id, 0, 2) = pack 'n', int($time / MINUTE) % 65536;
    vec($id, 13, 4) = 4;       # the high half of byte 6
    vec($id, 35, 2) = 0b10;    # the top two bits of byte 8
    return join '-', unpack 'H8 H4 H4 H4 H12', $id;
}

my $line = 0;

# One line of the file: a note about it, the data that the client sends, and the time
# recorded with its batch.
sub request {
    my ($note, $command, $id, $order, $batch_clock) = @_;
    my @fields = (++$line, $note, $command, $id, $batch_clock // '', $order);
    s/"/""/g, /[",]/ && ($_ = "\"$_\"") for @fields;
    print join(',', @fields), "\n";
}

sub order { return sprintf '{"customer": "%s", "amount": %s}', @_ }

my $now = time;
my @command = map { short_comb($now) } 1 .. 15;
my $eve_id = short_comb($now);

print "line,note,command_id,order_id,batch_clock,request\n";

request('good', $command[1], short_comb($now), order('Ada', '12.50'));
request('good', $command[2], short_comb($now - MINUTE), order('Ben', '99.00'));
request('good', $command[3], $eve_id, order('Eve', '7.25'));

request('clock three hours fast', $command[4], short_comb($now + 3 * HOUR), order('Fay', '20.00'));
request('id cut short', $command[5], substr(short_comb($now), 0, 35), order('Gus', '5.00'));
request('letter O for a zero', $command[6], short_comb($now) =~ s/.$/O/r, order('Hal', '6.00'));
# as far from now as a short COMB can be, so that it cannot pass by chance
request('random UUID', $command[7], short_comb($now + 32768 * MINUTE), order('Ida', '8.00'));

request('line 1 retried with a new id', $command[1], short_comb($now), order('Ada', '12.50'));
request('line 2 retried but changed', $command[2], short_comb($now), order('Ben', '0.99'));
request('line 4 retried in due time', $command[4], short_comb($now), order('Fay', '20.00'));
request('order id stolen from line 3', $command[8], $eve_id, order('Mal', '1.00'));
request('request is no JSON', $command[9], short_comb($now), 'one pizza, please');

my $yesterday = $now - DAY;
my $recorded = strftime '%Y-%m-%d %H:%M:%SZ', gmtime $yesterday;
request('from a batch of yesterday', $command[10], short_comb($yesterday), order('Joe', '30.00'), $recorded);
request('from a batch of yesterday', $command[11], short_comb($yesterday), order('Kim', '40.00'), $recorded);
request('same batch but without its time', $command[12], short_comb($yesterday), order('Lou', '50.00'));
