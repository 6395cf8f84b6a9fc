//! Writes a Chrome-like benchmark trace: `chrome_like SEED SIZE_MIB FILE`.

use std::fs::File;
use std::io;

fn main() -> io::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [seed, size_mib, file] = &arguments[..] else {
        return Err(io::Error::other("usage: chrome_like SEED SIZE_MIB FILE"));
    };
    let number = |text: &String| text.parse::<u64>().map_err(io::Error::other);
    let size_bytes = number(size_mib)? << 20;
    tracemill_testkit::generate::chrome_like(number(seed)?, size_bytes, &mut File::create(file)?)?;
    Ok(())
}
