//! `tracemill query`: runs the engine of this program, or the program that has one.

use super::query_trace::{self, NamedEvents};
use super::reporting::Reporting;
use super::running::{Flags, Running, of_index};
use crate::args::{OutputArgs, QueryArgs};
use crate::engine::{
    PROGRAM, Query, QueryEnd, QueryEngine, QueryError, QueryParam, TableFormat, VERSION, program,
};
use crate::files::whole_file::OutputPlace;
use crate::messages::{Messages, signal};
use crate::outcome::exit::{Exit, Failure};
use crate::report;
use std::env;
use std::ffi::OsString;
use std::io::{self, IsTerminal, Read};
use std::path::Path;
use tempfile::TempDir;
use tracemill_join::config::IndexUse;
use tracemill_join::input_set::{InputPlace, InputSet};
use tracemill_trace::output::draft::Draft;
use tracemill_trace::run::losses::InputReport;
use tracemill_trace::{Error, Source};

/// Where queries are answered.
#[derive(Clone, Copy)]
pub(crate) enum Answering<'e> {
    /// In this process.
    Here(&'e dyn QueryEngine),
    /// By [`PROGRAM`], which has the same flags. The words are the command line of this program.
    ByProgram(&'e [OsString]),
}

impl Answering<'_> {
    /// Calls `work` with the engine, or runs the program.
    pub(super) fn answer(
        self,
        messages: &Messages,
        work: impl FnOnce(&dyn QueryEngine) -> Result<Exit, Failure>,
    ) -> Result<Exit, Failure> {
        match self {
            Answering::Here(engine) => {
                check_version()?;
                work(engine)
            }
            Answering::ByProgram(words) => run_program(words, messages),
        }
    }
}

/// Answers a query.
pub(super) fn run(
    args: &QueryArgs,
    messages: &Messages,
    engine: &dyn QueryEngine,
) -> Result<Exit, Failure> {
    if let Some(name) = &args.tables {
        let place = OutputPlace::of(args.output.output.as_deref().unwrap_or(Path::new("-")));
        place.check("the output", &[], args.output.force)?;
        place.write(args.describe(&engine.tables(), name)?.as_bytes())?;
        return Ok(Exit::Complete);
    }
    let sql = args.sql()?;
    let QueryArgs { input, common, output, .. } = args;
    if args.is_sql_from_stdin() && input.reads_stdin() {
        return Err(Failure::usage("standard input has the query: name the traces"));
    }
    let format = args.format(output.file().is_none() && io::stdout().is_terminal());
    let flags = Flags { verb: "query", input, common };
    let (params, explain) = (&args.params[..], args.explain);
    let (is_as_is, index) = (args.as_is, args.index.index.clone());
    let question = Question { params, is_as_is, explain, index, ..Question::of(&sql, format) };
    question.answer(flags, output, messages, engine)
}

/// A question for the engine.
pub(super) struct Question<'q> {
    sql: &'q str,
    params: &'q [QueryParam],
    format: TableFormat,
    /// Whether pids and times of several inputs stay as they are.
    is_as_is: bool,
    explain: bool,
    index: IndexUse,
}

impl<'q> Question<'q> {
    /// Creates a question without parameters, over inputs that are merged.
    pub(super) fn of(sql: &'q str, format: TableFormat) -> Self {
        let index = IndexUse::Auto;
        Question { sql, params: &[], format, is_as_is: false, explain: false, index }
    }

    /// Answers the question.
    pub(super) fn answer(
        &self,
        flags: Flags<'_>,
        output: &OutputArgs,
        messages: &Messages,
        engine: &dyn QueryEngine,
    ) -> Result<Exit, Failure> {
        if self.format == TableFormat::Trace && !self.explain {
            return query_trace::run(flags, output, messages, |running| {
                self.events(running, engine)
            });
        }
        let mut reporting = Reporting::new(flags, output, messages)?;
        refuse_binary(self.format, &reporting.output)?;
        let kept = self.prepare(&mut reporting.running)?;
        let prepared = self.places(&reporting.running)?;
        let query = self.query(&prepared, &reporting.running);
        let end = answered(engine, &query, &reporting.output)?;
        drop(kept);
        finish(&reporting, &end)
    }

