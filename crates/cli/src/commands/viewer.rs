//! Messages of commands that write for a viewer.

use tracemill_join::report::ViewerReport;
use tracemill_trace::run::words::grouped;

/// Returns a sentence about the changes made for a viewer. Returns `None` if there are none.
pub(super) fn changed(report: &ViewerReport) -> Option<String> {
    let viewer = report.viewer.filter(|_| !report.changes.is_empty())?;
    let changes = report.changes.iter();
    let all: Vec<String> = changes.map(|(_, count, sentence)| counted(*count, sentence)).collect();
    Some(format!("changed for {}: {}", viewer.name(), all.join("; ")))
}

/// Puts a count before a sentence that begins with a plural. If the count is 1, the plural becomes
/// a singular.
fn counted(count: u64, sentence: &str) -> String {
    const PLURALS: [(&str, &str); 16] = [
        ("empty events", "empty event"),
        ("pairs of", "pair of"),
        ("B events", "B event"),
        ("E events", "E event"),
        (
            "X events that overlap others left as they are: their",
            "X event that overlaps others left as it is: its",
        ),
        ("X events that overlap", "X event that overlaps"),
        ("X events", "X event"),
        ("keys ", "key "),
        ("extra TracingStartedInBrowser events", "extra TracingStartedInBrowser event"),
        ("TracingStartedInBrowser events", "TracingStartedInBrowser event"),
        ("processes", "process"),
        ("instants", "instant"),
        ("ProfileChunk events", "ProfileChunk event"),
        ("events", "event"),
        ("tracks", "track"),
        ("times", "time"),
    ];
    let singular = PLURALS.iter().find_map(|(many, one)| {
        sentence.strip_prefix(many).filter(|_| count == 1).map(|rest| format!("{one}{rest}"))
    });
    format!("{} {}", grouped(count), singular.unwrap_or_else(|| sentence.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tracemill_join::config::CheckFor;

    #[test]
    fn viewer_changes_are_one_line() {
        assert_eq!(changed(&ViewerReport::default()), None);
        let viewer = Some(CheckFor::Devtools);
        assert_eq!(changed(&ViewerReport { viewer, changes: Vec::new() }), None);
        let changes = vec![("a", 1234, "events did this"), ("b", 1, "events did that")];
        let text = changed(&ViewerReport { viewer, changes });
        assert_eq!(text.unwrap(), "changed for devtools: 1,234 events did this; 1 event did that");
    }
}
