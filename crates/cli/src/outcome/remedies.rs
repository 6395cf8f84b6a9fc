//! Suggestions for errors, warnings and findings, in terms of commands and flags.

use tracemill_join::report::warning::Warning;
use tracemill_trace::run::remedy::Remedy;

/// Suggestion for a compressed trace in which no position can be found without decompression from
/// the start.
const PACK_IN_PARTS: &str = "; tracemill convert -z zst makes it seekable";

/// Returns the suggestion that is appended to the message of an error.
pub(crate) fn of(remedy: Remedy) -> String {
    let fixed = match remedy {
        Remedy::Lenient => "; leave out --strict to save the rest",
        Remedy::OtherTmpDir => "; name another folder with -T",
        Remedy::Replace => "; replace it with -f or choose another name",
        Remedy::RaiseMemory => "; give it more with -m",
        Remedy::NameThread => " (set them with --pid-tid FILE=PID:TID)",
        Remedy::MoreMemory(least) => return format!(": give it -m {}M", least >> 20),
        Remedy::ObjectForm => " (--format object keeps them)",
        Remedy::Align => " (merge --align can align them)",
        Remedy::ForDevtools => "; --for devtools gives their processes a page",
        Remedy::Smaller { slice } => {
            let slice = slice.map_or_else(String::new, |(ms, bytes)| {
                let size = bytes >> 20;
                format!(" tracemill slice --from 0 --duration {ms}ms (about {size} MiB),")
            });
            return format!(
                ": make it fit with tracemill split --by size=400M,{slice} or tracemill filter --shrink-to devtools"
            );
        }
        Remedy::ListNames => "; tracemill info --top 50 lists the names",
        Remedy::ListProfiles => "; tracemill profile list shows what there is",
        Remedy::ChooseProfile => {
            ": choose one with --pid, --tid or --id, or write all to a folder with -d"
        }
        Remedy::PackInParts => PACK_IN_PARTS,
        Remedy::NumberFiles => ": use {seq} in the template (-O)",
        _ => "",
    };
    fixed.to_owned()
}

/// Returns the text of a warning with its suggestion.
pub(crate) fn warning(warning: &Warning) -> String {
    match warning {
        Warning::InPart(file, one) => format!("{}: {}", file.display(), self::warning(one)),
        Warning::IndexUnused { trace, .. } => {
            format!("{warning}; tracemill index {trace} makes a new one")
        }
        Warning::IndexNotKept { trace, .. } => {
            format!(
                "{warning}; tracemill index {trace} -o FILE saves it elsewhere, and --index FILE uses it"
            )
        }
        Warning::OnlyAsAWhole { .. } => {
            format!("{warning}{PACK_IN_PARTS}")
        }
        Warning::DoesNotFit { .. } => {
            warning.to_string().replacen("does not fit", "does not fit --shrink-to", 1)
        }
        _ => format!("{warning}{}", warning.remedy().map_or_else(String::new, of)),
    }
}

pub(crate) fn warnings(warnings: &[Warning]) -> Vec<String> {
    warnings.iter().map(warning).collect()
}

