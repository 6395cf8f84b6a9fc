//! Inputs on other machines: `s3://bucket/trace.json`.
//!
//! The program with an engine opens addresses; this program runs it. [`open`] opens all addresses of
//! a command line before the command runs, and [`opened`] returns their sources.

use super::RunFiles;
use crate::commands::Answering;
use crate::engine::{AddressAccess, OpenAddress};
use crate::messages::Messages;
use crate::outcome::exit::{Exit, Failure};
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use tempfile::TempDir;
use tracemill_trace::Source;

/// Schemes of addresses that can be opened.
const SCHEMES: [&str; 5] = ["s3", "gs", "az", "https", "http"];

/// Returns how a verb reads inputs on other machines.
fn access(verb: &str, is_only: bool) -> AddressAccess {
    match verb {
        "info" | "query" | "slice" if is_only => AddressAccess::Ranges,
        "index" => AddressAccess::File,
        _ => AddressAccess::Once,
    }
}

/// The sources of all addresses of the command line.
static OPENED: Mutex<Vec<(String, Source)>> = Mutex::new(Vec::new());

/// Returns whether the name of an input is an address that can be opened.
pub(crate) fn is_address(name: &Path) -> bool {
    let scheme = name.to_str().and_then(|name| name.split_once("://")).map(|(scheme, _)| scheme);
    scheme.is_some_and(|scheme| SCHEMES.contains(&scheme)) && !name.exists()
}

/// Returns the source of an address.
pub(crate) fn opened(name: &Path) -> Option<Source> {
    let all = OPENED.lock().unwrap_or_else(PoisonError::into_inner);
    let name = name.to_str()?;
    all.iter().find(|(address, _)| address == name).map(|(_, source)| source.clone())
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
    let addresses: Vec<&str> = files.addresses().filter_map(Path::to_str).collect();
    if addresses.is_empty() {
        return Ok(Addresses::Opened(None));
    }
    let engine = match answering {
        Answering::Here(engine) => engine,
        Answering::ByProgram(_) => {
            return answering.answer(messages, |_| Ok(Exit::Complete)).map(Addresses::Ended);
        }
    };
    let folder = crate::commands::scratch(&files.tmp_dir())?;
    let access = access(files.verb(), addresses.len() == 1);
    for (number, address) in addresses.into_iter().enumerate() {
        let folder = folder.path().join(number.to_string());
        let source = engine.open(&OpenAddress { address, folder: &folder, access })?;
        let mut all = OPENED.lock().unwrap_or_else(PoisonError::into_inner);
        all.push((address.to_owned(), source));
    }
    Ok(Addresses::Opened(Some(folder)))
}
