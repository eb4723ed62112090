#!/usr/bin/env bash
#
# check-randomness.sh: test the random bits of each kind of identifier.
#
#   scripts/dev/check-randomness.sh [--long] [KIND ...]
#
#   --long    ten times as many bits
#   KIND      only these kinds, by the names that the script prints
#
# Generates identifiers on a private cluster, extracts the bits that are documented
# as random, or that a mask with a new key hides, and runs rngtest (the tests of
# FIPS 140-2) and dieharder on them. Takes two minutes. Ends with a line "N passed,
# N failed"; the exit status is 0 if nothing failed.
#
# Random bits fail a statistical test occasionally. To keep false alarms below one in a
# million runs, a stream fails rngtest if the number of its failed blocks has a probability
# below 10^-9 for one in 1000 (one in 1200 blocks of 20000 random bits fails), and dieharder
# if three p-values in succession, with new identifiers, are below 0.001. (For a stream that
# is too even, dieharder combines many p-values near 1 into one near 0.)

. "$(dirname "$0")/verdicts.sh"

long=
idgen_options 'long?' "$@"
megabytes=${long:+80}     # of random bits of each kind
megabytes=${megabytes:-8}

# Name|expression, or query of many|random bits, from 0 for the highest. Fewer bits are
# available of the last three: the tag of a run, from every second identifier; the first
# ULID of each millisecond; one ObjectId from each of many sessions.
schemes=(
    'uuid_v4|idgen.uuid_v4()|0-47 52-63 66-127'
    'uuid_v7|idgen.uuid_v7()|66-127'
    'uuid_v7_ms|idgen.uuid_v7_ms()|52-63 66-127'
    'uuid_v7_ordered|idgen.uuid_v7_ordered()|66-127'
    'uuid_v1|idgen.uuid_v1()|66-86 88-127'
    'uuid_v6|idgen.uuid_v6()|66-86 88-127'
    'lambert_comb|idgen.lambert_comb()|66-86 88-127'
    'comb|idgen.comb()|52-63 66-127'
    'suffix_comb|idgen.suffix_comb()|0-47 52-63 66-79'
    'short_comb|idgen.short_comb(run_length => 1)|16-47 52-63 66-127'
    'short_comb_bulk|idgen.short_comb()|52-63 66-127'
    'short_comb_run|idgen.short_comb(run_length => 1024)|52-63 66-127'
    'short_suffix_comb|idgen.short_suffix_comb()|0-47 52-63 66-79 96-127'
    "sequence_comb|idgen.sequence_comb('numbers')|16-47 52-63 66-127"
    "typeid|idgen.typeid_to_uuid(idgen.typeid('user'))|66-127"
    "prefixed_id|idgen.prefixed_id_to_uuid(idgen.prefixed_id('user'))|66-127"
    "permute|idgen.permute(nextval('ids'))|1-63"
    'mask_uuid_v7|idgen.mask_uuid_v7(idgen.uuid_v7_ms())|0-47 52-63 66-127'
    'short_comb_tag|SELECT id FROM (SELECT n, idgen.short_comb(run_length => 2) AS id FROM generate_series(1, 1000000) n OFFSET 0) s WHERE n % 2 = 0|16-47'
    'ulid|SELECT id FROM made|48-127'
    "object_id|SELECT decode(id, 'hex') FROM objects|32-95"
)

# dieharder's tests: number, words of 32 bits in a sample, samples for a p-value. They are
# birthdays, ranks, runs, monobit, runs, serial, permutations and lagged sums.
dieharder_tests=('0 512 100' '3 6 10000' '15 1 20000' '100 1 20000' '101 1 20000' '102 1 20000' '202 5 10000' '203 1 20000')

# --- the suites -------------------------------------------------------------

# The numbers of failed blocks of a file and of all; and the least number of failures whose
# probability is below 10^-9, if one of 1000 blocks is expected to fail (Poisson).
rngtest_counts() {
    rngtest <"$1" 2>&1 | awk '/FIPS 140-2 successes/ {s = $NF} /FIPS 140-2 failures/ {f = $NF} END {
        mean = (s + f) / 1000; term = exp(-mean); rest = 1 - term
        for (k = 0; rest > 1e-9; rest -= term) term *= mean / ++k
        print f + 0, s + f, k + 1
    }'
}

# The p-value of a test; of several p-values, the least one times their number. Prints
# nothing if the file has too few bits for the test.
dieharder_p() {
    local number=$1 sample=$(($2 * $3)) file=$4 p_samples out
    # words of 32 bits; dieharder also reads the file to measure its speed
    p_samples=$(($(stat -c %s "$file") / 12 / sample))
    [ "$p_samples" -ge 5 ] || return
    [ "$p_samples" -le 100 ] || p_samples=100
    out=$(dieharder -g 201 -f "$file" -d "$number" -t "$3" -p "$p_samples" 2>&1)
    # "The file ... was rewound": bits that are read twice are not random
    ! grep -q 'rewound [1-9]' <<<"$out" || idgen_die "dieharder's test $number needs a longer file"
    awk -F'|' '$5 ~ /^ *[0-9.e-]+ *$/ {n++; if (n == 1 || $5 + 0 < p) p = $5 + 0} END {if (n) print (n * p > 1 ? 1 : n * p)}' <<<"$out"
}

