//! Finds criteria that match nothing. Such criteria are often typing errors.
//!
//! A *query* is one value of a criterion. Workers test each query on events until one matches.
//! Ids and names of threads are tested after the last event.

use super::args::ArgsTests;
use super::options::Filter;
use super::threads::ThreadIds;
use regex::bytes::Regex;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tracemill_join::config::pattern::{Case, Pattern, any_glob, any_of, glob_text};
use tracemill_join::report::{Present, Unmatched};
use tracemill_tokenizer::{Event, Field, to_text};
use tracemill_trace::event::metadata::MetadataNames;
use tracemill_trace::json::{content, printable};
use tracemill_trace::run::error::Error;
use tracemill_trace::spill::hash::HashSet;

enum Predicate {
    Phase,
    Category(Regex),
    Name(Regex),
    Args(ArgsTests),
    Process(Regex),
    Thread(Regex),
}

struct FlagQuery {
    flag: &'static str,
    text: String,
    test: Predicate,
    /// Whether an event has matched; unused for names of threads and processes.
    found: AtomicBool,
}

impl FlagQuery {
    fn new(flag: &'static str, text: &str, test: Predicate) -> Self {
        FlagQuery { flag, text: text.to_owned(), test, found: AtomicBool::new(false) }
    }

    fn is_of_events(&self) -> bool {
        !matches!(self.test, Predicate::Process(_) | Predicate::Thread(_))
    }

    fn is_met(&self, event: &Event<'_>, scratch: &mut Vec<u8>) -> bool {
        let text = |field| event.field(field).unwrap_or_default();
        match &self.test {
            Predicate::Phase => event.is_string(Field::Ph, self.text.as_bytes()),
            Predicate::Category(regex) => has_category(regex, content(text(Field::Cat), scratch)),
            Predicate::Name(regex) => regex.is_match(content(text(Field::Name), scratch)),
            Predicate::Args(tests) => tests.are_met(text(Field::Args), scratch),
            Predicate::Process(_) | Predicate::Thread(_) => false,
        }
    }
}

/// All values that the user gave except ids. Cheap to clone.
#[derive(Clone)]
pub(super) struct Queries(Arc<[FlagQuery]>);

impl Queries {
    pub(super) fn of(filter: &Filter, case: Case) -> Result<Self, Error> {
        let mut all = Vec::new();
        all.extend(filter.ph.iter().map(|ph| FlagQuery::new("--ph", ph, Predicate::Phase)));
        for glob in &filter.cat {
            let regex = any_glob(std::iter::once(glob_text(glob)), case)?;
            all.extend(regex.map(|compiled| {
                FlagQuery::new("--cat", glob.as_str(), Predicate::Category(compiled))
            }));
        }
        let mut add =
            |flag, patterns: &[Pattern], test: fn(Regex) -> Predicate| -> Result<(), Error> {
                for pattern in patterns {
                    let regex = any_of(std::slice::from_ref(pattern), case)?;
                    all.extend(
                        regex
                            .map(|compiled| FlagQuery::new(flag, pattern.as_str(), test(compiled))),
                    );
                }
                Ok(())
            };
        add("--name", &filter.name, Predicate::Name)?;
        add("--process", &filter.process, Predicate::Process)?;
        add("--thread", &filter.thread, Predicate::Thread)?;
        for arg in &filter.args {
            let tests = ArgsTests::of(std::slice::from_ref(arg))?;
            all.push(FlagQuery::new("--args", arg.as_str(), Predicate::Args(tests)));
        }
        Ok(Queries(all.into()))
    }

    /// Returns the indices of the queries on events.
    pub(super) fn of_events(&self) -> Vec<usize> {
        (0..self.0.len()).filter(|&number| self.0[number].is_of_events()).collect()
    }

    /// Tests an event against the queries in `open`, and removes matching queries from `open`.
    #[cold]
    pub(super) fn note(&self, event: &Event<'_>, open: &mut Vec<usize>, scratch: &mut Vec<u8>) {
        open.retain(|&number| {
            let query = &self.0[number];
            // another worker may have found a match
            let found = query.found.load(Ordering::Relaxed) || query.is_met(event, scratch);
            if found {
                query.found.store(true, Ordering::Relaxed);
            }
            !found
        });
    }

