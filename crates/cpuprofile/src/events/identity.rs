//! Which process and thread a `.cpuprofile` is of, and what its stream is called: the file itself does not say.
//!
//! | what | from |
//! |---|---|
//! | pid, tid, sequence | [`ProfileInputs::pid_tid`]; else the name that Node and bun give: `CPU.20250510.134625.51430.1.001.cpuprofile` (date, time, pid, tid, sequence), with any prefix; else that of deno: `CPU.1795226386217.2810.cpuprofile` (ms since 1970, pid; the thread is 0) |
//! | pid where there is none | 10,000,000 and on, which no Linux or macOS gives out |
//! | tid where another profile has it | the same for tids: DevTools draws one profile per thread, so each gets a lane |
//! | stream id | a hash of what tells profiles apart, so that outputs of several merges can be merged again |
//!
//! Where all profiles are one process, they are threads of the first, which is the earliest by name.
//!
//! All names are looked at before the first profile is read, so what is assigned depends on the inputs and their order alone, and collides with
//! nothing that a later name claims. Heap: some dozen bytes an input.

use std::path::{Path, PathBuf};
use tracemill_trace::read::ProfilePlace;
use tracemill_trace::spill::hash::HashSet;

/// What `.cpuprofile` inputs become on their way in, where the user says so.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProfileInputs {
    /// Process and thread of single files, by path or file name: of several for one file the first counts.
    pub pid_tid: Vec<(PathBuf, u64, u64)>,
}

/// The first number that is assigned.
const ASSIGNED: u64 = 10_000_000;

/// What the name of a `.cpuprofile` says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NameParts {
    prefix: String,
    /// Date and time, or milliseconds, as numbers that grow with time.
    time: (u64, u64),
    pid: u64,
    tid: u64,
    sequence: Option<String>,
}

impl NameParts {
    /// Takes a file's name apart; `None` if it is not made like one of the table.
    pub(crate) fn parse(path: &Path) -> Option<Self> {
        let name = path.file_name()?.to_str()?;
        let name =
            [".gz", ".zst"].iter().fold(name, |name, end| name.strip_suffix(end).unwrap_or(name));
        let name = name.strip_suffix(".cpuprofile").unwrap_or(name);
        let parts: Vec<&str> = name.split('.').collect();
        let number = |part: &str| match part.bytes().all(|b| b.is_ascii_digit()) {
            true => part.parse::<u64>().ok(),
            false => None,
        };
        if let [prefix @ .., date, time, pid, tid, sequence] = &parts[..]
            && date.len() == 8
            && time.len() == 6
            && number(sequence).is_some()
        {
            return Some(NameParts {
                prefix: prefix.join("."),
                time: (number(date)?, number(time)?),
                pid: number(pid)?,
                tid: number(tid)?,
                sequence: Some((*sequence).to_owned()),
            });
        }
        if let [prefix @ .., millis, pid] = &parts[..]
            && millis.len() == 13
        {
            let time = (0, number(millis)?);
            let prefix = prefix.join(".");
            return Some(NameParts { prefix, time, pid: number(pid)?, tid: 0, sequence: None });
        }
        None
    }
}

/// Who a profile is: what its events say of process and thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// The process its events are of.
    pub pid: u64,
    /// The thread its events are of.
    pub tid: u64,
    /// Id of its stream: 48 bits in hexadecimal digits, with the `0x` that V8 writes.
    pub id: String,
    /// What the process is called.
    pub process_name: String,
    /// What the thread is called.
    pub thread_name: String,
    /// Whether DevTools is to show it as the main thread.
    pub is_main: bool,
    /// What the user should know of it: that pid and tid were assigned, or changed, since another profile has them. `None` if they are those
    /// of the name.
    pub said: Option<ProfilePlace>,
}

/// Gives out identities; knows the names of all inputs beforehand, so that what is assigned collides with none.
///
/// ```
/// use std::path::Path;
/// use tracemill_cpuprofile::{Identities, ProfileInputs};
///
/// let paths = ["CPU.20250510.134625.10.1.002.cpuprofile", "mine.cpuprofile"].map(Path::new);
/// let mut identities = Identities::new(paths.into_iter(), &ProfileInputs::default(), false);
/// let [node, mine] = paths.map(|path| identities.next(path, b"what tells it from others"));
/// assert_eq!((node.pid, node.tid, &*node.thread_name), (10, 1, "worker 1"));
/// assert_eq!((mine.pid, mine.tid, &*mine.process_name), (10_000_000, 0, "mine"));
/// assert!(node.said.is_none() && mine.said.is_some(), "what was assigned is told");
/// assert_ne!(node.id, mine.id);
/// ```
pub struct Identities {
    options: ProfileInputs,
    one_process: bool,
    /// Pairs that names claim.
    claimed: HashSet<(u64, u64)>,
    /// Pairs that were given out.
    taken: HashSet<(u64, u64)>,
    /// Ids of streams that were given out.
    ids: HashSet<u64>,
    /// The process of the earliest name.
    main: Option<(u64, u64)>,
    /// What is assigned next, unless it is claimed or taken.
    next_pid: u64,
    next_tid: u64,
}

