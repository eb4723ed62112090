use std::time::{SystemTime, UNIX_EPOCH};

/// A short COMB: the number of the minute modulo 65536, then 106 random bits, as a UUID of version 4.
/// Take the random bytes from the crate `getrandom`, and give the result to `uuid::Uuid::from_bytes`.
pub fn short_comb(now: SystemTime, mut random: [u8; 16]) -> [u8; 16] {
    let since_epoch = now.duration_since(UNIX_EPOCH).expect("the clock is before 1970");
    let minute = (since_epoch.as_secs() / 60) as u16;
    random[..2].copy_from_slice(&minute.to_be_bytes());
    random[6] = random[6] & 0x0f | 0x40;
    random[8] = random[8] & 0x3f | 0x80;
    random
}
