-- A UUID of version 6 of an instant, with random bits after the time, as
-- idgen.uuid_v6() generates of the current time; for keys.txt. 122192928000000000
-- is 1970-01-01 in units of 100 ns since 1582-10-15 (RFC 9562, section 5.1).
CREATE FUNCTION idgen_bench.uuid_v6_at(moment timestamptz) RETURNS uuid
LANGUAGE sql VOLATILE AS $$
    SELECT (substr(to_hex((date_part('epoch', moment) * 1e7)::bigint + 122192928000000000), 1, 12)
            || '6' || substr(to_hex((date_part('epoch', moment) * 1e7)::bigint + 122192928000000000), 13)
            || substr(idgen.uuid_v4()::text, 20))::uuid
$$;
-- For sequence_comb(), and for the scene serializable.
CREATE SEQUENCE idgen_bench.numbers;
CREATE SEQUENCE idgen_bench.arrivals;
