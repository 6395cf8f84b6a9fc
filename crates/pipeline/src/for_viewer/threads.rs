//! Renames ids that viewers cannot read.
//!
//! Perfetto treats a pid or tid below 0 or above 4294967295 as 0; DevTools rounds numbers above
//! 2^53. Such a number is replaced by its lowest 32 bits, or by the next free number. A new tid is
//! free within its process, a new pid among all pids. Strings stay. Memory: the threads of the
//! trace.
//!
//! Flow ids must be integers or hexadecimal. Other flow ids are replaced by a 64-bit hash, which
//! needs no table.

use super::scan::{Literal, PageTable};
use std::collections::BTreeMap;
use tracemill_join::config::CheckFor;
use tracemill_join::identity::{Rewrite, key_of};
use tracemill_tokenizer::{Number, canonical, number_text, parse, to_text};
use tracemill_trace::event::hash_value;
use tracemill_trace::spill::hash::{HashSet, mix};
use tracemill_viewers::ids::{is_big, is_flow_id};

/// Tids as written, by [`key_of`].
type WrittenThreads = BTreeMap<Vec<u8>, Literal>;

#[derive(Debug, Default)]
pub(crate) struct RenamedThreads {
    /// New pids by [`key_of`] of the old pid.
    pub(super) pids: BTreeMap<Vec<u8>, u32>,
    /// New tids by [`key_of`] of the old pid and tid.
    pub(super) tids: BTreeMap<Vec<u8>, u32>,
    /// All tids in use, by process.
    pub(super) used: BTreeMap<Vec<u8>, HashSet<u32>>,
}

impl RenamedThreads {
    /// Chooses the new ids of a trace whose pids `rewrite` has renamed.
    pub(super) fn of(
        tables: &[(u64, PageTable)],
        rewrite: Option<&Rewrite>,
        viewer: CheckFor,
    ) -> Self {
        // pids and their tids as written, by key
        let mut lanes: BTreeMap<Vec<u8>, (Literal, WrittenThreads)> = BTreeMap::new();
        for (base, tables) in tables {
            let unit = rewrite.and_then(|rewrite| Some(&rewrite.units[rewrite.unit_at(*base)?]));
            let earlier = unit.and_then(|unit| unit.renames.as_ref());
            for (pid, threads) in &tables.threads {
                let new = earlier.and_then(|renames| renames.pid(&key_of(Some(pid))));
                let pid = new.unwrap_or(pid);
                let process = lanes.entry(key_of(Some(pid))).or_default();
                process.0.clone_from(pid);
                process.1.extend(threads.keys().map(|tid| (key_of(Some(tid)), tid.clone())));
            }
        }
        let is_outside = match viewer {
            CheckFor::Devtools => is_big,
            CheckFor::Perfetto => is_outside,
        };
        let mut new = RenamedThreads::default();
        let mut pids: HashSet<u32> = lanes.values().filter_map(|(pid, _)| in_range(pid)).collect();
        for (key, (pid, threads)) in lanes {
            if is_outside(&pid) {
                new.pids.insert(key.clone(), free(low_bits(&pid), &mut pids));
            }
            let mut tids: HashSet<u32> = threads.values().filter_map(|tid| in_range(tid)).collect();
            for (tid_key, tid) in threads {
                if is_outside(&tid) {
                    let lane = [&*key, &*tid_key].concat();
                    new.tids.insert(lane, free(low_bits(&tid), &mut tids));
                }
            }
            new.used.insert(key, tids);
        }
        new
    }

    pub(super) fn is_empty(&self) -> bool {
        self.pids.is_empty() && self.tids.is_empty()
    }
}

/// Returns the first number from `wanted` on that is neither 0 nor taken, and takes it.
pub(super) fn free(wanted: u32, taken: &mut HashSet<u32>) -> u32 {
    let mut number = wanted;
    while number == 0 || !taken.insert(number) {
        number = number.wrapping_add(1);
    }
    number
}

fn in_range(value: &[u8]) -> Option<u32> {
    parse(value)
}

/// Returns whether a value is a number that does not fit into 32 bits.
pub(super) fn is_outside(value: &[u8]) -> bool {
    let mut scratch = Vec::new();
    let number = match value.first() {
        Some(b'-' | b'0'..=b'9') => number_text(value, &mut scratch),
        _ => None,
    };
    number.and_then(Number::parse).is_some_and(|number| !number.is_in_u32())
}

pub(super) fn low_bits(value: &[u8]) -> u32 {
    match parse::<i128>(value) {
        Some(number) => number as u32,
        None => {
            let mut plain = Vec::new();
            canonical(value, &mut plain);
            hash_value(Some(&plain)) as u32
        }
    }
}

/// Returns the replacement of a flow id, or `None` if Perfetto can read the id.
pub(super) fn flow_id(id: &[u8]) -> Option<Vec<u8>> {
    (id != b"null" && !is_read(id)).then(|| hexadecimal(hash_value(Some(id))))
}

/// Returns the id of a flow that only has an `id2` local to its process.
pub(super) fn local_flow_id(id: &[u8], pid: &[u8]) -> Vec<u8> {
    hexadecimal(mix(hash_value(Some(id)), hash_value(Some(pid))))
}

/// Returns whether Perfetto reads the id as a number of up to 64 bits.
fn is_read(id: &[u8]) -> bool {
    let text = to_text(id);
    match text.strip_prefix('"').and_then(|text| text.strip_suffix('"')) {
        Some(text) => {
            let digits = text.strip_prefix("0x").unwrap_or(text);
            is_flow_id(id) && digits.trim_start_matches('0').len() <= 16
        }
        None => text.parse::<u64>().is_ok() || text.parse::<i64>().is_ok(),
    }
}

fn hexadecimal(number: u64) -> Vec<u8> {
    format!("\"0x{number:x}\"").into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unreadable_flow_ids_become_distinct_numbers() {
        for read in
            ["5", "-5", "18446744073709551615", "\"0x1f\"", "\"1F\"", "\"00000000000000000000f\""]
        {
            assert_eq!(flow_id(read.as_bytes()), None, "{read}");
        }
        let mut seen = HashSet::default();
        for not in
            ["1.5", "\"x\"", "\"\"", "\"1-2\"", "18446744073709551616", "\"0x12345678901234567\""]
        {
            let new = flow_id(not.as_bytes()).expect(not);
            assert!(is_read(&new) && seen.insert(new), "{not}");
        }
        assert_ne!(local_flow_id(b"1", b"1"), local_flow_id(b"1", b"2"));
    }

    #[test]
    fn ids_out_of_range_get_free_numbers() {
        for (value, outside) in [
            ("4294967295", false),
            ("4294967296", true),
            ("-1", true),
            ("-0", false),
            ("1e10", true),
            ("\"99999999999\"", false),
            ("null", false),
            ("", false),
        ] {
            assert_eq!(is_outside(value.as_bytes()), outside, "{value}");
        }
        assert_eq!((low_bits(b"4294967301"), low_bits(b"-1")), (5, u32::MAX));
        let mut taken = HashSet::from_iter([5, u32::MAX]);
        assert_eq!([5, 5, 0, u32::MAX].map(|wanted| free(wanted, &mut taken)), [6, 7, 1, 2]);
    }
}
