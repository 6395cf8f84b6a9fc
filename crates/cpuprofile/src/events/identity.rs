//! Assigns a process, thread and stream id to each `.cpuprofile`, because such files contain no
//! ids.
//!
//! | value | source |
//! |---|---|
//! | pid, tid, sequence | [`ProfileInputs::pid_tid`]; else a name of Node or bun: `CPU.20250510.134625.51430.1.001.cpuprofile` (date, time, pid, tid, sequence; any prefix); else of deno: `CPU.1795226386217.2810.cpuprofile` (ms since 1970, pid; thread 0) |
//! | pid without those | 10,000,000 and up, which Linux and macOS never use |
//! | tid that is taken | the same for tids, since DevTools draws one profile per thread |
//! | stream id | a hash of the profile, so that outputs of several merges can be merged again |
//!
//! With one process for all, every profile is a thread of the process with the earliest name. All
//! names are read before the first profile, so assigned ids depend only on the inputs and their
//! order, and never collide with ids in names.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use std::path::{Path, PathBuf};
use tracemill_trace::read::ProfilePlace;
use tracemill_trace::spill::hash::HashSet;

/// Options for reading `.cpuprofile` inputs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProfileInputs {
    /// Path or file name, pid and tid; the first entry for a file counts.
    pub pid_tid: Vec<(PathBuf, u64, u64)>,
}

/// First process or thread id that is assigned.
const ASSIGNED: u64 = 10_000_000;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NameParts {
    prefix: String,
    /// Date and time, or milliseconds since 1970.
    time: (u64, u64),
    pid: u64,
    tid: u64,
    sequence: Option<String>,
}

impl NameParts {
    /// Parses the name of a file written by Node, bun or deno. Returns `None` for other names.
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

/// Process, thread and stream of the events of a profile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// Process id.
    pub pid: u64,
    /// Thread id.
    pub tid: u64,
    /// Stream id: 48 bits in hexadecimal, after `0x` as in V8.
    pub id: String,
    /// Name of the process.
    pub process_name: String,
    /// Name of the thread.
    pub thread_name: String,
    /// Whether DevTools shows the thread as the main thread.
    pub is_main: bool,
    /// Notice for the user if pid or tid were assigned or changed; `None` if a name or option
    /// states them.
    pub place: Option<ProfilePlace>,
}

/// Assigns processes, threads and stream ids to profiles. It reads the names of all inputs first,
/// so that no assigned id equals an id in a name.
///
/// ```
/// use std::path::Path;
/// use tracemill_cpuprofile::{Identities, ProfileInputs};
///
/// let paths = ["CPU.20250510.134625.10.1.002.cpuprofile", "mine.cpuprofile"].map(Path::new);
/// let mut identities = Identities::new(paths.into_iter(), &ProfileInputs::default(), false);
/// let [node, mine] = paths.map(|path| identities.next(path, b"the content of the profile"));
/// assert_eq!((node.pid, node.tid, &*node.thread_name), (10, 1, "worker 1"));
/// assert_eq!((mine.pid, mine.tid, &*mine.process_name), (10_000_000, 0, "mine"));
/// assert!(node.place.is_none() && mine.place.is_some(), "only assigned ids are reported");
/// assert_ne!(node.id, mine.id);
/// ```
pub struct Identities {
    options: ProfileInputs,
    one_process: bool,
    /// The (pid, tid) pairs in options and in file names. No other profile gets such a pair.
    claimed: HashSet<(u64, u64)>,
    taken: HashSet<(u64, u64)>,
    ids: HashSet<u64>,
    /// The (pid, tid) of the earliest name.
    main: Option<(u64, u64)>,
    /// Next process id to assign.
    next_pid: u64,
    next_tid: u64,
}

impl Identities {
    /// Reads the names of all inputs. If `one_process`, all profiles become threads of the process
    /// with the earliest name.
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
            // few threads are needed, so small numbers suffice
            let claims = this.claimed.iter().filter(|(claimed, _)| *claimed == pid);
            this.next_tid = claims.map(|(_, tid)| tid + 1).max().unwrap_or(1);
        }
        this
    }

    /// Returns the (pid, tid) that the options or the name state.
    fn stated(&self, path: &Path, parts: Option<&NameParts>) -> Option<(u64, u64)> {
        let given = self.options.pid_tid.iter().find(|(file, _, _)| {
            file == path || path.file_name().is_some_and(|name| name == file.as_os_str())
        });
        given.map(|&(_, pid, tid)| (pid, tid)).or(parts.map(|parts| (parts.pid, parts.tid)))
    }

    /// Returns the identity of the next profile, from the input `path`.
    ///
    /// `content` distinguishes it from other profiles (see [`content`](crate::content)). The same
    /// profiles in the same order get the same identities.
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
        let place = place(stated.is_some(), own_pid, own_tid, !foreign && own_tid != tid);
        let is_main = main == (pid, tid) && own_tid == tid;
        let id = self.stream_id(content, pid, tid);
        Identity { pid: own_pid, tid: own_tid, id, process_name, thread_name, is_main, place }
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

    /// Returns a stream id that is unique within the run: 48 bits of an FNV-1a hash.
    fn stream_id(&mut self, content: &[u8], pid: u64, tid: u64) -> String {
        let numbers = [pid.to_le_bytes(), tid.to_le_bytes()].concat();
        let hash = numbers.iter().chain(content).fold(0xCBF2_9CE4_8422_2325_u64, |hash, &byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3)
        });
        // greater than the ids that V8 counts
        let mut id = hash >> 16 | 1 << 47;
        while !self.ids.insert(id) {
            id += 1;
        }
        format!("0x{id:x}")
    }
}

