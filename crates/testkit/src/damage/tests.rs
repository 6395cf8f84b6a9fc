//! Checks the guarantees of the injector for all kinds and many traces.

use super::*;
use crate::generate::{TraceShape, trace};
use crate::reference;

fn parses(event: &[u8]) -> bool {
    serde_json::from_slice::<&serde_json::value::RawValue>(event).is_ok()
}

#[test]
fn every_event_is_touched_or_survives() {
    for seed in 0..1500 {
        let mut rng = Rng::new(seed);
        let shape =
            if rng.chance(30) { TraceShape::plain(9) } else { TraceShape::arbitrary(&mut rng) };
        let bytes = trace(seed, &shape);
        let spans: Vec<_> =
            reference::events(&bytes).unwrap().into_iter().map(|e| e.span).collect();
        if spans.len() > 100 {
            continue;
        }
        for kind in DamageKind::ALL {
            let damaged = damage(&mut rng, &bytes, &spans, kind);
            assert_eq!(damaged.kind, kind);
            check(&damaged, &bytes, &spans, seed);
        }
    }
}

fn check(damaged: &Damaged, bytes: &[u8], spans: &[Range<usize>], seed: u64) {
    let kind = damaged.kind;
    let copies = if kind == DamageKind::Restarted && !spans.is_empty() { 2 } else { 1 };
    let mut all = damaged.touched.clone();
    all.extend(damaged.survivors.iter().map(|(ordinal, _)| ordinal));
    all.sort_unstable();
    assert!(all.into_iter().eq(0..spans.len() * copies), "{kind:?} {seed}");
    assert!(damaged.touched.is_sorted());
    assert!(!damaged.lossless || damaged.touched.is_empty(), "{kind:?} {seed}");
    let mut changed = 0;
    for (ordinal, span) in &damaged.survivors {
        let now = &damaged.bytes[span.clone()];
        let before = &bytes[spans[ordinal % spans.len()].clone()];
        if now == before {
            continue;
        }
        changed += 1;
        assert!(now.starts_with(b"{") && now.ends_with(b"}") && now.len() > before.len());
        assert!(!parses(now), "{kind:?} {seed}: {}", String::from_utf8_lossy(now));
    }
    let in_event = matches!(kind, DamageKind::ControlByte | DamageKind::NotANumber);
    assert_eq!(changed, usize::from(in_event && !spans.is_empty()), "{kind:?} {seed}");
    let in_place = matches!(kind, DamageKind::UnescapedQuote | DamageKind::MissingBrace);
    if in_place && !spans.is_empty() {
        assert!(reference::events(&damaged.bytes).is_err(), "{kind:?} {seed}");
    }
}

#[test]
fn each_kind_causes_its_damage() {
    let bytes = br#"{"traceEvents":[{"name":"a","args":{"x":1}},{"name":"b"}]}"#;
    let spans: Vec<_> = reference::events(bytes).unwrap().into_iter().map(|e| e.span).collect();
    let text = |kind, seed| {
        let damaged = damage(&mut Rng::new(seed), bytes, &spans, kind);
        (String::from_utf8(damaged.bytes).unwrap(), damaged.touched, damaged.lossless)
    };
    let (trailing, touched, lossless) = text(DamageKind::TrailingComma, 1);
    assert_eq!(trailing, r#"{"traceEvents":[{"name":"a","args":{"x":1}},{"name":"b"},]}"#);
    assert!(touched.is_empty() && lossless);
    let (leading, _, lossless) = text(DamageKind::LeadingComma, 1);
    assert!(leading.starts_with(r#"{"traceEvents":[,{"name""#) && lossless);
    let (nan, _, lossless) = text(DamageKind::NotANumber, 1);
    assert!(nan.starts_with(r#"{"traceEvents":[{"name":"a","args":{"v":"#) && lossless, "{nan}");
    let (brace, touched, _) = text(DamageKind::MissingBrace, 1);
    assert_eq!((brace.len(), touched.len()), (bytes.len() - 1, 1));
    for seed in 0..20 {
        let (unclosed, touched, lossless) = text(DamageKind::Unclosed, seed);
        assert_eq!(unclosed.contains(r#"{"name":"b"}"#), touched.is_empty());
        assert_eq!(lossless, touched.is_empty());
    }
}
