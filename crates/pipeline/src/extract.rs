//! `profile list` and `profile extract`: describes CPU profiles, or writes them as `.cpuprofile`
//! files.

use serde::Serialize;
use std::path::PathBuf;
use tracemill_cpuprofile::{
    Assembly, ChunkOrder, Collector, PlacedProfile, ProfileGroup, ProfileSource, source_of, write,
};
use tracemill_join::config::Config;
use tracemill_join::config::id_set::IdSet;
use tracemill_join::inputs::{of_inputs, scan};
use tracemill_join::read_plan::{IndexOutcome, Planned, ReadPlan, Stop};
use tracemill_join::report::rows;
use tracemill_join::report::warning::Warning;
use tracemill_tokenizer::to_text;
use tracemill_trace::Limits;
use tracemill_trace::event::envelope::Document;
use tracemill_trace::event::metadata::MetadataNames;
use tracemill_trace::input::source::Source;
use tracemill_trace::json::printable;
use tracemill_trace::observe::{Nothing, Scanned};
use tracemill_trace::output::target::{Compression, OutputConfig, Target};
use tracemill_trace::output::{self, Length, Output};
use tracemill_trace::read::Inputs;
use tracemill_trace::run::error::{Error, ErrorKind};
use tracemill_trace::run::flaws::Flaws;
use tracemill_trace::run::losses::InputReport;
use tracemill_trace::run::memory::Share;
use tracemill_trace::run::remedy::Remedy;
use tracemill_trace::run::threads::try_each;
use tracemill_trace::spill::hash::{HashMap, HashSet};
use tracemill_trace::store::Store;
use tracemill_write::file_names::{fill, resolved_path, safe, unknown_placeholder};

/// Selects CPU profiles. A set that is `None` selects all.
#[derive(Clone, Debug, Default)]
pub struct ProfileChoice {
    /// Pids of the processes.
    pub pid: Option<IdSet>,
    /// Tids of the threads.
    pub tid: Option<IdSet>,
    /// Stream ids.
    pub id: Option<IdSet>,
}

impl ProfileChoice {
    fn takes(&self, group: ProfileGroup<'_>) -> bool {
        let takes = |set: &Option<IdSet>, id| set.as_ref().is_none_or(|set| set.contains(id));
        takes(&self.pid, &group.owner.pid)
            && takes(&self.tid, group.tid())
            && takes(&self.id, &group.owner.id)
    }
}

/// The destination of extracted profiles.
#[derive(Clone, Debug)]
pub enum ProfileTarget {
    /// A single file, for a single profile.
    One(Target),
    /// A file per profile.
    Folder {
        /// The folder, which is created if it does not exist.
        dir: PathBuf,
        /// Template of the file names; `None` for the default, see [`extract_profiles`].
        template: Option<String>,
        /// Whether existing files may be replaced.
        replace: bool,
        /// A path that no profile may be written to, such as that of the report.
        reserved: Option<PathBuf>,
    },
}

/// Description of a CPU profile.
#[derive(Clone, Debug, Serialize)]
pub struct ProfileInfo {
    /// The `pid` as written; empty if missing.
    #[serde(serialize_with = "rows::id")]
    pub pid: String,
    /// The `tid` of the sampled thread as written; empty if missing.
    #[serde(serialize_with = "rows::id")]
    pub tid: String,
    /// The `id` of the stream (or `id2`) as written; empty if missing.
    #[serde(serialize_with = "rows::id")]
    pub id: String,
    /// Process name from the last `process_name` event.
    #[serde(rename = "process")]
    pub process_name: Option<String>,
    /// Thread name from the last `thread_name` event.
    #[serde(rename = "thread")]
    pub thread_name: Option<String>,
    /// The origin that the profile states.
    pub source: Option<ProfileSource>,
    /// Time of the `Profile` event as DevTools reads it, in nanoseconds.
    pub start_ns: i64,
    /// Start by V8's own clock (`args.data.startTime`), in nanoseconds.
    pub own_start_ns: Option<i64>,
    /// Time of the end, in nanoseconds.
    pub end_ns: i64,
    /// Number of samples that refer to a node.
    pub samples: u64,
    /// Number of nodes of the call tree.
    pub nodes: u64,
    /// Number of `ProfileChunk` events, or 1 for a `CpuProfile`.
    pub chunks: u64,
    /// Number of bytes of the profile's events, or of the `.cpuprofile`.
    pub bytes: u64,
    /// The order in which the chunks were assembled.
    pub order: ChunkOrder,
    /// Problems of the profile.
    pub flaws: Flaws,
    /// The file that was written, if any.
    #[serde(serialize_with = "tracemill_join::report::rows::some_path")]
    pub file: Option<PathBuf>,
}

