//! `tracemill convert` to tables: one table as a file, or the tables of each input as files in a
//! folder.

use super::query::{Question, answered, finish, scratch};
use super::reporting::Reporting;
use super::running::{Flags, Running};
use crate::args::{ConvertArgs, refuse_unknown};
use crate::engine::{Query, QueryEnd, QueryEngine, TableFormat};
use crate::files::whole_file::OutputPlace;
use crate::messages::Messages;
use crate::outcome::exit::{Exit, Failure};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use tracemill_trace::input::{Input, expand};
use tracemill_trace::output::check_not_input;
use tracemill_trace::run::words::plural;
use tracemill_trace::{Error, Source};
use tracemill_write::file_names::stem;

/// Columns of the table of events: all but the whole event.
const EVENTS: &str = "\
SELECT file, event_id, number, byte_offset, ph, cat, name, pid, tid, pid_text, tid_text, utid, upid, ts_ns, dur_ns, tts_ns, tdur_ns, \
ts_text, id, scope, bind_id, args FROM events";

/// Returns the query for the rows of a table.
fn all_of(table: &str) -> String {
    if table == "events" { EVENTS.to_owned() } else { format!("SELECT * FROM {table}") }
}

/// Writes tables in a format.
pub(super) fn run(
    args: &ConvertArgs,
    format: TableFormat,
    messages: &Messages,
    engine: &dyn QueryEngine,
) -> Result<Exit, Failure> {
    let ConvertArgs { input, output, tables, common, .. } = args;
    tables.names().into_iter().try_for_each(|name| refuse_unknown(&engine.tables(), name))?;
    let flags = Flags { verb: "convert", input, common };
    let Some(dir) = &tables.dir else {
        let sql = all_of(tables.single()?);
        return Question::of(&sql, format).answer(flags, output, messages, engine);
    };
    let reporting = Reporting::new(flags, output, messages)?;
    reporting.running.announce();
    let folder = TableFolder { dir, format, is_forced: output.force };
    let end = folder.write(&tables.names(), &reporting.running, engine)?;
    finish(&reporting, &end)
}

/// A folder of tables: `TABLE/NAME.parquet` for each table and input.
struct TableFolder<'a> {
    dir: &'a Path,
    format: TableFormat,
    /// Whether files that are newer than their input are written too.
    is_forced: bool,
}

impl TableFolder<'_> {
    fn write(
        &self,
        tables: &[&str],
        running: &Running<'_>,
        engine: &dyn QueryEngine,
    ) -> Result<QueryEnd, Failure> {
        let inputs = expand(&running.sources)?;
        let names = names_of(&inputs)?;
        let scratch = scratch(&running.config.limits.tmp_dir)?;
        let (mut all, mut fresh, mut skipped) = (QueryEnd::default(), 0, 0);
        for (input, name) in inputs.iter().zip(&names) {
            let source = &input.source;
            let mut paths = tables.iter().map(|table| (*table, self.path(table, name)));
            let stale: Vec<_> = match self.is_forced {
                true => paths.collect(),
                false => paths.by_ref().filter(|(_, path)| !is_fresh(path, source)).collect(),
            };
            fresh += tables.len() - stale.len();
            for (number, (table, path)) in stale.into_iter().enumerate() {
                let place = self.place(path, &running.sources)?;
                let sql = all_of(table);
                let query = Query {
                    sql: &sql,
                    params: &[],
                    sources: std::slice::from_ref(source),
                    places: &[],
                    config: &running.config,
                    scratch: scratch.path(),
                    format: self.format,
                    explain: false,
                };
                match answered(engine, &query, &place) {
                    Err(Failure::Run(error)) if input.is_found() && error.is_no_trace() => {
                        skipped += 1;
                        break;
                    }
                    end => add(&mut all, end?, number == 0),
                }
            }
        }
        let notes = [
            (fresh, "newer than their input: kept (-f writes all)"),
            (skipped, "left out, no trace"),
        ];
        let notes = notes.into_iter().filter(|(count, _)| *count > 0);
        let notes: Vec<_> =
            notes.map(|(count, note)| format!("{} {note}", plural(count as u64, "file"))).collect();
        if !notes.is_empty() {
            running.messages.say(&notes.join("; "));
        }
        Ok(all)
    }

    /// Returns the path of a table of an input.
    fn path(&self, table: &str, name: &Path) -> PathBuf {
        let extension = if self.format == TableFormat::Arrow { "arrow" } else { "parquet" };
        let mut path = self.dir.join(table).join(name).into_os_string();
        path.push(".");
        path.push(extension);
        path.into()
    }

    /// Creates the folder of a file, and returns the file.
    fn place(&self, path: PathBuf, sources: &[Source]) -> Result<OutputPlace, Failure> {
        let folder = path.parent().unwrap_or(self.dir);
        fs::create_dir_all(folder).map_err(|error| Error::write(folder.display(), error))?;
        check_not_input(&path, sources)?;
        Ok(OutputPlace::File(path))
    }
}

