#!/usr/bin/env bash
#
# check-randomness.sh: test the random bits of each kind of identifier.
#
#   dev/check-randomness.sh [--long] [KIND ...]
#
#   --long    ten times as many bits
#   KIND      only these kinds, by the names that the script prints
#
# Extracts the bits that are documented as random, or that a mask with a new key hides, and runs
# rngtest (the tests of FIPS 140-2) and dieharder on them. Takes two minutes.
#
# To keep false alarms below one in a million runs, a stream fails rngtest if the number of its failed
# blocks has a probability below 10^-9 for one in 1000 (one in 1200 blocks of 20000 random bits
# fails), and dieharder if three p-values in succession, with new identifiers, are below 0.001.

. "$(dirname "$0")/verdicts.sh"

long=
idgen_options 'long?' "$@"
[ "$long" ] && megabytes=80 || megabytes=8     # of random bits of each kind

# Name|expression, or query of many|random bits, from 0 for the highest|options of pgbench. The
# tests must reject "control", which has a version and variant. Fewer bits are available of the last
# four: the tag of a run, from every second identifier; the prefix of each period; the first ULID of
# each millisecond; one ObjectId from each of many sessions.
kinds=(
    'control|idgen.uuid_v4()|0-127'
    'uuid_v4|idgen.uuid_v4()|0-47 52-63 66-127'
    'uuid_v7|idgen.uuid_v7()|66-127'
    'uuid_v7_ordered|idgen.uuid_v7_ordered()|66-127'
    'uuid_v1|idgen.uuid_v1()|66-86 88-127'
    'uuid_v6|idgen.uuid_v6()|66-86 88-127'
    'lambert_comb|idgen.lambert_comb()|66-86 88-127'
    'comb|idgen.comb()|52-63 66-127'
    'suffix_comb|idgen.suffix_comb()|0-47 52-63 66-79'
    'short_comb|idgen.short_comb(run_length => 1)|16-47 52-63 66-127'
    'keyed_comb|idgen.keyed_comb()|32-47 52-63 66-127'
    'short_comb_bulk|idgen.short_comb()|52-63 66-127'
    'short_comb_run|idgen.short_comb(run_length => 1024)|52-63 66-127'
    'short_suffix_comb|idgen.short_suffix_comb()|0-47 52-63 66-79 96-127'
    "sequence_comb|idgen.sequence_comb('numbers')|16-47 52-63 66-127"
    "typeid|idgen.typeid_to_uuid(idgen.typeid('user'))|66-127"
    "prefixed_id|idgen.prefixed_id_to_uuid(idgen.prefixed_id('user'))|66-127"
    "permute|lpad(to_hex(idgen.permute(nextval('ids'))), 16, '0')|1-63"
    'mask_uuid_v7|idgen.mask_uuid_v7(idgen.uuid_v7())|0-47 52-63 66-127'
    'short_comb_tag|SELECT id FROM (SELECT n, idgen.short_comb(run_length => 2) AS id FROM generate_series(1, 1000000) n OFFSET 0) s
        WHERE n % 2 = 0|16-47'
    'keyed_comb_prefix|SELECT idgen.keyed_comb(clock => to_timestamp(300 * n)) FROM generate_series(1, 100000) n|0-31'
    'ulid|idgen.ulid_to_uuid(idgen.ulid())|48-127|--client=16 --transactions=4000'
    'object_id|idgen.object_id()|32-95|--connect --client=4 --transactions=1000'
)

# dieharder's tests: number, words of 32 bits in a sample, samples for a p-value. They are
# birthdays, ranks, runs, monobit, runs, serial, permutations and lagged sums.
dieharder_tests=('0 512 100' '3 6 10000' '15 1 20000' '100 1 20000' '101 1 20000' '102 1 20000' '202 5 10000' '203 1 20000')

# The numbers of failed blocks of a file and of all, and the least number that is suspicious (Poisson)
rngtest_counts() {
    rngtest <"$1" 2>&1 | awk '/FIPS 140-2 successes/ {s = $NF} /FIPS 140-2 failures/ {f = $NF} END {
        mean = (s + f) / 1000; term = exp(-mean); rest = 1 - term
        for (k = 0; rest > 1e-9; rest -= term) term *= mean / ++k
        print f + 0, s + f, k + 1
    }'
}

