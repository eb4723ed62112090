// Rust: rustc --edition 2021 -o build/rust rust/known_answers.rs && build/rust
mod short_comb;

use short_comb::short_comb;
use std::fs;
use std::process::ExitCode;
use std::time::{Duration, UNIX_EPOCH};

fn check() -> Result<(), String> {
    let answers = fs::read_to_string("short_comb_vectors.csv").map_err(|e| e.to_string())?;
    for line in answers.lines().skip(1) {
        let answer: Vec<&str> = line.split(',').collect();
        let number = |i: usize| answer[i].parse::<u64>().map_err(|_| line);
        let random = u128::from_str_radix(answer[3], 16).map_err(|_| line)?.to_be_bytes();
        let now = UNIX_EPOCH + Duration::from_millis(number(2)?);
        let id = short_comb(now, random, Duration::from_millis(number(0)?), number(1)? as usize);
        if format!("{:032x}", u128::from_be_bytes(id)) != answer[4].replace('-', "") {
            return Err(format!("{:02x?} in place of {}", id, answer[4]));
        }
    }
    Ok(())
}

fn main() -> ExitCode {
    match check() {
        Ok(()) => {
            println!("ok rust: generator");
            ExitCode::SUCCESS
        }
        Err(error) => {
            println!("not ok rust: generator: {error}");
            ExitCode::FAILURE
        }
    }
}
