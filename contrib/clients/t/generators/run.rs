// See t/003_generators.pl.
#[path = "../../generators/hmac_comb.rs"]
mod hmac_comb;
#[path = "../../generators/short_comb.rs"]
mod short_comb;

use std::io::{stdin, Write};
use std::process::{Command, Stdio};
use std::time::{Duration, UNIX_EPOCH};

// in place of a crate
fn hmac(key: &str, message: &[u8]) -> [u8; 32] {
    let mut openssl = Command::new("openssl")
        .args(["dgst", "-sha256", "-mac", "HMAC", "-macopt", &format!("hexkey:{key}"), "-binary"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    openssl.stdin.take().unwrap().write_all(message).unwrap();
    openssl.wait_with_output().unwrap().stdout.try_into().unwrap()
}

fn main() {
    for line in stdin().lines().map(Result::unwrap) {
        let w: Vec<&str> = line.split('\t').collect();
        let (period, ms): (u64, i64) = (w[3].parse().unwrap(), w[5].parse().unwrap());
        let random = u128::from_str_radix(w[6], 16).unwrap().to_be_bytes();
        let id = if w[0] == "short" {
            let now = UNIX_EPOCH + Duration::from_millis(ms as u64);
            short_comb::short_comb(now, random, Duration::from_millis(period), w[4].parse().unwrap())
        } else {
            hmac_comb::hmac_comb(|message| hmac(w[1], message), w[2], ms, random, period as i64)
        };
        println!("{:032x}", u128::from_be_bytes(id));
    }
}
