//! One module per command, and the code that commands share.

mod addresses;
mod analysis;
mod around;
mod check;
mod clocks;
mod convert;
mod filter;
mod index;
mod info;
mod joining;
mod merge;
mod merge_dry;
mod merge_told;
mod packaging;
mod profile;
mod query;
mod query_trace;
mod reading;
mod record;
mod redact;
mod reporting;
mod running;
mod screenshots;
mod slice;
mod split;
mod tables;
mod unmatched;
#[cfg(feature = "view")]
mod view;
mod viewer;
mod writing;

use crate::args::Verb;
use crate::messages::Messages;
use crate::outcome::exit::{Exit, Failure};
pub(crate) use addresses::{Addresses, open};
pub(crate) use query::Answering;
pub(crate) use reading::read;

/// Runs a command.
///
/// # Errors
/// Returns the failure that ended the command.
pub(crate) fn run(
    verb: &Verb,
    messages: &Messages,
    answering: Answering<'_>,
) -> Result<Exit, Failure> {
    match verb {
        Verb::Merge(args) => merge::run(args, messages),
        Verb::Info(args) => info::run(args, messages),
        Verb::Index(args) => index::run(args, messages),
        #[cfg(feature = "view")]
        Verb::View(args) => view::run(args, messages),
        Verb::Show(args) => analysis::show(args, messages),
        Verb::Top(args) => match (args.by, &args.track) {
            (Some(by), _) => analysis::by_cause(args, by, messages),
            (None, Some(track)) => analysis::track_table(args, track, messages),
            (None, None) => analysis::top(args, messages),
        },
        Verb::Tree(args) => analysis::tree(args, messages),
        Verb::Diff(args) => analysis::diff(args, messages),
        Verb::Report(args) => analysis::report(args, messages),
        Verb::Flame(args) => analysis::flame(args, messages),
        Verb::Calls(args) => analysis::calls(args, messages),
        Verb::Query(args) => {
            answering.answer(messages, |engine| query::run(args, messages, engine))
        }
        Verb::Profile(verb) => profile::run(verb, messages),
        Verb::Check(args) => check::run(args, messages),
        Verb::Convert(args) => convert::run(args, messages, answering),
        Verb::Filter(args) => filter::run(args, messages),
        Verb::Redact(args) => redact::run(args, messages),
        Verb::Record(args) => record::run(args, messages),
        Verb::Split(args) => split::run(args, messages),
        Verb::Slice(args) => slice::run(args, messages),
        Verb::Completions(args) => packaging::completions(args),
        Verb::Man(args) => packaging::man(args),
    }
}
