//! Folders of CPU profiles: slow folders, a single picture, each folder a run.

use crate::support::Folder;
use serde_json::Value;

/// A profile that renders for so many samples of 1 ms in each of 4 requests, and idles between them.
fn profile(render: usize) -> String {
    let samples: Vec<usize> = [vec![2; render], vec![3; 40]].concat().repeat(4);
    let deltas = vec![1000; samples.len()];
    let end = 1000 * samples.len();
    format!(
        r#"{{"nodes":[{{"id":1,"callFrame":{{"functionName":"(root)","scriptId":"0","url":"","lineNumber":-1,"columnNumber":-1}},"children":[2,3]}},
{{"id":2,"callFrame":{{"functionName":"render","scriptId":"7","url":"a.js","lineNumber":1,"columnNumber":1}}}},
{{"id":3,"callFrame":{{"functionName":"(idle)","scriptId":"0","url":"","lineNumber":-1,"columnNumber":-1}}}}],
"startTime":0,"endTime":{end},"samples":{samples:?},"timeDeltas":{deltas:?}}}"#
    )
}

/// Creates a folder with folders of two profiles each. Those of `slow` render longer.
fn pods(folder: &Folder, name: &str, slow: Option<usize>) {
    folder.folder(name);
    for pod in 1..=4 {
        folder.folder(&format!("{name}/pod-{pod}"));
        let render = if slow == Some(pod) { 100 } else { 8 + pod };
        for worker in 0..2 {
            let file =
                format!("{name}/pod-{pod}/CPU.20260101.000000.1.{worker}.00{worker}.cpuprofile");
            folder.file(&file, profile(render + worker));
        }
    }
}

#[test]
fn the_slow_pod_is_named_where_there_is_one() {
    let folder = Folder::new();
    pods(&folder, "pods", Some(3));
    pods(&folder, "even", None);
    folder.run("report pods -o page.txt").ends(0);
    let page = folder.read("page.txt");
    assert!(page.contains("pod-3 is slow: busy 72 % of its time, the others 2"), "{page}");
    assert!(page.contains("8 event-loop blocks of 804.00 ms, most of it in render"), "{page}");
    let slow = |name: &str| -> (Value, String) {
        let run = folder.run(&format!("report --json {name}")).ends(0);
        let report: Value = serde_json::from_str(&run.stdout).expect("JSON");
        let sections = report["sections"].as_array().expect("sections");
        let services = sections.iter().find(|section| section["id"] == "services");
        let services = services.expect("services");
        let next = services["rows"][0].as_array().and_then(|row| row.last()).cloned();
        (services["figures"]["slow"].clone(), next.expect("a command").to_string())
    };
    assert_eq!(slow("pods"), ("pod-3".into(), "\"tracemill diff pods/pod-2 pods/pod-3\"".into()));
    assert_eq!(slow("even"), (Value::Null, "\"tracemill report even/pod-4\"".into()));
}

#[test]
fn folders_are_one_picture_and_their_folders_are_runs() {
    let folder = Folder::new();
    pods(&folder, "old", None);
    pods(&folder, "new", Some(3));
    folder.run("flame old -o folder.svg").ends(0);
    folder.run("flame --per all old -o all.svg").ends(0);
    assert_eq!(folder.read("folder.svg"), folder.read("all.svg"));
    let page = folder.run("diff --base old --new new").ends(0).stdout;
    assert!(page.contains("4 and 4 runs"), "{page}");
    folder.file("old/notes.txt", "no trace");
    let again = folder.run("diff --base old --new new").ends(0);
    assert_eq!(again.stdout, page);
    // a folder without a trace is no run
    folder.folder("old/logs");
    folder.file("old/logs/a.txt", "no trace");
    let again = folder.run("diff --base old --new new");
    assert_eq!(again.stdout, page, "{}", again.stderr);
}