fn names(path: &Path, parts: Option<&NameParts>, pid: u64, tid: u64) -> (String, String) {
    let process = match parts {
        Some(parts) if parts.prefix != "CPU" => {
            let command = command(&parts.prefix);
            format!("{} {pid}", command.as_deref().unwrap_or(&parts.prefix))
        }
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

/// Returns the command in a prefix `MAIN-CPU--<base64>`, as cpu-prof names the profile of the
/// process that it starts; `None` if the prefix is another, or the command is not plain text.
fn command(prefix: &str) -> Option<String> {
    let encoded = prefix.strip_prefix("MAIN-CPU--")?;
    let command = String::from_utf8(URL_SAFE_NO_PAD.decode(encoded).ok()?).ok()?;
    (!command.is_empty() && !command.contains(char::is_control)).then_some(command)
}

fn place(stated: bool, pid: u64, tid: u64, moved: bool) -> Option<ProfilePlace> {
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
    fn a_process_is_named_after_the_command_that_its_file_name_encodes() {
        let process = |prefix: &str| {
            let path = format!("{prefix}.20250510.134625.7.0.002.cpuprofile");
            run(&[&path], &ProfileInputs::default(), false)[0].process_name.clone()
        };
        for command in ["node app.js --x", "a", "npx nx run-many -t build?>~", "köln ▶ run"] {
            let encoded = URL_SAFE_NO_PAD.encode(command);
            assert_eq!(process(&format!("MAIN-CPU--{encoded}")), format!("{command} 7"));
        }
        assert_eq!(process("MAIN-CPU--bm9kZSBhcHAuanMgLS14"), "node app.js --x 7");
        // nothing, bytes that are no text, a line feed, a letter outside the alphabet
        for other in ["MAIN-CPU--", "MAIN-CPU--_w", "MAIN-CPU--Cg", "MAIN-CPU--b+", "main"] {
            assert_eq!(process(other), format!("{other} 7"));
        }
    }

    #[test]
    fn parses_file_names_of_node_and_deno() {
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
    fn every_profile_gets_its_own_thread_and_stream_id() {
        let all = run(&NAMES, &ProfileInputs::default(), false);
        let pairs: Vec<_> = all.iter().map(|i| (i.pid, i.tid)).collect();
        assert_eq!(pairs, [(20, 0), (10, 0), (10, 1), (10, ASSIGNED), (ASSIGNED, 0)]);
        assert_eq!(all.iter().filter(|i| i.is_main).count(), 1);
        assert!(all[1].is_main);
        assert_eq!(all[3].thread_name, "main thread, profile 003");
        assert_eq!((&*all[4].process_name, &*all[4].thread_name), ("other", "main thread"));
        assert_eq!(
            all.iter().map(|i| i.place.is_some()).collect::<Vec<_>>(),
            [false, false, false, true, true]
        );
        let ids: HashSet<_> = all.iter().map(|i| &i.id).collect();
        assert_eq!(ids.len(), 5);
        assert!(all.iter().all(|i| i.id.len() == 14), "{all:?}");
    }

    #[test]
    fn one_process_option_moves_profiles_into_one_process() {
        let all = run(&NAMES, &ProfileInputs::default(), true);
        let pairs: Vec<_> = all.iter().map(|i| (i.pid, i.tid)).collect();
        assert_eq!(pairs, [(10, 2), (10, 0), (10, 1), (10, 3), (10, 4)]);
        assert_eq!(all[0].thread_name, "Process 20: main thread");
        assert!(all.iter().all(|i| i.process_name != "Process 20"));
    }

    #[test]
    fn pid_tid_option_overrides_file_names() {
        let options =
            ProfileInputs { pid_tid: vec![(NAMES[4].into(), 20, 3), (NAMES[0].into(), 7, 8)] };
        let all = run(&NAMES, &options, false);
        assert_eq!((all[4].pid, all[4].tid, all[0].pid, all[0].tid), (20, 3, 7, 8));
        assert!(all[4].place.is_none());
    }
}
