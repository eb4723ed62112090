// See t/003_generators.pl.
#[path = "../../generators/combs.rs"]
mod combs;

use std::io::stdin;
use std::process::Command;

// Compute the HMAC with the program "openssl", so that no crate is needed.
fn hmac(key: &str, message: &[u8]) -> [u8; 32] {
    let openssl = r#"printf %s "$1" | openssl dgst -sha256 -mac HMAC -macopt "hexkey:$0" -binary"#;
    let message = std::str::from_utf8(message).unwrap();
    Command::new("sh").args(["-c", openssl, key, message]).output().unwrap().stdout.try_into().unwrap()
}

fn main() {
    for line in stdin().lines().map(Result::unwrap) {
        let w: Vec<&str> = line.split('\t').collect();
        let (period, ms): (i64, i64) = (w[3].parse().unwrap(), w[5].parse().unwrap());
        let random = u128::from_str_radix(w[6], 16).unwrap().to_be_bytes();
        let id = match w[0] {
            "short" => combs::short_comb(ms, random, period, w[4].parse().unwrap()),
            _ => combs::hmac_comb(|message| hmac(w[1], message), w[2], ms, random, period),
        };
        println!("{:032x}", u128::from_be_bytes(id));
    }
}
