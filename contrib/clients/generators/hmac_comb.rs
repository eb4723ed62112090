use crate::sha256::hmac_sha256;

/// A COMB as idgen.hmac_comb() makes it: a UUID of version 4 whose first four bytes are an HMAC-SHA-256 of the hour and
/// of its twelfth, under the 16 bytes that the server's key file has, too. The period is 3_600_000, if the server has no other.
/// Take the random bytes from the crate `getrandom`, and give the result to `uuid::Uuid::from_bytes`.
pub fn hmac_comb(key: [u8; 16], area: &str, unix_ms: i64, mut random: [u8; 16], period_ms: i64) -> [u8; 16] {
    let hash = |level, ms: i64| {
        let message = format!("{level} {period_ms} {} {area}", ms.div_euclid(period_ms));
        hmac_sha256(key, message.as_bytes())
    };
    random[..3].copy_from_slice(&hash(1, unix_ms)[..3]);
    random[3] = hash(2, unix_ms * 12)[0];
    random[6] = random[6] & 0x0f | 0x40; // version 4
    random[8] = random[8] & 0x3f | 0x80; // variant of RFC 9562
    random
}
