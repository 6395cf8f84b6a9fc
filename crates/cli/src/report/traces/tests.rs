//! Compares reports of merges with the exact JSON that is expected.

use super::*;
use crate::args::test_config;
use std::time::Duration;
use tracemill_join::config::CheckFor;
use tracemill_join::report::warning::{AnnotationDrop, Warning};
use tracemill_join::report::{
    AnnotationReport, ClockMethod, InputClock, InputIdentity, ViewerReport,
};
use tracemill_tokenizer::{Damage, DamageKind, Tier};
use tracemill_trace::output::target::Format;
use tracemill_trace::run::losses::InputReport;

#[test]
fn clock_reports_have_every_field() {
    let moved = InputClock {
        name: "a".into(),
        method: Some(ClockMethod::Marker("m".into())),
        offset_ns: -5,
        scale: Some("1.5".into()),
        matches: 4,
        residual_ns: Some(3),
        uncertainty_ns: Some(2),
        drift_ppb: None,
    };
    let expected = json!({
        "name": "a", "method": "marker:m", "offset_ns": -5, "scale": "1.5", "matches": 4,
        "residual_ns": 3, "uncertainty_ns": 2, "drift_ppb": null,
    });
    assert_eq!(json!(moved), expected);
}

/// Returns the report of a merge in which every part of the report has content.
fn merge_report(input: InputReport) -> MergeReport {
    let run = RunReport {
        inputs: vec![input],
        events: 3,
        bytes: 40,
        format: Format::Array,
        tier: Tier::Scalar,
        threads: 2,
        spooled_bytes: 2,
        keys_lost: 4,
        annotations: AnnotationReport {
            kept: 6,
            dropped: vec![(AnnotationDrop::Malformed, 2), (AnnotationDrop::Frame, 1)],
        },
        viewer: ViewerReport {
            viewer: Some(CheckFor::Devtools),
            changes: vec![("pairs", 6, "pairs of B and E")],
        },
        warnings: vec![Warning::Said("hm".into())],
    };
    MergeReport {
        run,
        spilled_runs: 1,
        delayed_chunks: 3,
        copies: 5,
        identity: IdentityReport {
            inputs: vec![InputIdentity {
                name: "a".into(),
                label: None,
                recording: 1,
                pids: vec![("7".into(), "10000007".into())],
                ids: Vec::new(),
            }],
            metadata_dropped: 2,
            args_keys_absent: vec!["id2".to_owned()],
        },
        clocks: Vec::new(),
    }
}

#[test]
fn merge_reports_have_every_field() {
    let mut input = InputReport { name: "a".into(), bytes: 9, ..InputReport::default() };
    let lost = b"{\"x";
    input.losses.add(&Damage { kind: DamageKind::Truncated, offset: 5, noticed: 8, lost });
    let report = merge_report(input);
    let output = OutputConfig {
        target: Target::File { path: "o.gz".into(), replace: false },
        format: None,
        compression: Compression::Gzip { level: 6 },
    };
    let run = Run { config: &test_config(), elapsed: Duration::from_millis(1500) };
    let expected = json!({
        "schema": 1,
        "version": env!("CARGO_PKG_VERSION"),
        "verb": "merge",
        "inputs": [{
            "name": "a", "bytes": 9, "events": 0, "encoding": null,
            "losses": [{"kind": "truncated", "count": 1, "bytes": 3, "examples": [
                {"offset": 5, "noticed": 8, "bytes": 3, "excerpt": "{\"x"},
            ]}],
            "lapses": [],
            "unclosed": 0, "odd_separators": 0, "profiles": 0, "flaws": [],
        }],
        "lost": 5,
        "seconds": 1.5,
        "decisions": {
            "threads": 2, "tier": "scalar", "memory": 64 << 20, "tmp_dir": "/t", "strict": false, "repair": false,
            "spilled_runs": 1, "spooled_bytes": 2, "delayed_chunks": 3,
        },
        "output": {
            "name": "o.gz", "format": "array", "compression": {"codec": "gz", "level": 6},
            "events": 3, "bytes": 40,
        },
        "dry_run": false,
        "copies": 5,
        "keys_lost": 4,
        "warnings": ["hm"],
        "identity": {
            "inputs": [{
                "name": "a", "label": null, "recording": 1, "pids": {"7": "10000007"}, "ids": {},
            }],
            "metadata_dropped": 2,
            "args_keys_absent": ["id2"],
        },
        "clocks": [],
        "annotations": {"kept": 6, "dropped": {"malformed": 2, "frames": 1}},
        "viewer": {"for": "devtools", "changes": {"pairs": 6}},
    });
    assert_eq!(json!(merge(&report, Some(&output), &run)), expected);
}
