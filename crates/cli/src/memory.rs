//! How much memory there is: the default of `-m`.
//!
//! A quarter of the least of the machine's memory, the limits of the control groups, and those of the process (RLIMIT_AS, RLIMIT_DATA); 256 MiB
//! at least, but an eighth of that memory is left over for what is not counted. Where none of them can be read, 1 GiB.

use rustix::process::{Resource, getrlimit};
use std::fs;
use std::path::Path;
use tracemill_trace::Limits;

/// The smallest default, in bytes.
const LEAST: u64 = 256 << 20;
/// The default where nothing is known, in bytes.
const UNKNOWN: u64 = 1 << 30;

/// The default budget, in bytes.
pub(crate) fn default_budget() -> u64 {
    let total = fs::read_to_string("/proc/meminfo").ok().and_then(|text| total(&text));
    let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let read = |path: &Path| fs::read_to_string(path).ok();
    let limits = [Resource::As, Resource::Data].map(|what| getrlimit(what).current);
    let all = [total, group_limit(&groups, read)].into_iter().chain(limits);
    budget(all.flatten().min())
}

/// The budget where there is so much memory; the least that everything works within at least.
fn budget(memory: Option<u64>) -> u64 {
    let Some(memory) = memory else { return UNKNOWN };
    (memory / 4).max(LEAST).min(memory - memory / 8).max(Limits::MEMORY_MIN)
}

/// `MemTotal` of `/proc/meminfo`, in bytes.
fn total(meminfo: &str) -> Option<u64> {
    let rest = meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kib: u64 = rest.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kib.checked_mul(1024)
}

/// The least limit of the control groups that this process is in, in bytes; `groups` is `/proc/self/cgroup`.
///
/// A group is bound by the limits of all groups above it. Inside a container the path is often that of the host, which
/// cannot be seen, but the root then is the container's own.
fn group_limit(groups: &str, read: impl Fn(&Path) -> Option<String>) -> Option<u64> {
    let mut least = None;
    for line in groups.lines() {
        let mut fields = line.splitn(3, ':');
        let (Some(_), Some(controllers), Some(path)) =
            (fields.next(), fields.next(), fields.next())
        else {
            continue;
        };
        let (root, file) = match controllers {
            "" => ("/sys/fs/cgroup", "memory.max"),
            list if list.split(',').any(|name| name == "memory") => {
                ("/sys/fs/cgroup/memory", "memory.limit_in_bytes")
            }
            _ => continue,
        };
        for above in Path::new(path).ancestors() {
            let folder = Path::new(root).join(above.strip_prefix("/").unwrap_or(above));
            // "max" is no number, and no limit
            let limit = read(&folder.join(file)).and_then(|text| text.trim().parse::<u64>().ok());
            least = least.into_iter().chain(limit).min();
        }
    }
    least
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn meminfo_is_read() {
        assert_eq!(total("MemFree: 1 kB\nMemTotal:       24000000 kB\n"), Some(24_576_000_000));
        assert_eq!(total("MemFree: 1 kB\n"), None);
        assert_eq!(total("MemTotal: much\n"), None);
    }

    #[test]
    fn the_smallest_limit_counts() {
        let files = |path: &Path| match path.to_str()? {
            "/sys/fs/cgroup/a/b/memory.max" => Some("max\n".to_owned()),
            "/sys/fs/cgroup/a/memory.max" => Some("4000\n".to_owned()),
            "/sys/fs/cgroup/memory.max" => Some("5000\n".to_owned()),
            "/sys/fs/cgroup/memory/x/memory.limit_in_bytes" => Some("9223372036854771712\n".into()),
            _ => None,
        };
        assert_eq!(group_limit("0::/a/b\n", files), Some(4000));
        assert_eq!(group_limit("0::/elsewhere\n", files), Some(5000));
        assert_eq!(
            group_limit("3:cpu:/x\n2:memory,hugetlb:/x\n", files),
            Some(9_223_372_036_854_771_712)
        );
        assert_eq!(group_limit("nonsense\n", files), None);
    }

    #[test]
    fn a_quarter_but_not_too_little() {
        assert_eq!(budget(Some(16 << 30)), 4 << 30);
        assert_eq!(budget(Some(512 << 20)), 256 << 20);
        assert_eq!(budget(Some(128 << 20)), 112 << 20);
        assert_eq!(budget(Some(1 << 20)), Limits::MEMORY_MIN);
        assert_eq!(budget(None), 1 << 30);
    }

    #[test]
    fn this_machine_has_some() {
        assert!(default_budget() >= Limits::MEMORY_MIN);
    }
}
