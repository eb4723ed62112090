// Rust: rustc --edition 2021 -o build/rust rust/known_answers.rs && build/rust
mod short_comb;

use short_comb::short_comb;
use std::fs;
use std::process::ExitCode;
use std::time::{Duration, UNIX_EPOCH};

fn check() -> Result<(), String> {
    let answers = fs::read_to_string("short_comb.txt").map_err(|e| e.to_string())?;
    for line in answers.lines().filter(|line| !line.starts_with('#')) {
        let answer: Vec<&str> = line.split(' ').collect();
        let ms = answer[0].parse().map_err(|_| line)?;
        let random = u128::from_str_radix(answer[1], 16).map_err(|_| line)?;
        let id = short_comb(UNIX_EPOCH + Duration::from_millis(ms), random.to_be_bytes());
        if format!("{:032x}", u128::from_be_bytes(id)) != answer[2].replace('-', "") {
            return Err(format!("{:02x?} in place of {}", id, answer[2]));
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
