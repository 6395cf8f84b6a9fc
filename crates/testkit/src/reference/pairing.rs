//! Naive pairing of begin and end events.

use super::profile::Value;

/// Returns the name used for pairing. Returns `None` for `null` and empty names.
pub(super) fn name(raw: Option<&str>) -> Option<Value> {
    let raw = raw.filter(|&raw| raw != "null" && raw != "\"\"")?;
    Some(Value::of(Some(raw)))
}

/// Returns the index in `open`, outermost first, of the begin event closed by an end event of this
/// name.
pub(super) fn closed_by<N: PartialEq>(open: &[Option<N>], name: &Option<N>) -> Option<usize> {
    let same_name = open.iter().rposition(|candidate| name.is_some() && candidate == name);
    same_name.or(open.len().checked_sub(1))
}