impl Identities {
    /// For the inputs of a run, by path; with `one_process` all profiles are threads of the earliest.
    pub fn new<'i>(
        inputs: impl Iterator<Item = &'i Path>,
        options: &ProfileInputs,
        one_process: bool,
    ) -> Self {
        let mut this = Identities {
            options: options.clone(),
            one_process,
            claimed: HashSet::default(),
            taken: HashSet::default(),
            ids: HashSet::default(),
            main: None,
            next_pid: ASSIGNED,
            next_tid: ASSIGNED,
        };
        let mut earliest = None;
        for path in inputs {
            let parts = NameParts::parse(path);
            let Some(pair) = this.stated(path, parts.as_ref()) else { continue };
            this.claimed.insert(pair);
            let time = parts.map_or((u64::MAX, 0), |parts| parts.time);
            if earliest.is_none_or(|(first, main)| (time, pair) < (first, main)) {
                earliest = Some((time, pair));
            }
        }
        this.main = earliest.map(|(_, pair)| pair);
        if let (true, Some((pid, _))) = (this.one_process, this.main) {
            // so few lanes are needed that small numbers do
            let own = this.claimed.iter().filter(|(claimed, _)| *claimed == pid);
            this.next_tid = own.map(|(_, tid)| tid + 1).max().unwrap_or(1);
        }
        this
    }

    /// What flags or the name say.
    fn stated(&self, path: &Path, parts: Option<&NameParts>) -> Option<(u64, u64)> {
        let given = self.options.pid_tid.iter().find(|(file, _, _)| {
            file == path || path.file_name().is_some_and(|name| name == file.as_os_str())
        });
        given.map(|&(_, pid, tid)| (pid, tid)).or(parts.map(|parts| (parts.pid, parts.tid)))
    }

    /// The identity of the next profile, of the input `path`; `content` is what tells it from others (see [`content`](crate::content)). The
    /// same profiles in the same order get the same identities.
    pub fn next(&mut self, path: &Path, content: &[u8]) -> Identity {
        let parts = NameParts::parse(path);
        let stated = self.stated(path, parts.as_ref());
        let (pid, tid) = stated.unwrap_or_else(|| {
            self.next_pid += 1;
            (self.next_pid - 1, 0)
        });
        let main = *self.main.get_or_insert((pid, tid));
        let own_pid = if self.one_process { main.0 } else { pid };
        let foreign = own_pid != pid;
        let own_tid = match self.taken.contains(&(own_pid, tid)) || foreign {
            true => self.free_tid(own_pid),
            false => tid,
        };
        self.taken.insert((own_pid, own_tid));
        let (mut process_name, mut thread_name) = names(path, parts.as_ref(), pid, tid);
        if foreign {
            thread_name = format!("{process_name}: {thread_name}");
            process_name = names(path, parts.as_ref(), main.0, main.1).0;
        } else if own_tid != tid {
            let sequence = parts.and_then(|parts| parts.sequence).unwrap_or_else(|| "next".into());
            thread_name = format!("{thread_name}, profile {sequence}");
        }
        let said = said(stated.is_some(), own_pid, own_tid, !foreign && own_tid != tid);
        let is_main = main == (pid, tid) && own_tid == tid;
        let id = self.stream_id(content, pid, tid);
        Identity { pid: own_pid, tid: own_tid, id, process_name, thread_name, is_main, said }
    }

    fn free_tid(&mut self, pid: u64) -> u64 {
        loop {
            let tid = self.next_tid;
            self.next_tid += 1;
            if !self.claimed.contains(&(pid, tid)) && !self.taken.contains(&(pid, tid)) {
                return tid;
            }
        }
    }

    /// 48 bits of FNV-1a, never given twice in a run.
    fn stream_id(&mut self, content: &[u8], pid: u64, tid: u64) -> String {
        let numbers = [pid.to_le_bytes(), tid.to_le_bytes()].concat();
        let hash = numbers.iter().chain(content).fold(0xCBF2_9CE4_8422_2325_u64, |hash, &byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3)
        });
        // above what V8 counts to
        let mut id = hash >> 16 | 1 << 47;
        while !self.ids.insert(id) {
            id += 1;
        }
        format!("0x{id:x}")
    }
}