below() { awk -v a="$1" -v b="$2" 'BEGIN {exit !(a < b)}'; }

# --- identifiers ------------------------------------------------------------

# These sessions mostly sleep.
make_ulid() {
    psql -X -q -c 'TRUNCATE made'
    for _ in {1..16}; do
        psql -X -q -c "INSERT INTO made SELECT idgen.ulid_to_uuid(idgen.ulid())
                       FROM generate_series(1, 4000) WHERE pg_sleep(0.0015) IS NOT NULL" &
    done
    wait
}

make_object_id() {
    psql -X -q -c 'TRUNCATE objects'
    pgbench --no-vacuum --connect --client=4 --transactions=1000 \
        --file=<(echo 'INSERT INTO objects VALUES (idgen.object_id());') >/dev/null 2>&1
}

# The bits of a binary COPY of one column, without gaps or an incomplete last byte.
extract_bits() {
    perl -e 'my ($row, $out) = ("", "");
        my @ranges = map { /^(\d+)-(\d+)$/ ? [$1, $2 - $1 + 1] : die } @ARGV;
        read(STDIN, $row, 19) == 19 && $row =~ /^PGCOPY/ or die "no binary COPY";
        while (read(STDIN, $row, 6) == 6) {
            my $length = unpack "x2N", $row;
            read(STDIN, $row, $length) == $length or die "incomplete row";
            my $bits = unpack "B*", $row;
            $out .= substr $bits, $_->[0], $_->[1] for @ranges;
            print pack "B*", substr $out, 0, 80000, "" while length $out >= 80000;
        }
        print pack "B*", substr $out, 0, length($out) & ~7;' "$@"
}

# Write the bits of a kind to a file, as many as required if it has an expression.
fill() {
    local name=$1 query=$2 list range bits=0
    read -ra list <<<"$3"
    for range in "${list[@]}"; do bits=$((bits + ${range#*-} - ${range%-*} + 1)); done
    [[ $query == SELECT* ]] || query="SELECT $query FROM generate_series(1, $((megabytes * 8000000 / bits + 1)))"
    ! declare -F "make_$name" >/dev/null || "make_$name"
    psql -X -q -v ON_ERROR_STOP=1 -c "COPY ($query) TO STDOUT WITH (FORMAT binary)" | extract_bits "${list[@]}" >"$IDGEN_WORK/$name" ||
        idgen_die "no identifiers of $name"
}

# --- the tests of a kind ----------------------------------------------------

try_dieharder() {
    local name=$1 expression=$2 ranges=$3 number words samples p attempt status
    while read -r number words samples; do
        for attempt in 1 2 3; do
            status=0
            p=$(dieharder_p "$number" "$words" "$samples" "$IDGEN_WORK/$name")
            [ -n "$p" ] || continue 2
            below "$p" 0.001 || break
            status=1
            [ "$attempt" -eq 3 ] || fill "$name" "$expression" "$ranges"
        done
        verdict "$status" "$name: dieharder $number, p = $p$([ "$attempt" -eq 1 ] || echo ", attempt $attempt")"
    done < <(printf '%s\n' "${dieharder_tests[@]}")
}

wanted() { [[ ${#arguments[@]} -eq 0 || " ${arguments[*]} " == *" $1 "* ]]; }

# --- all of it --------------------------------------------------------------

idgen_require rngtest:rng-tools5 dieharder
build_idgen ''
idgen_start max_connections=40 fsync=off autovacuum=off idgen.mask_key_file=mask_keys
idgen_mask_key "$(od -An -v -tx1 -N16 /dev/urandom | tr -d ' ')"
psql -X -q -v ON_ERROR_STOP=1 <<'SQL' || exit
CREATE EXTENSION idgen;
CREATE SEQUENCE numbers CACHE 1000;
CREATE SEQUENCE ids;
CREATE TABLE made (id uuid);
CREATE TABLE objects (id text);
SQL

idgen_say "Random bits, $megabytes MB of each kind"

# The tests must reject bits that are not random: identifiers with their version
# and variant.
if wanted control; then
    fill control 'idgen.uuid_v4()' '0-127'
    read -r bad blocks _ < <(rngtest_counts "$IDGEN_WORK/control")
    [ "$bad" -gt $((blocks / 2)) ]
    verdict $? "control: rngtest rejects bits with a version, $bad of $blocks blocks fail"
    p=$(dieharder_p 102 1 20000 "$IDGEN_WORK/control")
    below "${p:-1}" 0.001
    verdict $? "control: so does dieharder, p = $p"
fi

for scheme in "${schemes[@]}"; do
    IFS='|' read -r name expression ranges <<<"$scheme"
    wanted "$name" || continue
    fill "$name" "$expression" "$ranges"
    read -r bad blocks limit < <(rngtest_counts "$IDGEN_WORK/$name")
    [ "$blocks" -gt 0 ] && [ "$bad" -lt "$limit" ]
    verdict $? "$name: rngtest, $bad of $blocks blocks fail, $limit would be suspicious"
    try_dieharder "$name" "$expression" "$ranges"
    rm -f "$IDGEN_WORK/$name"
done

end_of_verdicts
