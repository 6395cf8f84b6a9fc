//! `tracemill info --get`: prints a top-level key.

use crate::files::whole_file::OutputPlace;
use crate::messages::Messages;
use crate::outcome::exit::{Exit, Failure};
use crate::text::similar::suggestion;
use tracemill_join::config::Config;
use tracemill_trace::Source;
use tracemill_write::keys::key_path::find_key;

/// Maximum number of keys in a warning.
const LISTED: usize = 12;

/// Writes the values of a key, one per line. If no input has the key, warns and lists the keys that
/// exist.
pub(super) fn run(
    key: &str,
    sources: &[Source],
    output: &OutputPlace,
    config: &Config,
    messages: &Messages,
) -> Result<Exit, Failure> {
    let found = find_key(sources, key, config)?;
    found.warnings.iter().for_each(|warning| messages.warning(&warning.to_string()));
    if found.values.is_empty() {
        let names = || found.there.iter().map(String::as_str);
        let mut there = names().take(LISTED).collect::<Vec<_>>().join(", ");
        if found.there.len() > LISTED {
            there.push_str(&format!(" … and {} more", found.there.len() - LISTED));
        }
        let there = match there.is_empty() {
            true => "nothing stands beside the events".to_owned(),
            false => format!("there are {there}"),
        };
        messages.warning(&format!("no key {key}{} ({there})", suggestion(key, names())));
        return Ok(Exit::Lossy);
    }
    let mut text = found.values.join(&b'\n');
    text.push(b'\n');
    output.write(&text)?;
    Ok(Exit::Complete)
}
