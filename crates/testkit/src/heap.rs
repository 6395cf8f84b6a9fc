//! Memory of processes, as Linux tells it.

/// KiB that a process has written to, without mapped files, by what its `/proc/PID/status` says.
///
/// ```
/// assert_eq!(tracemill_testkit::heap::anonymous_kib("VmRSS:\t90 kB\nRssAnon:\t  64 kB\n"), Some(64));
/// ```
pub fn anonymous_kib(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:"))?;
    line.trim().strip_suffix("kB")?.trim().parse().ok()
}

/// MiB of this process, in the same way; `None` where there is no Linux to tell it.
pub fn own_mib() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    Some(anonymous_kib(&status)? >> 10)
}