    /// Returns the events that the answer names.
    fn events(
        &self,
        running: &mut Running<'_>,
        engine: &dyn QueryEngine,
    ) -> Result<NamedEvents, Failure> {
        let kept = self.prepare(running)?;
        if running.config.joins(&running.sources)? {
            return Err(Failure::usage(SEVERAL));
        }
        let prepared = self.places(running)?;
        let end = engine.run(&self.query(&prepared, running), &mut io::sink());
        Ok(NamedEvents { events: end.map_err(failure_of)?.events, kept })
    }

    /// Sets the rules of the inputs, and makes them readable any number of times.
    fn prepare(&self, running: &mut Running<'_>) -> Result<Vec<Draft>, Failure> {
        running.config.index = self.index.clone();
        if !self.is_as_is {
            running.config = running.config.as_merged();
        }
        running.announce();
        keep_pipes(&mut running.sources, &running.config.limits.tmp_dir)
    }

    /// Finds new pids and clock offsets of the inputs, unless only the plan is wanted.
    fn places(&self, running: &Running<'_>) -> Result<Prepared, Failure> {
        let places = match self.explain {
            true => Vec::new(),
            false => running.watch(InputSet::places)?,
        };
        Ok(Prepared { places, scratch: scratch(&running.config.limits.tmp_dir)? })
    }

    /// Returns the query for the engine.
    fn query<'r>(&'r self, prepared: &'r Prepared, running: &'r Running<'_>) -> Query<'r> {
        Query {
            sql: self.sql,
            params: self.params,
            sources: &running.sources,
            places: &prepared.places,
            config: &running.config,
            scratch: prepared.scratch.path(),
            format: self.format,
            explain: self.explain,
        }
    }
}

/// Error for several inputs of a trace.
const SEVERAL: &str = "\
--format trace filters a single input, but there are several: pipe them on with tracemill merge … | tracemill query … -, \
or keep their pids and times with --as-is";

/// The places of the inputs, and a folder for temporary files.
struct Prepared {
    places: Vec<InputPlace>,
    scratch: TempDir,
}

/// Returns the failure of a run, given an error of the engine.
fn failure_of(error: QueryError) -> Failure {
    match error {
        QueryError::Sql(text) => Failure::Usage(text),
        QueryError::Run(error) => error.into(),
        QueryError::Write(error) => Failure::Usage(error.to_string()),
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
        (Some(error), _) => Err(failure_of(error)),
        (_, Some(end)) => written.map(|()| end),
        (_, None) => Err(written.err().unwrap_or_else(|| Failure::usage("there is no query"))),
    }
}

/// Prints warnings, losses and the summary, and writes the report if requested.
pub(super) fn finish(reporting: &Reporting<'_>, end: &QueryEnd) -> Result<Exit, Failure> {
    let messages = reporting.running.messages;
    reporting.tell(&end.inputs, &end.warnings);
    let index = of_index(end.index.used.as_ref(), end.index.unused, &end.inputs);
    index.iter().for_each(|text| messages.note(text));
    messages.losses(&end.inputs);
    let lost = end.inputs.iter().map(InputReport::lost).sum();
    let verb = reporting.running.flags.verb;
    reporting.end(&end.inputs, lost, |run| report::query(verb, end, lost, run))?;
    Ok(Exit::finished(lost))
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
    let created = tempfile::Builder::new().prefix("tracemill-").tempdir_in(folder);
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

/// Runs the program with an engine with the words of this program.
fn run_program(words: &[OsString], messages: &Messages) -> Result<Exit, Failure> {
    if messages.caller().is_some() {
        return Err(Failure::usage(format!(
            "this needs the program {PROGRAM}: run it as a program"
        )));
    }
    let (name, words) = words.split_first().unzip();
    let missing = || {
        Failure::usage(format!(
            "this needs the program {PROGRAM}, which is neither in the folder of tracemill nor on PATH: install it \
             with cargo (tracemill-sql), pip (\"tracemill[sql]\") or npm (@tracemill/sql)"
        ))
    };
    let mut command = program(name.map_or(Path::new(""), Path::new)).ok_or_else(missing)?;
    command.args(words.unwrap_or_default());
    let program = command.get_program().display().to_string();
    let failed = |source| Failure::Start { program, source };
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