impl ProfileInfo {
    /// Returns the mean time between samples in nanoseconds; `None` without samples.
    pub fn interval_ns(&self) -> Option<u64> {
        self.end_ns.abs_diff(self.start_ns).checked_div(self.samples)
    }
}

/// The result of `profile list` or `profile extract`.
#[derive(Clone, Debug, Default, Serialize)]
pub struct ProfilesReport {
    /// Reports of the inputs, in order.
    pub inputs: Vec<InputReport>,
    /// The selected profiles, sorted by start.
    pub profiles: Vec<ProfileInfo>,
    /// Number of times that chunk lists were spilled to disk.
    pub spills: u64,
    /// The index that was used instead of a scan, and the number of bytes of events that were read.
    #[serde(serialize_with = "tracemill_join::report::rows::numbered_path")]
    pub index: Option<(PathBuf, u64)>,
    /// Reason why an existing index was not used.
    pub index_unused: Option<&'static str>,
    /// Warnings for the user.
    pub warnings: Vec<Warning>,
}

impl ProfilesReport {
    /// Returns the number of losses in the inputs and profiles.
    pub fn lost(&self) -> u64 {
        self.inputs.iter().map(InputReport::lost).sum::<u64>()
            + self.profiles.iter().map(|profile| profile.flaws.lost()).sum::<u64>()
    }
}

/// Lists the CPU profiles in `sources`, with their sizes and problems.
///
/// Cost: one pass over the inputs at scanning speed, and about 2 ns per byte of profile data. With
/// an index of the single input, if [`Config::index`] allows it, only profiles and names are read.
///
/// ```
/// use tracemill_pipeline::{Config, ProfileChoice, Source, list_profiles};
/// # let folder = tempfile::tempdir()?;
/// # let file = folder.path().join("CPU.20260101.120000.7.0.001.cpuprofile");
/// # std::fs::write(&file, r#"{"nodes":[{"id":1,"callFrame":{"functionName":"(root)","scriptId":"0","url":"","lineNumber":-1,"columnNumber":-1}}],
/// #   "startTime":1,"endTime":11,"samples":[1,1],"timeDeltas":[5,5]}"#)?;
///
/// let config = Config::new(2, 64 << 20, std::env::temp_dir()); // threads, bytes of heap
/// let report = list_profiles(&[Source::Path(file)], &ProfileChoice::default(), &config)?;
/// let profile = &report.profiles[0]; // process and thread from the file's name
/// assert_eq!((&*profile.pid, &*profile.tid, profile.samples), ("7", "0", 2));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Returns the same errors as [`crate::merge()`], except those of the output.
pub fn list_profiles(
    sources: &[Source],
    choice: &ProfileChoice,
    config: &Config,
) -> Result<ProfilesReport, Error> {
    profiles_planned(sources, choice, None, scan_all(), config)
}

