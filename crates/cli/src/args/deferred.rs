//! Flags of a command (subcommand) that are built only when the command is used.
//!
//! Building the 500 flags of all commands would take half of the time of a run on a small trace.

use super::short::add_short_help;
use clap::{ArgMatches, Args, Command, FromArgMatches, Id};
use std::ops::{Deref, DerefMut};

/// The flags `A` of a command. Clap builds them only if the command is used.
///
/// [`command`](super::command) builds the flags of all commands, for help and completions.
#[derive(Debug)]
pub(crate) struct Deferred<A>(pub(crate) A);

impl<A> Deref for Deferred<A> {
    type Target = A;

    fn deref(&self) -> &A {
        &self.0
    }
}

impl<A> DerefMut for Deferred<A> {
    fn deref_mut(&mut self) -> &mut A {
        &mut self.0
    }
}

/// Adds the flags of `A` and the short help to a command. The command keeps its description.
fn add_flags<A: Args>(verb: Command) -> Command {
    let (about, long_about) = (verb.get_about().cloned(), verb.get_long_about().cloned());
    let verb = about.into_iter().fold(A::augment_args(verb), Command::about);
    add_short_help(long_about.into_iter().fold(verb, Command::long_about))
}

impl<A: Args> Args for Deferred<A> {
    fn augment_args(verb: Command) -> Command {
        verb.defer(add_flags::<A>)
    }

    fn augment_args_for_update(verb: Command) -> Command {
        A::augment_args_for_update(verb)
    }

    fn group_id() -> Option<Id> {
        A::group_id()
    }
}

impl<A: FromArgMatches> FromArgMatches for Deferred<A> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        A::from_arg_matches(matches).map(Deferred)
    }

    fn from_arg_matches_mut(matches: &mut ArgMatches) -> Result<Self, clap::Error> {
        A::from_arg_matches_mut(matches).map(Deferred)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        self.0.update_from_arg_matches(matches)
    }
}
