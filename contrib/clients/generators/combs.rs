//! Generate version 4 COMBs as idgen does. The random bytes can come from the crate `getrandom`. Pass the result to
//! `uuid::Uuid::from_bytes`.

/// Returns a COMB that begins with an HMAC of the hour and of its twelfth. `hmac` returns the HMAC-SHA-256 of a
/// message, for example with the crates `hmac` and `sha2`. Its 16-byte key is also in the server's key file. The
/// server's default period is 3_600_000.
pub fn hmac_comb<F>(hmac: F, area: &str, unix_ms: i64, mut random: [u8; 16], period_ms: i64) -> [u8; 16]
where
    F: Fn(&[u8]) -> [u8; 32],
{
    assert!(area.len() <= 63, "an area must have at most 63 bytes");
    let hash = |level, ms: i64| hmac(format!("{level} {period_ms} {} {area}", ms.div_euclid(period_ms)).as_bytes());
    random[..3].copy_from_slice(&hash(1, unix_ms)[..3]);
    random[3] = hash(2, unix_ms * 12)[0];
    stamp(random)
}

/// Returns a COMB that begins with the number of the period. The server's defaults are 60_000 and 2.
pub fn short_comb(unix_ms: i64, mut random: [u8; 16], period_ms: i64, prefix_bytes: usize) -> [u8; 16] {
    let number = unix_ms.div_euclid(period_ms).to_be_bytes();
    random[..prefix_bytes].copy_from_slice(&number[8 - prefix_bytes..]);
    stamp(random)
}

fn stamp(mut bytes: [u8; 16]) -> [u8; 16] {
    bytes[6] = bytes[6] & 0x0f | 0x40; // version 4
    bytes[8] = bytes[8] & 0x3f | 0x80; // variant of RFC 9562
    bytes
}
