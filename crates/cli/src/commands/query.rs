//! `tracemill query`: runs the engine of this program, or the program that has one.

use super::reporting::Reporting;
use super::running::Flags;
use crate::args::{OutputArgs, QueryArgs};
use crate::engine::{Query, QueryEnd, QueryEngine, QueryError, TableDescription, TableFormat};
use crate::files::whole_file::OutputPlace;
use crate::messages::{Messages, signal};
use crate::outcome::exit::{Exit, Failure};
use crate::report;
use std::env;
use std::ffi::OsString;
use std::io::{self, IsTerminal, Read};
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;
use tracemill_join::input_set::InputSet;
use tracemill_trace::output::draft::Draft;
use tracemill_trace::run::losses::InputReport;
use tracemill_trace::{Error, Source};

/// The program with an engine.
const PROGRAM: &str = "tracemill-query";
/// The variable with which a program says its version to the other.
const VERSION: &str = "TRACEMILL_VERSION";

/// Answers a query. Without an engine, runs [`PROGRAM`] with the words of this process.
pub(super) fn run(
    args: &QueryArgs,
    messages: &Messages,
    engine: Option<&dyn QueryEngine>,
) -> Result<Exit, Failure> {
    let Some(engine) = engine else { return run_program(messages) };
    check_version()?;
    if let Some(name) = &args.tables {
        let place = OutputPlace::of(args.output.output.as_deref().unwrap_or(Path::new("-")));
        place.check("the output", &[], args.output.force)?;
        place.write(describe(&engine.tables(), name)?.as_bytes())?;
        return Ok(Exit::Complete);
    }
    let sql = args.sql()?;
    let QueryArgs { input, common, output, .. } = args;
    if args.is_sql_from_stdin() && input.reads_stdin() {
        return Err(Failure::usage("standard input has the query: name the traces"));
    }
    let format = args.format(output.file().is_none() && io::stdout().is_terminal());
    let flags = Flags { verb: "query", input, common };
    let question = Question { sql: &sql, format, is_as_is: args.as_is, explain: args.explain };
    question.answer(flags, output, messages, engine)
}

/// A question for the engine.
pub(super) struct Question<'q> {
    pub(super) sql: &'q str,
    pub(super) format: TableFormat,
    /// Whether pids and times of several inputs stay as they are.
    pub(super) is_as_is: bool,
    pub(super) explain: bool,
}

impl Question<'_> {
    /// Answers the question.
    pub(super) fn answer(
        &self,
        flags: Flags<'_>,
        output: &OutputArgs,
        messages: &Messages,
        engine: &dyn QueryEngine,
    ) -> Result<Exit, Failure> {
        let mut reporting = Reporting::new(flags, output, messages)?;
        refuse_binary(self.format, &reporting.output)?;
        let running = &mut reporting.running;
        if !self.is_as_is {
            running.config = running.config.as_merged();
        }
        running.announce();
        let kept = keep_pipes(&mut running.sources, &running.config.limits.tmp_dir)?;
        let running = &reporting.running;
        let places = running.watch(InputSet::places)?;
        let scratch = scratch(&running.config.limits.tmp_dir)?;
        let query = Query {
            sql: self.sql,
            sources: &running.sources,
            places: &places,
            config: &running.config,
            scratch: scratch.path(),
            format: self.format,
            explain: self.explain,
        };
        let end = answered(engine, &query, &reporting.output)?;
        drop(kept);
        reporting.tell(&end.inputs, &end.warnings);
        messages.losses(&end.inputs);
        let lost = end.inputs.iter().map(InputReport::lost).sum();
        let verb = flags.verb;
        reporting.end(&end.inputs, lost, |run| report::query(verb, &end, lost, run))?;
        Ok(Exit::finished(lost))
    }
}

/// Runs the engine, and writes the result as a whole or not at all.
pub(super) fn answered(
    engine: &dyn QueryEngine,
    query: &Query<'_>,
    output: &OutputPlace,
) -> Result<QueryEnd, Failure> {
    let (mut end, mut failure) = (None, None);
    let written = output.write_lines(|out| match engine.run(query, out) {
        Ok(answered) => {
            end = Some(answered);
            Ok(())
        }
        Err(QueryError::Write(error)) => Err(error),
        Err(error) => {
            failure = Some(error);
            Err(io::Error::other("the query failed"))
        }
    });
    match (failure, end) {
        (Some(QueryError::Sql(text)), _) => Err(Failure::Usage(text)),
        (Some(QueryError::Run(error)), _) => Err(error.into()),
        (_, Some(end)) => written.map(|()| end),
        (_, None) => Err(written.err().unwrap_or_else(|| Failure::usage("there is no query"))),
    }
}

