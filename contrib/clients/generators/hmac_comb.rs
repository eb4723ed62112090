/// A COMB as idgen.hmac_comb() makes it: a UUID of version 4 whose first four bytes are an HMAC-SHA-256 of the hour and
/// of its twelfth. `hmac` returns the HMAC-SHA-256 of a message under the 16 bytes that the server's key file has, too:
/// the standard library has none, but the crates `hmac` and `sha2`. The default period of the server is 3_600_000.
/// Take the random bytes from the crate `getrandom`, and give the result to `uuid::Uuid::from_bytes`.
pub fn hmac_comb(
    hmac: impl Fn(&[u8]) -> [u8; 32],
    area: &str,
    unix_ms: i64,
    mut random: [u8; 16],
    period_ms: i64,
) -> [u8; 16] {
    let hash = |level, ms: i64| hmac(format!("{level} {period_ms} {} {area}", ms.div_euclid(period_ms)).as_bytes());
    random[..3].copy_from_slice(&hash(1, unix_ms)[..3]);
    random[3] = hash(2, unix_ms * 12)[0];
    random[6] = random[6] & 0x0f | 0x40; // version 4
    random[8] = random[8] & 0x3f | 0x80; // variant of RFC 9562
    random
}