# The p-value of a test; of several, the least one times their number; nothing if the file is too short.
dieharder_p() {
    local p_samples out
    # words of 32 bits; dieharder also reads the file to measure its speed
    p_samples=$(($(stat -c %s "$4") / 12 / ($2 * $3)))
    [ "$p_samples" -ge 5 ] || return
    out=$(dieharder -g 201 -f "$4" -d "$1" -t "$3" -p $((p_samples < 100 ? p_samples : 100)) 2>&1)
    # "The file ... was rewound": bits that are read twice are not random
    ! grep -q 'rewound [1-9]' <<<"$out" || idgen_die "dieharder's test $1 needs a longer file"
    awk -F'|' '$5 ~ /^ *[0-9.e-]+ *$/ {n++; if (n == 1 || $5 + 0 < p) p = $5 + 0} END {if (n) print (n * p > 1 ? 1 : n * p)}' <<<"$out"
}

below() { awk -v a="$1" -v b="$2" 'BEGIN {exit !(a < b)}'; }

# These ranges of the bits of hexadecimal numbers, without gaps.
extract_bits() {
    perl -ne 'BEGIN { @ranges = map { [split /-/] } splice @ARGV }
        tr/0-9a-f//cd;
        my $bits = unpack "B*", pack "H*", $_;
        $out .= substr $bits, $_->[0], $_->[1] - $_->[0] + 1 for @ranges;
        print pack "B*", substr $out, 0, length($out) & ~7, ""' "$@"
}

# Write the bits of the kind to its file: $megabytes of an expression.
fill() {
    local source=$query ranges range bits=0
    read -ra ranges <<<"$bit_ranges"
    if [ "$options" ]; then
        psql -X -q -c 'TRUNCATE made'
        # shellcheck disable=SC2086  # a list
        pgbench --no-vacuum $options --file=<(printf 'INSERT INTO made SELECT %s;\n\\sleep 2 ms\n' "$query") >/dev/null 2>&1
        source='TABLE made'
    elif [[ $query != SELECT* ]]; then
        for range in "${ranges[@]}"; do bits=$((bits + ${range#*-} - ${range%-*} + 1)); done
        source="SELECT $query FROM generate_series(1, $((megabytes * 8000000 / bits + 1)))"
    fi
    psql -X -q -v ON_ERROR_STOP=1 -c "COPY ($source) TO STDOUT" | extract_bits "${ranges[@]}" >"$file" ||
        idgen_die "no identifiers of $name"
}

try_dieharder() {
    local number words samples p attempt status
    while read -r number words samples; do
        for attempt in 1 2 3; do
            status=0
            p=$(dieharder_p "$number" "$words" "$samples" "$file")
            [ -n "$p" ] || continue 2
            below "$p" 0.001 || break
            status=1
            [ "$attempt" -eq 3 ] || fill
        done
        verdict "$status" "$name: dieharder $number, p = $p$([ "$attempt" -eq 1 ] || echo ", attempt $attempt")"
    done < <(printf '%s\n' "${dieharder_tests[@]}")
}

idgen_require rngtest:rng-tools5 dieharder
build_idgen ''
idgen_start max_connections=40 fsync=off autovacuum=off idgen.mask_key_file=mask_keys
idgen_mask_key "$(od -An -v -tx1 -N16 /dev/urandom | tr -d ' ')"
psql -X -q -v ON_ERROR_STOP=1 <<'SQL' || exit
CREATE EXTENSION idgen;
CREATE SEQUENCE numbers CACHE 1000;
CREATE SEQUENCE ids;
CREATE TABLE made (id text);
SQL

for kind in "${kinds[@]}"; do
    IFS='|' read -r name query bit_ranges options <<<"${kind/$'\n'}"
    [[ ${#arguments[@]} -eq 0 || " ${arguments[*]} " == *" $name "* ]] || continue
    file=$IDGEN_WORK/$name
    fill
    read -r bad blocks limit < <(rngtest_counts "$file")
    if [ "$name" = control ]; then
        [ "$bad" -gt $((blocks / 2)) ]
        verdict $? "control: rngtest rejects bits with a version, $bad of $blocks blocks fail"
        p=$(dieharder_p 102 1 20000 "$file")
        below "${p:-1}" 0.001
        verdict $? "control: so does dieharder, p = $p"
    else
        [ "$blocks" -gt 0 ] && [ "$bad" -lt "$limit" ]
        verdict $? "$name: rngtest, $bad of $blocks blocks fail, $limit would be suspicious"
        try_dieharder
    fi
    rm "$file"
done
end_of_verdicts
