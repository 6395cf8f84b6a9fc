//! `top --track`, and the sections of `report` about tracks.

use crate::schema::data;
use crate::support::Folder;

/// Returns the words of each line.
fn words(text: &str) -> Vec<Vec<&str>> {
    text.lines().map(|line| line.split_whitespace().collect()).collect()
}

#[test]
fn rows_of_a_track_are_summed_up_by_title() {
    let (folder, page) = (Folder::new(), data("tracks/page.json"));
    let text = folder.run(&format!("top --track frames {page}")).ends(0).quietly().stdout;
    let lines = words(&text);
    assert_eq!(lines[0], ["total", "ms", "count", "max", "ms", "at", "ms", "name"], "{text}");
    assert_eq!(lines[1], ["349.00", "2", "349.00", "51.00", "Idle", "frame"], "{text}");
    assert_eq!(lines[2], ["33.67", "2", "17.00", "400.00", "Frame"], "{text}");
    assert_eq!(lines[4], ["16.67", "1", "16.67", "17.67", "Dropped", "frame"], "{text}");
    let csv = folder.run(&format!("top --track React --csv {page}")).ends(0).stdout;
    assert_eq!(csv.lines().nth(1), Some("38,2,24,65,s-36,List"));
    let within = folder.run(&format!("top --track gpu --csv --from 15ms {page}")).ends(0).stdout;
    assert_eq!(within.lines().nth(1), Some("5.5,2,4,19,r-61,GPU"));
    for flags in ["--pid 1", "--async", "--focus run", "--sort name"] {
        folder.run(&format!("top --track gpu {flags} {page}")).ends(2);
    }
}

#[test]
fn unknown_tracks_are_answered_with_the_tracks_of_the_trace() {
    let (folder, page) = (Folder::new(), data("tracks/page.json"));
    let run = folder.run(&format!("top --track Frame {page}")).ends(1);
    let run = run.says(&["nothing matches --track Frame", "frames, animations, timings"]);
    assert!(!run.stderr.contains("no events match"), "{}", run.stderr);
}

#[test]
fn reports_have_a_section_for_each_track_with_rows() {
    let (folder, page) = (Folder::new(), data("tracks/page.json"));
    let text = folder.run(&format!("report {page}")).ends(0).stdout;
    let text = words(&text).concat().join(" ");
    for head in [
        "## screenshots 2 screenshots, from 12 ms to 60 ms",
        "## frames 2 idle frames, 2 frames, 1 dropped frame, 1 partially presented frame; the longest",
        "## timings 1 mark, 1 marker, 2 measures, 1 console.time, 2 console.timeStamps; the longest",
        "## extension-tracks 3 tracks",
        "## memory 1 process",
    ] {
        assert!(text.contains(head), "{head}\n{text}");
    }
    let node = folder.run(&format!("report {}", data("node/trace.json"))).ends(0).stdout;
    assert!(!node.contains("## frames") && !node.contains("## memory"), "{node}");
}
