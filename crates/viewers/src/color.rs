//! The reserved colours of the Trace Event Format, which events name in `cname`.

use memchr::memmem::Finder;
use std::sync::LazyLock;
use tracemill_tokenizer::Event;
use tracemill_trace::json::member;

/// A reserved colour as 0xRRGGBB, and its names.
pub struct ReservedColor {
    /// The colour.
    pub rgb: u32,
    names: &'static [&'static str],
}

const fn color(rgb: u32, names: &'static [&'static str]) -> ReservedColor {
    ReservedColor { rgb, names }
}

/// The reserved colours, by number from 1. They are at most 31, so that a number has 5 bits.
pub const COLORS: [ReservedColor; 31] = [
    color(0xb67d8f, &["thread_state_uninterruptible"]),
    color(0xff8c00, &["thread_state_iowait"]),
    color(0x7ec894, &["thread_state_running"]),
    color(0x85a0d2, &["thread_state_runnable"]),
    color(0xf0f0f0, &["thread_state_sleeping"]),
    color(0xc79b7d, &["thread_state_unknown"]),
    color(0x00b4b4, &["background_memory_dump"]),
    color(0x0000b4, &["light_memory_dump"]),
    color(0xb400b4, &["detailed_memory_dump"]),
    color(0x0000ff, &["vsync_highlight_color", "heap_dump_object_type"]),
    // the colour of stack frames differs by 3 of 255 levels
    color(0x7d7d7d, &["generic_work", "heap_dump_stack_frame"]),
    color(0x007d00, &["good"]),
    color(0xb47d00, &["bad"]),
    color(0xb40000, &["terrible"]),
    color(0x000000, &["black"]),
    color(0xdddddd, &["grey"]),
    color(0xffffff, &["white"]),
    color(0xffff00, &["yellow"]),
    color(0x646400, &["olive"]),
    color(0x4387fd, &["rail_response"]),
    color(0xf44a3f, &["rail_animation"]),
    color(0xee8e00, &["rail_idle"]),
    color(0x0da861, &["rail_load"]),
    color(0xe6e600, &["startup"]),
    color(0xffff77, &["cq_build_running"]),
    color(0x99ee66, &["cq_build_passed"]),
    color(0xee8888, &["cq_build_failed"]),
    color(0xbbbbbb, &["cq_build_abandoned"]),
    // the first name is that of the format
    color(0xdede4b, &["cq_build_attempt_runnig", "cq_build_attempt_running"]),
    color(0x67da23, &["cq_build_attempt_passed"]),
    color(0xc55151, &["cq_build_attempt_failed"]),
];

static KEY: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(b"\"cname\""));

/// Returns the number of the reserved colour that an event names, from 1; 0 if it names none.
pub fn color_of(event: &Event<'_>) -> u8 {
    if KEY.find(event.bytes).is_none() {
        return 0;
    }
    let value = member(event.bytes, b"cname").unwrap_or_default();
    let name = value.strip_prefix(b"\"").and_then(|rest| rest.strip_suffix(b"\""));
    let has_name =
        |color: &ReservedColor| color.names.iter().any(|known| Some(known.as_bytes()) == name);
    COLORS.iter().position(has_name).map_or(0, |at| at as u8 + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_name_has_the_number_of_its_colour() {
        let names = COLORS.iter().flat_map(|color| color.names);
        assert_eq!(names.clone().collect::<std::collections::BTreeSet<_>>().len(), names.count());
        for (color, number) in COLORS.iter().zip(1..) {
            for name in color.names {
                let text = format!(r#"{{"ph":"X","cname" : "{name}","args":{{"cname":"good"}}}}"#);
                let bytes = text.as_bytes();
                assert_eq!(color_of(&tracemill_tokenizer::fields_of(bytes).of(bytes)), number);
            }
        }
        for text in [r#"{"cname":"pink"}"#, r#"{"args":{"cname":"good"}}"#, r#"{"cname":7}"#, "{}"]
        {
            let bytes = text.as_bytes();
            assert_eq!(color_of(&tracemill_tokenizer::fields_of(bytes).of(bytes)), 0, "{text}");
        }
    }
}