/// Returns an error if binary data would go to a terminal.
fn refuse_binary(format: TableFormat, output: &OutputPlace) -> Result<(), Failure> {
    match format.is_binary() && output.is_stdout() && io::stdout().is_terminal() {
        true => Err(Failure::usage("parquet and arrow are binary: name a file with -o")),
        false => Ok(()),
    }
}

/// Creates a folder for the engine's temporary files in `folder`.
pub(super) fn scratch(folder: &Path) -> Result<TempDir, Failure> {
    let created = tempfile::Builder::new().prefix("tracemill-query-").tempdir_in(folder);
    let created = created.map_err(|error| Error::scratch(folder, error))?;
    signal::remove_at_end(created.path());
    Ok(created)
}

/// Copies pipes to temporary files, because a query may read a table several times.
fn keep_pipes(sources: &mut [Source], folder: &Path) -> Result<Vec<Draft>, Failure> {
    let mut kept = Vec::new();
    for source in sources.iter_mut().filter(|source| !source.is_rereadable()) {
        let mut pipe: Box<dyn Read> = match source {
            Source::Stdin => Box::new(tracemill_trace::os::stdin()),
            _ => match source.file().filter(|path| path.exists()) {
                Some(path) => {
                    let opened = std::fs::File::open(path);
                    Box::new(opened.map_err(|error| Error::read(path.display(), error))?)
                }
                // the scan reports the missing file
                None => continue,
            },
        };
        let draft = Draft::new(folder)?;
        let mut buffer = vec![0; 1 << 20];
        loop {
            match pipe.read(&mut buffer) {
                Ok(0) => break,
                Ok(len) => draft.write(&buffer[..len])?,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(Error::read(&*source, error).into()),
            }
        }
        *source = draft.source(&source.to_string())?;
        kept.push(draft);
    }
    Ok(kept)
}

/// Returns the list of tables, or of the columns of the table with a name.
fn describe(tables: &[TableDescription], name: &str) -> Result<String, Failure> {
    let mut text = String::new();
    let mut row = |name: &str, meaning: &str| text.push_str(&format!("{name:<28}{meaning}\n"));
    if name.is_empty() {
        tables.iter().for_each(|table| row(table.name, table.rows));
        return Ok(text);
    }
    refuse_unknown(tables, name)?;
    for column in tables.iter().filter(|table| table.name == name).flat_map(|table| &table.columns)
    {
        row(&format!("{:<18}{}", column.name, column.data_type), column.meaning);
    }
    Ok(text)
}

/// Returns an error if there is no table with a name.
pub(super) fn refuse_unknown(tables: &[TableDescription], name: &str) -> Result<(), Failure> {
    if tables.iter().any(|table| table.name == name) {
        return Ok(());
    }
    let names: Vec<&str> = tables.iter().map(|table| table.name).collect();
    let names = names.join(", ");
    Err(Failure::usage(format!("there is no table {name}; there are {names}")))
}

/// Returns an error if the program that started this one has another version.
fn check_version() -> Result<(), Failure> {
    let version = env!("CARGO_PKG_VERSION");
    match env::var(VERSION) {
        Ok(other) if other != version => Err(Failure::usage(format!(
            "tracemill is version {other}, but {PROGRAM} is version {version}: install the same version of both"
        ))),
        _ => Ok(()),
    }
}

/// Runs the program with an engine, which has the same flags.
pub(super) fn run_program(messages: &Messages) -> Result<Exit, Failure> {
    if messages.caller().is_some() {
        return Err(Failure::usage(format!(
            "this needs the program {PROGRAM}: run it as a program"
        )));
    }
    let words: Vec<OsString> = env::args_os().skip(1).collect();
    let missing = || {
        Failure::usage(format!(
            "this needs the program {PROGRAM}, which is neither in the folder of tracemill nor on PATH: \
             cargo install tracemill-sql"
        ))
    };
    let program = program().ok_or_else(missing)?;
    let mut command = Command::new(&program);
    command.args(words).env(VERSION, env!("CARGO_PKG_VERSION"));
    let failed = |source| Failure::Start { program: program.display().to_string(), source };
    #[cfg(unix)]
    {
        use std::os::unix::process::CommandExt;
        Err(failed(command.exec()))
    }
    #[cfg(not(unix))]
    {
        let status = command.status().map_err(failed)?;
        Ok(Exit::Program(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(4)))
    }
}

/// Finds the program in the folder of this program, then on PATH.
fn program() -> Option<PathBuf> {
    let name = format!("{PROGRAM}{}", env::consts::EXE_SUFFIX);
    let sibling = env::current_exe().ok().and_then(|exe| Some(exe.parent()?.join(&name)));
    let path = env::var_os("PATH").unwrap_or_default();
    let on_path = env::split_paths(&path).map(|folder| folder.join(&name));
    sibling.into_iter().chain(on_path).find(|path| path.is_file())
}
