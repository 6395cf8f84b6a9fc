//! Writes a generated recording or CPU profile, to inspect the input of a random test: `recording
//! SEED [cpuprofile]`.

use std::io::{self, Write};
use tracemill_testkit::generate;

fn main() -> io::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let seed = arguments.first().and_then(|seed| seed.parse().ok());
    let seed = seed.ok_or_else(|| io::Error::other("usage: recording SEED [cpuprofile]"))?;
    let text = match arguments.get(1) {
        Some(_) => generate::cpuprofile(seed),
        None => generate::recording(seed),
    };
    writeln!(io::stdout(), "{text}")
}
