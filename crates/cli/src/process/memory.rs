//! Computes the default memory budget, which `-m` changes.
//!
//! The budget is a quarter of the available memory. It is at least 256 MiB, if that leaves an
//! eighth of the memory free. Available memory is the least of three values: the memory of the
//! machine, the cgroup limits, and the process limits (RLIMIT_AS, RLIMIT_DATA). If none of them can
//! be read, the budget is 1 GiB.

use rustix::process::{Resource, getrlimit};
use std::fs;
use std::path::Path;
use tracemill_trace::Limits;

/// Minimum of the default budget, in bytes.
const LEAST: u64 = 256 << 20;
/// Default budget in bytes if the available memory is unknown.
const UNKNOWN: u64 = 1 << 30;

pub(crate) fn default_budget() -> u64 {
    let total = fs::read_to_string("/proc/meminfo").ok().and_then(|text| total(&text));
    let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let read = |path: &Path| fs::read_to_string(path).ok();
    let limits = [Resource::As, Resource::Data].map(|what| getrlimit(what).current);
    let all = [total, group_limit(&groups, read)].into_iter().chain(limits);
    budget(all.flatten().min())
}

/// Returns the budget, in bytes, for an amount of available memory in bytes.
fn budget(memory: Option<u64>) -> u64 {
    let Some(memory) = memory else { return UNKNOWN };
    (memory / 4).max(LEAST).min(memory - memory / 8).max(Limits::MEMORY_MIN)
}

/// Reads `MemTotal` from the text of `/proc/meminfo`, in bytes.
fn total(meminfo: &str) -> Option<u64> {
    let rest = meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kib: u64 = rest.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kib.checked_mul(1024)
}

/// Returns the lowest memory limit, in bytes, of the cgroups of this process. `groups` is the text
/// of `/proc/self/cgroup`.
///
/// The limits of all parent groups apply too. Inside a container, the path is often that of the
/// host and does not exist. Then the root folder is the group of the container.
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
            // "max" means no limit
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
    fn mem_total_is_parsed() {
        assert_eq!(total("MemFree: 1 kB\nMemTotal:       24000000 kB\n"), Some(24_576_000_000));
        assert_eq!(total("MemFree: 1 kB\n"), None);
        assert_eq!(total("MemTotal: much\n"), None);
    }

    #[test]
    fn the_smallest_cgroup_limit_wins() {
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
    fn budget_is_a_quarter_with_a_minimum() {
        assert_eq!(budget(Some(16 << 30)), 4 << 30);
        assert_eq!(budget(Some(512 << 20)), 256 << 20);
        assert_eq!(budget(Some(128 << 20)), 112 << 20);
        assert_eq!(budget(Some(1 << 20)), Limits::MEMORY_MIN);
        assert_eq!(budget(None), 1 << 30);
    }

    #[test]
    fn the_default_budget_reaches_the_minimum() {
        assert!(default_budget() >= Limits::MEMORY_MIN);
    }
}