/// Adds the end of a query. `is_first` is whether no other query read the input.
fn add(all: &mut QueryEnd, end: QueryEnd, is_first: bool) {
    all.rows += end.rows;
    if is_first {
        all.inputs.extend(end.inputs);
        all.warnings.extend(end.warnings);
    }
}

/// Returns whether a file was written after its input.
fn is_fresh(path: &Path, source: &Source) -> bool {
    let modified = |path: &Path| fs::metadata(path).and_then(|known| known.modified()).ok();
    modified(path).zip(modified(source.path())).is_some_and(|(file, input)| file > input)
}

/// Returns the path of each input below the folder that all share, without its extension.
fn names_of(inputs: &[Input]) -> Result<Vec<PathBuf>, Failure> {
    let paths: Vec<&Path> = inputs.iter().filter_map(|input| input.source.file()).collect();
    if paths.len() < inputs.len() {
        return Err(Failure::usage("-d names its files after the inputs: name files or folders"));
    }
    let mut shared = paths.first().and_then(|path| path.parent()).map(Path::to_owned);
    while let Some(folder) =
        shared.clone().filter(|folder| paths.iter().any(|path| !path.starts_with(folder)))
    {
        shared = folder.parent().map(Path::to_owned);
    }
    let shared = shared.unwrap_or_default();
    let mut seen: BTreeMap<PathBuf, &Path> = BTreeMap::new();
    let mut names = Vec::with_capacity(paths.len());
    for path in paths {
        let below = path.strip_prefix(&shared).unwrap_or(path);
        let name = below.with_file_name(stem(path));
        if let Some(other) = seen.insert(name.clone(), path) {
            let (name, path, other) = (name.display(), path.display(), other.display());
            return Err(Failure::usage(format!(
                "{other} and {path} would both be written as {name}: convert them one after the other, to different folders"
            )));
        }
        names.push(name);
    }
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(paths: &[&str]) -> Result<Vec<String>, String> {
        let inputs = paths.iter().map(|path| Input { source: Source::Path(path.into()) });
        let names = names_of(&inputs.collect::<Vec<_>>()).map_err(|error| error.to_string())?;
        Ok(names.into_iter().map(|name| name.display().to_string()).collect())
    }

    #[test]
    fn names_are_paths_below_the_shared_folder() {
        assert_eq!(names(&["x/a.json"]), Ok(vec!["a".to_owned()]));
        assert_eq!(names(&["a.json.gz", "b.json"]), Ok(vec!["a".to_owned(), "b".to_owned()]));
        let deep = names(&["x/1/p.json", "x/2/p.json.gz", "x/2/3/q.json"]);
        assert_eq!(deep, Ok(vec!["1/p".to_owned(), "2/p".to_owned(), "2/3/q".to_owned()]));
        assert_eq!(
            names(&["/x/a.json", "/y/a.json"]),
            Ok(vec!["x/a".to_owned(), "y/a".to_owned()])
        );
        assert!(names(&["a.json", "a.json.gz"]).unwrap_err().contains("both be written as a"));
    }
}