    /// Returns the queries that match nothing, in the order of `filter --help`.
    pub(super) fn unmatched(
        &self,
        filter: &Filter,
        threads: &[ThreadIds],
        names: &MetadataNames,
    ) -> Vec<Unmatched> {
        let mut all = Vec::new();
        let pids = threads.iter().map(|thread| &*thread.pid);
        let tids = threads.iter().map(|thread| &*thread.tid);
        if let Some(set) = &filter.pid {
            all.extend(absent(set, pids).map(|value| Unmatched { flag: "--pid", asked: value }));
        }
        if let Some(set) = &filter.tid {
            all.extend(absent(set, tids).map(|value| Unmatched { flag: "--tid", asked: value }));
        }
        let mut scratch = Vec::new();
        let mut is_named = |regex: &Regex, name: &[u8]| {
            let name = content(name, &mut scratch);
            !name.is_empty() && regex.is_match(name)
        };
        let unmatched = self.0.iter().filter(|query| match &query.test {
            Predicate::Process(regex) => !names.process_values().any(|name| is_named(regex, name)),
            Predicate::Thread(regex) => !names.thread_values().any(|name| is_named(regex, name)),
            _ => !query.found.load(Ordering::Relaxed),
        });
        all.extend(
            unmatched.map(|query| Unmatched { flag: query.flag, asked: query.text.clone() }),
        );
        all
    }
}

/// Returns the ids and names that exist, for the flags of unmatched queries.
pub(super) fn present(
    unmatched: &[Unmatched],
    threads: &[ThreadIds],
    names: &MetadataNames,
) -> Vec<Present> {
    let ids = |id: fn(&ThreadIds) -> &[u8]| {
        let number = |text: &str| text.parse().unwrap_or(i128::MAX);
        let texts = threads.iter().map(|thread| to_text(id(thread)));
        let sorted: BTreeSet<_> = texts.map(|text| (number(&text), text)).collect();
        sorted.into_iter().map(|(_, text)| text).collect()
    };
    let sorted = |names: &mut dyn Iterator<Item = &[u8]>| {
        let texts: BTreeSet<String> = names.map(printable).collect();
        texts.into_iter().collect()
    };
    let of_flag = |flag| {
        let mut values: Vec<String> = match flag {
            "--pid" => ids(|thread| &thread.pid),
            "--tid" => ids(|thread| &thread.tid),
            "--process" => sorted(&mut names.process_values()),
            "--thread" => sorted(&mut names.thread_values()),
            _ => return None,
        };
        values.retain(|value| !value.is_empty());
        Some(Present { flag, values })
    };
    let mut flags: Vec<&'static str> = unmatched.iter().map(|entry| entry.flag).collect();
    flags.dedup();
    flags.into_iter().filter_map(of_flag).collect()
}

pub(super) fn has_category(regex: &Regex, list: &[u8]) -> bool {
    list.split(|&byte| byte == b',').any(|cat| regex.is_match(cat.trim_ascii()))
}

/// Returns the members of a set of ids that match none of `ids`.
fn absent<'i>(
    set: &tracemill_join::config::id_set::IdSet,
    ids: impl Iterator<Item = &'i [u8]>,
) -> impl Iterator<Item = String> {
    let texts: HashSet<&[u8]> = ids.collect();
    let number = |id: &&[u8]| std::str::from_utf8(id).ok()?.parse::<u64>().ok();
    let mut numbers: Vec<u64> = texts.iter().filter_map(number).collect();
    numbers.sort_unstable();
    let has_range = |&(first, last): &(u64, u64)| {
        numbers.get(numbers.partition_point(|&n| n < first)).is_some_and(|&n| n <= last)
    };
    let absent: Vec<String> = set.absent(|text| texts.contains(text.as_bytes()), has_range);
    absent.into_iter()
}
