//! `tracemill view`.

use super::analysis::{EventTime, event_window};
use super::around::report_place;
use super::running::{Flags, Running};
use crate::args::{OutputArgs, ViewArgs};
use crate::messages::signal;
use crate::messages::{Messages, plain};
use crate::outcome::exit::{Exit, Failure};
use crate::outcome::remedies;
use crate::report;
use std::fs::File;
use std::io::{self, Write};
use std::net::IpAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tracemill_trace::run::losses::InputReport;
use tracemill_trace::{Error, Source};
use tracemill_view::{Bound, Site, Viewers, find_chromium, token};

/// Time that the page has to receive an error before the process ends.
const LAST_WORD: Duration = Duration::from_millis(700);

/// Serves the page until the user interrupts the run, or no more requests arrive.
pub(super) fn run(args: &ViewArgs, messages: &Messages) -> Result<Exit, Failure> {
    let ViewArgs { input, common, .. } = args;
    let mut running = Running::new(Flags { verb: "view", input, common }, &[], messages)?;
    running.config.index = args.index.index.clone();
    let sources = &running.sources;
    check(sources)?;
    // the address is printed to standard output, so the report cannot go there
    let place = report_place(
        &common.messages,
        messages,
        &OutputArgs { output: None, force: true },
        sources,
    )?;
    let failure = |error| not_bound(args.host, args.port, &error);
    if !args.host.is_loopback() && !args.allow_remote {
        return Err(remote(args));
    }
    let bound = Bound::new(args.host, args.port).map_err(failure)?;
    let port = bound.port().map_err(failure)?;
    let secret = token().map_err(|error| system("random bytes for the address", error))?;
    running.announce();
    let part = args.event.as_ref().map(|key| part_of(key, &running)).transpose()?;
    let part = part.unwrap_or_default();
    let site = Site::new(sources.clone(), running.config.clone(), secret, port).on(args.host);
    let site = Arc::new(with_viewers(site, args)?);
    let address = site.address();
    let (served, idle) = (Arc::clone(&site), args.idle);
    let serve = move || bound.serve(&served, idle);
    let server = std::thread::Builder::new().name("server".into()).spawn(serve);
    let server = server.map_err(|error| system("a thread", error))?;
    tell(&(address + &part))?;
    if !args.host.is_loopback() {
        messages.warning(&format!(
            "anyone who can reach {} and knows the URL can read the trace; it is sent unencrypted",
            args.host
        ));
    }
    if !args.no_open && open_browser(&site, &part).is_err() {
        messages.warning("no browser can be started: open the address by hand (--no-open)");
    }
    let read = running.watch(|_, _| site.read());
    if read.is_err() {
        std::thread::sleep(LAST_WORD);
    }
    read?;
    let inputs = site.inputs();
    messages.inputs(&inputs);
    messages.warnings(&remedies::warnings(&site.warnings()));
    if let Some(sentence) = site.joined() {
        messages.say(&format!("{sentence} (as merge does)"));
    }
    if let Some(why) = site.whole() {
        messages.say(&format!("all of it was read: {why}"));
    }
    messages.losses(&inputs);
    let lost = inputs.iter().map(InputReport::lost).sum();
    running.end(&running.summary(&inputs, lost), place.as_ref(), |run| {
        report::view(&inputs, lost, run)
    })?;
    if let Err(error) = site.read_calls() {
        messages.warning(&format!("no calls of CPU profiles are shown: {error}"));
    }
    if let Err(error) = site.read_causes() {
        messages.warning(&format!("no causes of events are shown: {error}"));
    }
    match server.join() {
        Ok(Ok(())) => Ok(Exit::finished(lost)),
        Ok(Err(error)) => Err(system("the server", error)),
        Err(_) => Err(system("the server", io::Error::other("it ended"))),
    }
}

/// Checks that the inputs are readable files or folders. Returns an error for pipes, because each
/// exported window reads the inputs again.
fn check(sources: &[Source]) -> Result<(), Failure> {
    for source in sources {
        let again = match source.file() {
            Some(path) => is_readable(path).map_err(|e| Error::read(path.display(), e))?,
            None => false,
        };
        if !again {
            return Err(Failure::usage(format!(
                "{}: view reads its inputs again and again: name files, not a pipe",
                plain(&source.to_string())
            )));
        }
    }
    Ok(())
}

/// Returns whether the path is a file or folder. Returns an error if it cannot be read.
fn is_readable(path: &Path) -> io::Result<bool> {
    let known = std::fs::metadata(path)?;
    match known.is_dir() {
        true => std::fs::read_dir(path).map(drop)?,
        // opening a pipe would wait until it is written
        false if known.is_file() => File::open(path).map(drop)?,
        false => return Ok(false),
    }
    Ok(true)
}

/// Returns the end of the page's address that shows an event. The duration of the event is the
/// margin on both sides.
fn part_of(key: &str, running: &Running<'_>) -> Result<String, Failure> {
    let EventTime { from, to, start, .. } = event_window(&running.sources, key, &running.config)?;
    let [from, to] = [from, to].map(|time| time.saturating_sub(start).max(0));
    let (to, around) = (to.max(from + 1), (to - from).max(1000));
    Ok(format!("#v={}-{}&s={from}-{to}", (from - around).max(0), to + around))
}

/// Opens the page in the user's browser. `part` is the end of the page's address.
fn open_browser(site: &Site, part: &str) -> io::Result<()> {
    let page = site.redirect(part)?;
    signal::remove_at_end(&page);
    open::that_detached(page)
}

fn tell(address: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    let written = writeln!(out, "{address}").and_then(|()| out.flush());
    written.map_err(|source| Failure::Write { path: "standard output".into(), source })
}

fn not_bound(host: IpAddr, port: u16, error: &io::Error) -> Failure {
    Failure::Write {
        path: format!("to port {port} of {host} (--port 0 takes any that is free)"),
        source: io::Error::new(error.kind(), error.to_string()),
    }
}

/// Returns the error for `--host` without `--allow-remote`.
fn remote(args: &ViewArgs) -> Failure {
    let port = if args.port == 0 { 8080 } else { args.port };
    Failure::usage(format!(
        "--host {} lets other machines in, without encryption: leave it out, give --port {port} --no-open, and run `ssh -L {port}:127.0.0.1:{port} HOST` on the other machine; or give --allow-remote",
        args.host
    ))
}

/// Adds the viewers that the flags name to the page.
fn with_viewers(mut site: Site, args: &ViewArgs) -> Result<Site, Failure> {
    if let Some(program) = &args.devtools {
        let named = Some(program.clone()).filter(|program| !program.as_os_str().is_empty());
        let program = named.or_else(find_chromium).ok_or_else(|| {
            Failure::usage("--devtools: there is no Chromium or Chrome on PATH: name it with --devtools=PROGRAM")
        })?;
        site = site.with_devtools(program);
    }
    if let Some(folder) = &args.viewers {
        let viewers = Viewers::new(folder).map_err(|_| {
            let folder = plain(&folder.display().to_string());
            Failure::usage(format!("--viewers {folder}: there is no speedscope: npm install speedscope, and name node_modules"))
        })?;
        site = site.with_viewers(viewers);
    }
    Ok(match &args.perfetto {
        Some(address) => site.with_perfetto(address.clone()),
        None => site,
    })
}

fn system(what: &str, source: io::Error) -> Failure {
    Failure::Write { path: what.into(), source }
}