/// Names of process and thread.
fn names(path: &Path, parts: Option<&NameParts>, pid: u64, tid: u64) -> (String, String) {
    let process = match parts {
        Some(parts) if parts.prefix != "CPU" => format!("{} {pid}", parts.prefix),
        Some(_) => format!("Process {pid}"),
        None if path.as_os_str().is_empty() => "standard input".to_owned(),
        None => {
            let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
            name.split(".cpuprofile").next().unwrap_or_default().to_owned()
        }
    };
    let thread = if tid == 0 { "main thread".to_owned() } else { format!("worker {tid}") };
    (process, thread)
}

fn said(stated: bool, pid: u64, tid: u64, moved: bool) -> Option<ProfilePlace> {
    match stated {
        false => Some(ProfilePlace::Assigned { pid, tid }),
        true => moved.then_some(ProfilePlace::Moved { pid, tid }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(name: &str) -> Option<(String, u64, u64, Option<String>)> {
        NameParts::parse(Path::new(name)).map(|p| (p.prefix, p.pid, p.tid, p.sequence))
    }

    #[test]
    fn names_of_producers() {
        let cpu = |pid, tid, sequence: Option<&str>| {
            Some(("CPU".to_owned(), pid, tid, sequence.map(str::to_owned)))
        };
        assert_eq!(
            parts("d/CPU.20250510.134625.51430.1.001.cpuprofile"),
            cpu(51430, 1, Some("001"))
        );
        assert_eq!(parts("CPU.1795226386217.2810.cpuprofile"), cpu(2810, 0, None));
        assert_eq!(
            parts("my.tool.20250510.134625.7.0.002.cpuprofile.gz"),
            Some(("my.tool".to_owned(), 7, 0, Some("002".to_owned())))
        );
        for other in [
            "a.cpuprofile",
            "CPU.2025.1.2.3.4.cpuprofile",
            "CPU.20250510.134625.x.1.001.cpuprofile",
        ] {
            assert_eq!(parts(other), None, "{other}");
        }
    }

    fn run(names: &[&str], options: &ProfileInputs, one_process: bool) -> Vec<Identity> {
        let paths: Vec<PathBuf> = names.iter().map(PathBuf::from).collect();
        let mut all = Identities::new(paths.iter().map(PathBuf::as_path), options, one_process);
        paths.iter().map(|path| all.next(path, b"content")).collect()
    }

    const NAMES: [&str; 5] = [
        "CPU.20250510.134626.20.0.001.cpuprofile",
        "CPU.20250510.134625.10.0.001.cpuprofile",
        "CPU.20250510.134625.10.1.002.cpuprofile",
        "CPU.20250510.134627.10.0.003.cpuprofile",
        "other.cpuprofile",
    ];

    #[test]
    fn every_profile_gets_a_lane_and_an_id_of_its_own() {
        let all = run(&NAMES, &ProfileInputs::default(), false);
        let pairs: Vec<_> = all.iter().map(|i| (i.pid, i.tid)).collect();
        assert_eq!(pairs, [(20, 0), (10, 0), (10, 1), (10, ASSIGNED), (ASSIGNED, 0)]);
        assert_eq!(all.iter().filter(|i| i.is_main).count(), 1);
        assert!(all[1].is_main);
        assert_eq!(all[3].thread_name, "main thread, profile 003");
        assert_eq!((&*all[4].process_name, &*all[4].thread_name), ("other", "main thread"));
        assert_eq!(
            all.iter().map(|i| i.said.is_some()).collect::<Vec<_>>(),
            [false, false, false, true, true]
        );
        let ids: HashSet<_> = all.iter().map(|i| &i.id).collect();
        assert_eq!(ids.len(), 5);
        assert!(all.iter().all(|i| i.id.len() == 14), "{all:?}");
    }

    #[test]
    fn one_process_for_all() {
        let all = run(&NAMES, &ProfileInputs::default(), true);
        let pairs: Vec<_> = all.iter().map(|i| (i.pid, i.tid)).collect();
        assert_eq!(pairs, [(10, 2), (10, 0), (10, 1), (10, 3), (10, 4)]);
        assert_eq!(all[0].thread_name, "Process 20: main thread");
        assert!(all.iter().all(|i| i.process_name != "Process 20"));
    }

    #[test]
    fn flags_overrule_names() {
        let options =
            ProfileInputs { pid_tid: vec![(NAMES[4].into(), 20, 3), (NAMES[0].into(), 7, 8)] };
        let all = run(&NAMES, &options, false);
        assert_eq!((all[4].pid, all[4].tid, all[0].pid, all[0].tid), (20, 3, 7, 8));
        assert!(all[4].said.is_none());
    }
}
