//! Memory of processes, as reported by Linux.

/// Parses the anonymous memory of a process in KiB from the text of `/proc/PID/status`.
///
/// ```
/// assert_eq!(tracemill_testkit::heap::anonymous_kib("VmRSS:\t90 kB\nRssAnon:\t  64 kB\n"), Some(64));
/// ```
pub fn anonymous_kib(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:"))?;
    line.trim().strip_suffix("kB")?.trim().parse().ok()
}

/// Returns the anonymous memory of this process in MiB. Returns `None` outside Linux.
pub fn own_mib() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    Some(anonymous_kib(&status)? >> 10)
}
