// The generators of Rust, see t/003_generators.pl
#[path = "../../generators/hmac_comb.rs"]
mod hmac_comb;
#[path = "../../generators/sha256.rs"]
mod sha256;
#[path = "../../generators/short_comb.rs"]
mod short_comb;

use std::fs::File;
use std::io::{stdin, Read};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

fn bytes(hex: &str) -> [u8; 16] {
    u128::from_str_radix(hex, 16).unwrap().to_be_bytes()
}

fn ms(text: &str) -> Duration {
    Duration::from_millis(text.parse().unwrap())
}

fn main() {
    for line in stdin().lines().map(Result::unwrap) {
        let w: Vec<&str> = line.split('\t').collect();
        let number = |i: usize| w[i].parse::<i64>().unwrap();
        let ids = match w[0] {
            "short" => vec![short_comb::short_comb(UNIX_EPOCH + ms(w[3]), bytes(w[4]), ms(w[1]), number(2) as usize)],
            "hmac" => vec![hmac_comb::hmac_comb(bytes(w[1]), w[2], number(4), bytes(w[5]), number(3))],
            _ => {
                let mut random = [0; 16];
                File::open("/dev/urandom").unwrap().read_exact(&mut random).unwrap();
                let now = SystemTime::now();
                let unix_ms = now.duration_since(UNIX_EPOCH).unwrap().as_millis() as i64;
                vec![
                    short_comb::short_comb(now, random, ms("60000"), 2),
                    hmac_comb::hmac_comb(bytes(w[1]), w[2], unix_ms, random, 3_600_000),
                ]
            }
        };
        let texts: Vec<String> = ids.iter().map(|id| format!("{:032x}", u128::from_be_bytes(*id))).collect();
        println!("{}", texts.join(" "));
    }
}
