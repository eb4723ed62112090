use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// A short COMB as idgen.short_comb() makes it: a UUID of version 4 that begins with the number of
/// the period. Its defaults are a minute and 2 bytes.
/// Take the random bytes from the crate `getrandom`, and give the result to `uuid::Uuid::from_bytes`.
pub fn short_comb(now: SystemTime, mut random: [u8; 16], period: Duration, prefix_bytes: usize) -> [u8; 16] {
    let since_epoch = now.duration_since(UNIX_EPOCH).expect("the clock is before 1970");
    let number = ((since_epoch.as_millis() / period.as_millis()) as u64).to_be_bytes();
    random[..prefix_bytes].copy_from_slice(&number[8 - prefix_bytes..]);
    random[6] = random[6] & 0x0f | 0x40;
    random[8] = random[8] & 0x3f | 0x80;
    random
}
