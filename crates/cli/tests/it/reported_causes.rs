//! Compares the causes that `report` names with those of `show`.

use crate::show::{causes, events, folder};
use crate::support::testdata;
use serde_json::{Value, json};

/// Returns the cells of a column of a section of `report --json` that are objects, with the key of
/// their row.
fn cells(report: &Value, section: &str, column: &str) -> Vec<(String, Value)> {
    let sections = report["sections"].as_array().expect("sections");
    let section = sections.iter().find(|other| other["id"] == section).expect("a section");
    let columns = section["columns"].as_array().expect("columns");
    let at = |name: &str| columns.iter().position(|other| other == name).expect("a column");
    let rows = section["rows"].as_array().expect("rows").iter();
    let rows = rows.filter(|row| row[at(column)].is_object());
    rows.map(|row| (row[at("key")].as_str().expect("a key").to_owned(), row[at(column)].clone()))
        .collect()
}

#[test]
fn causes_of_reports_are_those_that_show_prints() {
    let mut folder = folder();
    let sample = testdata().join("../../shared/oracle/samples/why.json.gz");
    let mut inputs = vec!["page.json.gz"];
    if let Ok(bytes) = std::fs::read(sample) {
        folder = folder.with("why.json.gz", bytes);
        inputs.push("why.json.gz");
    }
    let mut compared = 0;
    for input in inputs {
        let run = folder.run(&format!("report -q --json -n 1000 {input}")).ends(0);
        let report: Value = serde_json::from_str(&run.stdout).expect("JSON");
        assert_eq!(report["no_causes"], Value::Null);
        let rows = causes(&folder, input);
        for (task, cause) in cells(&report, "tasks", "started_by") {
            let of_initiator = rows.iter().filter(|row| row["initiator"] == cause["key"]);
            assert!(of_initiator.count() > 0, "{task}: {cause}");
            let has_file = |site: &&Value| site[1].as_str().is_some_and(|url| !url.is_empty());
            let row = rows.iter().find(|row| row["event"] == cause["key"]);
            let sites = row.and_then(|row| row["stack"].as_array());
            if let Some(site) = sites.and_then(|sites| sites.iter().find(has_file)) {
                let named =
                    json!([cause["function"], cause["url"], cause["line"], cause["column"]]);
                assert_eq!(named, *site, "{task}");
            }
            compared += 1;
        }
        for (request, cause) in cells(&report, "network", "started_by") {
            let shown = events(&folder, &format!("--event {request} {input}"));
            let number = |key: &Value| key.as_str().map(|key| key[2..].to_owned());
            if cause["key"] != Value::Null {
                let first = &shown[0]["started_by"][0]["event"];
                assert_eq!(number(&cause["key"]), number(first), "{request}");
                compared += 1;
            }
        }
    }
    assert!(compared > 0);
}
