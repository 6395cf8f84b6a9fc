//! Opens the inputs on other machines before a command runs.
//!
//! Only the program with an engine opens addresses. Others run it with the same command line.

use super::query::{Answering, scratch};
use crate::engine::{AddressAccess, OpenAddress, PROGRAM, program};
use crate::files::inputs::address_text;
use crate::files::{RunFiles, addresses};
use crate::messages::Messages;
use crate::outcome::exit::{Exit, Failure};
use std::path::Path;
use tempfile::TempDir;

/// Returns how a verb reads inputs on other machines.
fn access(verb: &str, is_only: bool) -> AddressAccess {
    match verb {
        "info" | "query" | "slice" if is_only => AddressAccess::Ranges,
        "index" => AddressAccess::File,
        _ => AddressAccess::Once,
    }
}

/// What became of the addresses of a command line.
pub(crate) enum Addresses {
    /// They are open. The folder has their local files.
    Opened(Option<TempDir>),
    /// Another program ran the command, and ended so.
    Ended(Exit),
}

/// Opens the addresses among the inputs of `verb`.
pub(crate) fn open(
    files: &RunFiles,
    answering: Answering<'_>,
    messages: &Messages,
) -> Result<Addresses, Failure> {
    let named: Vec<&str> = files.addresses().filter_map(Path::to_str).collect();
    if named.is_empty() {
        return Ok(Addresses::Opened(None));
    }
    let engine = match answering {
        Answering::Here(engine) => engine,
        Answering::ByProgram(words) => {
            let near = words.first().map_or(Path::new(""), Path::new);
            if program(near).is_none() {
                let text = address_text(named[0]).unwrap_or_default();
                return Err(Failure::usage(format!(
                    "{text}, or install {PROGRAM}, which reads addresses"
                )));
            }
            return answering.answer(messages, |_| Ok(Exit::Complete)).map(Addresses::Ended);
        }
    };
    let folder = scratch(&files.tmp_dir())?;
    let access = access(files.verb(), named.len() == 1);
    for (number, address) in named.into_iter().enumerate() {
        let folder = folder.path().join(number.to_string());
        let source = engine.open(&OpenAddress { address, folder: &folder, access })?;
        addresses::add(address, source);
    }
    Ok(Addresses::Opened(Some(folder)))
}