/// Suggestions by the name of a rule of `check`.
const ROWS: [(&str, &str); 82] = [
    ("utf8", "tracemill merge --repair replaces it"),
    ("nan", "tracemill merge --repair writes null"),
    (
        "grammar",
        "tracemill merge --repair corrects it where the intent is clear, and drops the event otherwise",
    ),
    ("malformed", "tracemill merge drops it and keeps the rest"),
    ("unbalanced", "tracemill merge drops the events that it breaks and keeps the rest"),
    ("truncated", "tracemill merge writes a valid trace of the complete events"),
    ("garbage", "tracemill merge leaves it out"),
    ("not-events", "write an array of events, even if it is empty"),
    ("unclosed", "tracemill merge closes it"),
    ("unclosed-object", "tracemill merge closes it"),
    ("separators", "tracemill merge corrects them"),
    ("several-documents", "tracemill merge joins them"),
    ("ndjson", "tracemill merge --format object writes a form that viewers read"),
    ("no-events", "the producer wrote no events, or was killed before it wrote any"),
    ("duplicate-key", "keep one of them"),
    ("reported-loss", "record again with larger buffers, or fewer categories"),
    ("packing", "tracemill merge INPUT -o OUT.json.gz writes one gzip member of UTF-8"),
    (
        "too-large",
        "make it smaller: tracemill split --by size=400M, tracemill slice, or tracemill filter --shrink-to devtools",
    ),
    ("opening", "tracemill merge writes a file that Perfetto recognises"),
    ("empty-event", "tracemill filter or merge --for devtools removes it"),
    ("missing-name", "DevTools cannot open the file; tracemill merge --for devtools adds a name"),
    (
        "nameless-end",
        "DevTools cannot open the file; tracemill merge --for devtools pairs the event with a B event",
    ),
    (
        "missing-cat",
        "DevTools fails when the thread of the event is selected; tracemill merge --for devtools adds the field cat",
    ),
    ("missing-args", "tracemill merge --for devtools adds the field args"),
    ("missing-phase", "viewers leave the event out; write the field ph"),
    ("unknown-phase", "viewers leave the event out"),
    ("missing-pid", "viewers show the event in the wrong place; write the field pid"),
    (
        "missing-tid",
        "Perfetto uses the pid as tid, and DevTools draws a track without a number; write the field tid",
    ),
    (
        "missing-ts",
        "viewers leave the event out; the producer of the trace must write the field ts",
    ),
    ("bad-number", "readers use 0 instead, or fail; the producer of the trace must write a number"),
    (
        "string-time",
        "DevTools concatenates such times instead of adding them; tracemill merge --for devtools writes numbers",
    ),
    ("string-id", "tracemill keeps \"5\" and 5 apart, as DevTools does"),
    ("odd-id", "write a number"),
    (
        "id-range",
        "Perfetto merges all such threads into one; tracemill merge --for perfetto writes smaller numbers",
    ),
    ("big-id", "tracemill merge --for devtools writes smaller numbers, and ids as strings"),
    (
        "precision",
        "tracemill keeps every digit; for viewers, tracemill convert --rebase 0 makes times start at 0",
    ),
    ("negative-ts", "the format allows this, but few readers expect it"),
    ("negative-dur", "the clock went backwards; leave the event out, or write a dur of 0"),
    ("no-dur", "the event has no end; write the field dur, or a B and an E event"),
    ("lower-instant", "tracemill merge --for devtools writes phase I"),
    ("ignored-phase", "Perfetto leaves the event out"),
    ("escaped-pair", "tracemill merge --for perfetto writes the characters themselves"),
    ("unsorted", "tracemill merge sorts"),
    ("unsorted-thread", "tracemill merge sorts"),
    ("late-metadata", "tracemill merge moves such events to the front"),
    ("late-untimed", "tracemill merge moves such events to the front"),
    ("begin-without-end", "viewers draw it to the end of the trace"),
    ("end-without-begin", "viewers leave it out"),
    ("crossing", "B and E events must nest; tracemill merge --for devtools writes X events"),
    (
        "overlap",
        "viewers leave it out; tracemill merge --for perfetto moves it to a separate track, and so does tracemill merge --for devtools --overlaps spill",
    ),
    ("be-threads", "tracemill merge --for devtools pairs them by thread and writes X events"),
    ("missing-id", "no other event can be paired with this event; write the field id or id2"),
    ("async-without-end", "viewers draw it to the end of the trace, or leave it out"),
    ("async-without-begin", "viewers leave it out"),
    ("async-outside", "viewers leave it out"),
    ("flow-without-end", "viewers draw no arrow"),
    ("flow-without-begin", "viewers draw no arrow"),
    (
        "shared-async-id",
        "use id2.local, or different ids; with several inputs, tracemill merge renumbers them",
    ),
    ("shared-flow-id", "use different ids; with several inputs, tracemill merge renumbers them"),
    ("async-id-zero", "use another id, such as a number from 1 on"),
    ("flow-id", "tracemill merge --for perfetto writes a number"),
    ("missing-frame", "viewers show no stack for the event"),
    ("annotation", "remove it: DevTools drops all annotations after an invalid one"),
    ("enhanced", "remove the word, unless you want DevTools to read the file in this way"),
    ("nothing-drawn", "DevTools ignores events at time 0; give them another time"),
    ("profiles-alone", "tracemill merge --for devtools adds an event around each profile"),
    ("two-starts", "tracemill merge --for devtools merges them"),
    ("empty-start", "tracemill merge --for devtools removes it"),
    ("bare-args", "tracemill merge --for devtools adds them"),
    (
        "hidden-process",
        "this is normal for the browser's own processes; to show a process of another recording, merge the file of that recording with --for devtools",
    ),
    (
        "all-hidden",
        "tracemill merge --for devtools gives each process a CommitLoad, so that it is drawn",
    ),
    ("many-samples", "tracemill merge --for devtools splits it"),
    ("profile-id2", "tracemill merge --for devtools gives it an id"),
    ("profile-parents", "tracemill profile extract reads nodes of both kinds"),
    ("profiles-per-thread", "tracemill profile extract writes each to a separate file"),
    ("chunk-order", "tracemill merge puts them in order"),
    (
        "headless-profile",
        "merge the file with the one that has the Profile event; tracemill profile extract saves the samples",
    ),
    ("chunk-lengths", "tracemill profile extract keeps the samples that have a timeDelta"),
    (
        "unsigned-deltas",
        "negative timeDeltas were written as unsigned numbers; the producer of the trace must subtract 4294967296 from each",
    ),
    ("deltas-inside", "tracemill merge --for devtools moves them to args.data.timeDeltas"),
    ("repeated-node", "tracemill profile extract renumbers nodes where needed"),
    (
        "unordered-profile",
        "a file of the recording may be missing; merge all files of the recording",
    ),
];

