//! Writes traces that are extreme in one respect, for `scripts/scale`:
//!
//! ```text
//! extreme lanes N FILE     N threads, 100 to a process, with names and ten slices each
//! extreme event MIB FILE   an event of so many MiB among small ones
//! extreme chunks N FILE [STREAMS]
//!                          100 CPU profiles (or STREAMS) with N ProfileChunk events in all
//! extreme files N DIR      N files of a hundred slices each, parts of one recording
//! ```

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::Path;
use tracemill_testkit::Rng;

const THREADS: u64 = 100;
/// Default number of CPU profiles.
const STREAMS: u64 = 100;

fn main() -> io::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let usage = || io::Error::other("usage: extreme lanes|event|chunks|files N PATH [STREAMS]");
    let [kind, count, path, streams @ ..] = &arguments[..] else { return Err(usage()) };
    let number = |text: &String| text.parse::<u64>().map_err(io::Error::other);
    let count = number(count)?;
    let streams = match streams {
        [] => STREAMS,
        [streams] if kind == "chunks" => number(streams)?.max(1),
        _ => return Err(usage()),
    };
    let path = Path::new(path);
    if kind == "files" {
        return files(count, path);
    }
    let mut out = BufWriter::with_capacity(1 << 20, File::create(path)?);
    match kind.as_str() {
        "lanes" => lanes(count, &mut out)?,
        "event" => event(count << 20, &mut out)?,
        "chunks" => chunks(count, streams, &mut out)?,
        _ => return Err(usage()),
    }
    out.flush()
}

fn slice(out: &mut impl Write, ts: u64, pid: u64, tid: u64) -> io::Result<()> {
    let dur = 1 + ts % 7;
    let name = ts % 20;
    write!(
        out,
        r#"{{"args":{{}},"cat":"c","dur":{dur},"name":"task {name}","ph":"X","pid":{pid},"tid":{tid},"ts":{ts}}}"#
    )
}

fn lanes(count: u64, out: &mut impl Write) -> io::Result<()> {
    let rng = &mut Rng::new(1);
    out.write_all(b"{\"traceEvents\":[\n")?;
    for lane in 0..count {
        let (pid, tid) = (1 + lane / THREADS, 1 + lane);
        writeln!(
            out,
            r#"{{"args":{{"name":"thread {tid}"}},"name":"thread_name","ph":"M","pid":{pid},"tid":{tid}}},"#
        )?;
    }
    for number in 0..10 * count {
        let lane = rng.below(count);
        out.write_all(if number > 0 { b",\n" } else { b"" })?;
        slice(out, 10 * number + rng.below(100), 1 + lane / THREADS, 1 + lane)?;
    }
    out.write_all(b"\n]}\n")
}

fn event(bytes: u64, out: &mut impl Write) -> io::Result<()> {
    out.write_all(b"{\"traceEvents\":[\n")?;
    for ts in [5, 4, 3] {
        slice(out, ts, 1, 1)?;
        out.write_all(b",\n")?;
    }
    out.write_all(br#"{"args":{"list":["#)?;
    let mut written = 0;
    while written < bytes {
        // brackets and escapes inside a string, and nesting
        let item = br#"{"a":[1,2.5,-3e7],"s":"]}{[ \"\\ text that goes on and on and on"},"#;
        out.write_all(item)?;
        written += item.len() as u64;
    }
    out.write_all(br#"null]},"cat":"c","dur":9,"name":"huge","ph":"X","pid":1,"tid":1,"ts":4}"#)?;
    for ts in [2, 1] {
        out.write_all(b",\n")?;
        slice(out, ts, 1, 1)?;
    }
    out.write_all(b"\n]}\n")
}

fn chunks(count: u64, streams: u64, out: &mut impl Write) -> io::Result<()> {
    /// Number of nodes per profile; each chunk adds one until then.
    const NODES: u64 = 200;
    let rng = &mut Rng::new(2);
    out.write_all(b"{\"traceEvents\":[\n")?;
    for stream in 0..streams {
        writeln!(
            out,
            r#"{{"args":{{"data":{{"startTime":{stream}}}}},"cat":"p","id":"{stream:#x}","name":"Profile","ph":"P","pid":{},"tid":1,"ts":{stream}}},"#,
            stream + 1
        )?;
    }
    for number in 0..count {
        let (stream, chunk) = (number % streams, number / streams);
        let node = chunk + 1;
        let nodes = match chunk {
            0 => r#""nodes":[{"id":1,"callFrame":{"functionName":"(root)","scriptId":0}}],"#
                .to_owned(),
            _ if node <= NODES => format!(
                r#""nodes":[{{"id":{node},"callFrame":{{"functionName":"f{node}","scriptId":1}},"parent":{}}}],"#,
                1 + rng.below(node - 1)
            ),
            _ => String::new(),
        };
        let known = node.min(NODES);
        let (first, second) = (1 + rng.below(known), 1 + rng.below(known));
        let (pid, ts) = (stream + 1, 1000 + 10 * number);
        let comma = if number + 1 < count { "," } else { "" };
        writeln!(
            out,
            r#"{{"args":{{"data":{{"cpuProfile":{{{nodes}"samples":[{first},{second}]}},"timeDeltas":[500,500]}}}},"cat":"p","id":"{stream:#x}","name":"ProfileChunk","ph":"P","pid":{pid},"tid":2,"ts":{ts}}}{comma}"#
        )?;
    }
    out.write_all(b"]}\n")
}

fn files(count: u64, folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    for number in 0..count {
        let mut out = BufWriter::new(File::create(folder.join(format!("{number:06}.json")))?);
        out.write_all(b"[\n")?;
        for event in 0..100 {
            out.write_all(if event > 0 { b",\n" } else { b"" })?;
            slice(&mut out, 1000 * number + 7 * event, 1, 1 + number % THREADS)?;
        }
        out.write_all(b"\n]\n")?;
        out.flush()?;
    }
    Ok(())
}