/// Writes the CPU profiles in `sources` as `.cpuprofile` files, in V8's format.
///
/// The default name is `CPU.{date}.{time}.{pid}.{tid}.{seq}.cpuprofile`. Templates may also contain
/// `{id}`, `{process}` and `{thread}`. `{date}` and `{time}` are the time of the recording
/// (`19700101` and `000000` if unknown), and `{seq}` numbers the profiles of a process from 001.
/// Characters that are unsafe in file names become `_`.
///
/// Cost: that of [`list_profiles`].
///
/// # Errors
/// Returns the same errors as [`crate::merge()`]. Returns [`ErrorKind::Profiles`] if there is no
/// profile, if there are several profiles for one file, or if two files would get the same name.
/// Nothing is written if an input cannot be read or a file exists already.
pub fn extract_profiles(
    sources: &[Source],
    choice: &ProfileChoice,
    target: &ProfileTarget,
    config: &Config,
) -> Result<ProfilesReport, Error> {
    profiles_planned(sources, choice, Some(target), scan_all(), config)
}

fn scan_all() -> Planned<ReadPlan> {
    Planned::Scan(IndexOutcome::default())
}

/// Lists the CPU profiles in `sources`, and writes them if there is a target. Reads only the byte
/// ranges of a plan, if there is one.
///
/// # Errors
/// Returns the same errors as [`extract_profiles`].
pub fn profiles_planned(
    sources: &[Source],
    choice: &ProfileChoice,
    target: Option<&ProfileTarget>,
    planned: Planned<ReadPlan>,
    config: &Config,
) -> Result<ProfilesReport, Error> {
    config.limits.check()?;
    let all_sources: Vec<&Source> = sources.iter().collect();
    if let Some(ProfileTarget::One(target)) = target {
        output::check(&plain(target.clone()), &all_sources)?;
    }
    let (scanned, by_index) = read(sources, planned, config)?;
    let Scanned { inputs, index, observed: mut collector } = scanned;
    collector.streams.finish()?;
    let store = &inputs.store().with_long(&collector.streams.long);
    let mut groups = collector.streams.groups();
    let all = groups.len();
    groups.retain(|&group| choice.takes(group));
    let (names, documents) = (&collector.names, &*index.documents);
    let job = ExtractRun { names, documents, inputs: &inputs, store, limits: &config.limits };
    let mut warnings = of_inputs(&inputs).chain(by_index.warning).collect();
    let targets = match target {
        None => vec![None; groups.len()],
        Some(_) if groups.is_empty() && all > 0 => {
            let found = format!("none of the {all} CPU profiles matches what was asked for");
            return Err(ErrorKind::Profiles { found, remedy: Some(Remedy::ListProfiles) }.into());
        }
        Some(target) => job.plan(&groups, target, &all_sources, &mut warnings)?,
    };
    let mut profiles = job.each(&groups, |number, mut whole, group| {
        let Some(target) = &targets[number] else { return Ok(job.info(&whole, group)) };
        job.write(&mut whole, target)?;
        let mut info = job.info(&whole, group);
        if let Target::File { path, .. } = target {
            info.file = Some(path.clone());
        }
        Ok(info)
    })?;
    inputs.check_unchanged()?;
    profiles.sort_by_key(|profile| profile.start_ns);
    let spills = collector.streams.spilled;
    let (index, index_unused) = (by_index.used, by_index.unused);
    Ok(ProfilesReport { inputs: inputs.reports, profiles, spills, index, index_unused, warnings })
}

/// Reads the byte ranges of a plan, or all sources.
fn read(
    sources: &[Source],
    planned: Planned<ReadPlan>,
    config: &Config,
) -> Result<(Scanned<Nothing, Collector>, IndexOutcome), Error> {
    let outcome = match planned {
        Planned::Plan(plan) => match plan.read(Nothing, Collector::new(&config.limits), config)? {
            Some(scanned) => {
                let used = Some((plan.index.index, plan.bytes));
                return Ok((scanned, IndexOutcome { used, ..IndexOutcome::default() }));
            }
            None => plan.reject(Stop::changed(), &config.limits)?,
        },
        Planned::Scan(outcome) => outcome,
    };
    Ok((scan(sources, config, Nothing, Collector::new(&config.limits))?, outcome))
}

fn plain(target: Target) -> OutputConfig {
    OutputConfig { target, format: None, compression: Compression::None }
}