/// Returns the suggestion for a finding of `check`.
pub(crate) fn of_finding(name: &str) -> &'static str {
    // rules about CPU profiles are not in the table
    row(name).unwrap_or("tracemill profile extract saves what can be saved")
}

fn row(name: &str) -> Option<&'static str> {
    ROWS.iter().find(|(known, _)| *known == name).map(|(_, remedy)| *remedy)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tracemill_inspect::check::check_rules;

    #[test]
    fn every_check_rule_has_a_suggestion() {
        for (name, _) in check_rules() {
            assert!(row(name).is_some_and(|text| !text.is_empty()), "{name}");
        }
        assert_eq!(check_rules().count(), ROWS.len());
        assert_eq!(row("profile-unknown"), None);
    }

    #[test]
    fn oversized_output_suggests_a_window_that_fits() {
        let large = Warning::TooLarge { bytes: 1 << 30, lasts: Some(6_000_000_000) };
        let text = warning(&large);
        assert!(text.contains("slice --from 0 --duration 2000ms (about 400 MiB)"), "{text}");
        let timeless = warning(&Warning::TooLarge { bytes: 1 << 30, lasts: None });
        assert!(!timeless.contains("slice"), "{timeless}");
    }

    #[test]
    fn warnings_include_their_suggestion() {
        let keys = Warning::KeysLost(vec!["\"a\"".into()]);
        let text = "an array cannot hold keys outside the events; left out: \"a\" (--format object keeps them)";
        assert_eq!(warning(&keys), text);
        let part = Warning::InPart("a.json".into(), Box::new(keys));
        assert_eq!(warning(&part), format!("a.json: {text}"));
        let size = Warning::DoesNotFit { bytes: 5, most: 4, viewer: None };
        assert_eq!(
            warning(&size),
            "the output does not fit --shrink-to: metadata events and keys are never left out and take 5 bytes, more than 4"
        );
    }
}
