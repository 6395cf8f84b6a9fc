//! Which begin an end closes, the naive way.

use super::profile::Value;

/// A name as pairing looks at it: `null` and an empty one are none.
pub(super) fn name(raw: Option<&str>) -> Option<Value> {
    let raw = raw.filter(|&raw| raw != "null" && raw != "\"\"")?;
    Some(Value::of(Some(raw)))
}

/// The place among `open`, outermost first, of the begin that an end of this name closes.
pub(super) fn closed_by<N: PartialEq>(open: &[Option<N>], name: &Option<N>) -> Option<usize> {
    let own = open.iter().rposition(|own| name.is_some() && own == name);
    own.or(open.len().checked_sub(1))
}