struct ExtractRun<'j, 's, 'p> {
    names: &'j MetadataNames,
    documents: &'j [Document],
    inputs: &'j Inputs,
    store: &'s Store<'p>,
    limits: &'j Limits,
}

impl<'s, 'p> ExtractRun<'_, 's, 'p> {
    /// Assembles the profiles in parallel and calls `work` with each. Keeps the order of `groups`
    /// in the results.
    fn each<T: Send>(
        &self,
        groups: &[ProfileGroup<'_>],
        work: impl Fn(usize, PlacedProfile<'s, 'p>, ProfileGroup<'_>) -> Result<T, Error> + Sync,
    ) -> Result<Vec<T>, Error> {
        let threads = self.limits.threads.min(groups.len()).max(1);
        let lease =
            self.limits.lease("samples of profiles", Share::of_payload(5, 12)).divided(threads);
        try_each(threads, groups.len(), |number| {
            let group = groups[number];
            let assembly = Assembly::All(lease.clone());
            work(number, group.assemble(self.store, assembly, self.limits)?, group)
        })
    }

    fn info(&self, whole: &PlacedProfile<'_, '_>, group: ProfileGroup<'_>) -> ProfileInfo {
        let owner = group.owner;
        let written = to_text;
        let (process_name, thread_name) = self.names_of(group);
        let mut flaws = whole.profile.flaws.clone();
        flaws.locate(|offset| self.inputs.locate(offset));
        ProfileInfo {
            pid: written(&owner.pid),
            tid: written(group.tid()),
            id: written(&owner.id),
            process_name,
            thread_name,
            source: source_of(whole, group),
            start_ns: whole.start,
            own_start_ns: group.own_start(),
            end_ns: whole.bounds.end,
            samples: whole.profile.extent.samples,
            nodes: whole.profile.tree.len() as u64,
            chunks: group.chunks().count(),
            bytes: self.bytes_of(group),
            order: whole.order,
            flaws,
            file: None,
        }
    }

    /// Returns the bytes of the events of a profile, or of its `.cpuprofile`.
    fn bytes_of(&self, group: ProfileGroup<'_>) -> u64 {
        let first = group.chunks().first();
        let report = first.and_then(|first| self.inputs.report_at(first.place.offset()));
        let file = report.filter(|report| report.profiles == 1);
        file.map_or(group.parts.sums.bytes, |report| report.bytes)
    }

    fn names_of(&self, group: ProfileGroup<'_>) -> (Option<String>, Option<String>) {
        let names = self.names;
        let pid = &group.owner.pid;
        (names.process(pid), names.thread(pid, group.tid()))
    }

    fn write(&self, whole: &mut PlacedProfile<'_, '_>, target: &Target) -> Result<(), Error> {
        let sink = Output::create(&plain(target.clone()), self.limits, Length::Unknown)?;
        let mut buffer = Vec::new();
        let mut batch = sink.batch(0, 0, &mut buffer);
        write(&mut whole.profile, &whole.bounds, &mut batch)?;
        batch.finish()?;
        self.inputs.check_unchanged()?;
        sink.finish()
    }

    /// Returns the target of each profile; `None` for a profile without nodes.
    fn plan(
        &self,
        groups: &[ProfileGroup<'_>],
        target: &ProfileTarget,
        sources: &[&Source],
        warnings: &mut Vec<Warning>,
    ) -> Result<Vec<Option<Target>>, Error> {
        let refuse =
            |found: String, remedy| Err(ErrorKind::Profiles { found, remedy: Some(remedy) }.into());
        for empty in groups.iter().filter(|group| group.parts.sums.nodes == 0) {
            let ids = [&*empty.owner.pid, empty.tid(), &*empty.owner.id].map(printable);
            warnings.push(Warning::EmptyProfile(ids));
        }
        let count = groups.iter().filter(|group| group.parts.sums.nodes > 0).count();
        if count == 0 {
            return refuse("no CPU profile was found".into(), Remedy::ListProfiles);
        }
        match target {
            ProfileTarget::One(_) if count > 1 => {
                let found =
                    format!("{count} CPU profiles were found, but only one output was named");
                refuse(found, Remedy::ChooseProfile)
            }
            ProfileTarget::One(target) => Ok(groups
                .iter()
                .map(|group| (group.parts.sums.nodes > 0).then(|| target.clone()))
                .collect()),
            ProfileTarget::Folder { dir, template, replace, reserved } => {
                let names = self.file_names(groups, template.as_deref());
                let mut taken = HashSet::default();
                let used =
                    || names.iter().zip(groups).filter(|(_, group)| group.parts.sums.nodes > 0);
                if let Some((twice, _)) = used().find(|(name, _)| !taken.insert(*name)) {
                    let found = format!("two CPU profiles would be called {twice}");
                    return refuse(found, Remedy::NumberFiles);
                }
                let reserved = reserved.as_deref().map(resolved_path);
                let is_reserved = |name: &str| Some(resolved_path(&dir.join(name))) == reserved;
                if let Some((name, _)) = used().find(|(name, _)| is_reserved(name)) {
                    let file = dir.join(name);
                    let problem = format!("a CPU profile would be written over {}", file.display());
                    return Err(Error::usage(problem, Some(Remedy::NumberFiles)));
                }
                std::fs::create_dir_all(dir).map_err(|e| Error::write(dir.display(), e))?;
                let targets = names.iter().zip(groups).map(|(name, group)| {
                    let target = Target::File { path: dir.join(name), replace: *replace };
                    output::check(&plain(target.clone()), sources)?;
                    Ok((group.parts.sums.nodes > 0).then_some(target))
                });
                targets.collect()
            }
        }
    }

    fn file_names(&self, groups: &[ProfileGroup<'_>], template: Option<&str>) -> Vec<String> {
        const USUAL: &str = "CPU.{date}.{time}.{pid}.{tid}.{seq}.cpuprofile";
        let recorded = Collector::recorded(self.documents, self.store);
        let (date, time) = recorded.unwrap_or_else(|| ("19700101".into(), "000000".into()));
        let mut by_start: Vec<usize> = (0..groups.len()).collect();
        by_start.sort_by_key(|&number| groups[number].first_time());
        let mut counts: HashMap<String, u32> = HashMap::default();
        let mut names = vec![String::new(); groups.len()];
        for number in by_start {
            let group = groups[number];
            let pid = safe(&printable(&group.owner.pid));
            let count = counts.entry(pid.clone()).or_default();
            *count += 1;
            let (process, thread) = self.names_of(group);
            let values = [
                ("{date}", date.clone()),
                ("{time}", time.clone()),
                ("{tid}", safe(&printable(group.tid()))),
                ("{id}", safe(&printable(&group.owner.id))),
                ("{seq}", format!("{count:03}")),
                ("{process}", safe(&process.unwrap_or_default())),
                ("{thread}", safe(&thread.unwrap_or_default())),
                ("{pid}", pid),
            ];
            names[number] = fill(template.unwrap_or(USUAL), &values);
        }
        names
    }
}

/// Placeholders of templates.
pub(super) const PLACEHOLDERS: [&str; 8] =
    ["date", "time", "pid", "tid", "id", "seq", "process", "thread"];

/// Checks a template for file names.
///
/// # Errors
/// Returns a message if the template contains `/` or an unknown placeholder.
pub fn check_template(template: &str) -> Result<(), String> {
    if template.contains('/') {
        return Err("a template names files, not folders".into());
    }
    match unknown_placeholder(template, &PLACEHOLDERS) {
        Some(name) => {
            Err(format!("{{{name}}} means nothing; there are {{{}}}", PLACEHOLDERS.join("} {")))
        }
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn check_template_refuses_folders_and_unknown_placeholders() {
        assert!(check_template("{pid}.{seq}.cpuprofile").is_ok());
        assert!(check_template("plain").is_ok());
        assert!(check_template("a/{pid}").is_err());
        assert!(check_template("{part}").unwrap_err().contains("{part} means nothing"));
    }
}
