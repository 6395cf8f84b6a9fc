//! Removes members of `args` from the events that are kept.

use tracemill_tokenizer::{Field, FieldFinder, Tier};
use tracemill_trace::json::member;
use tracemill_trace::json::patch::Patches;
use tracemill_write::keys::edit::without;
use tracemill_write::patch::{EventPatcher, Patcher, WrittenAt};

/// Paths of members of `args`, the outermost names first.
pub(super) struct DropArgs(Vec<Vec<String>>);

impl DropArgs {
    /// Parses paths with dots between names. Returns `None` if there are no paths.
    pub(super) fn of(paths: &[String]) -> Option<Self> {
        let names = |path: &String| path.split('.').map(str::to_owned).collect();
        (!paths.is_empty()).then(|| DropArgs(paths.iter().map(names).collect()))
    }
}

impl Patcher for DropArgs {
    fn start(&self, tier: Tier) -> Box<dyn EventPatcher + '_> {
        Box::new(ArgsDropper { paths: &self.0, finder: FieldFinder::new(tier) })
    }
}

struct ArgsDropper<'d> {
    paths: &'d [Vec<String>],
    finder: FieldFinder,
}

impl EventPatcher for ArgsDropper<'_> {
    fn patch(&mut self, bytes: &[u8], _: WrittenAt, patches: &mut Patches) {
        let spans = self.finder.find(bytes);
        let event = spans.of(bytes);
        let Some(args) = event.field(Field::Args).filter(|_| !event.is_metadata()) else { return };
        let mut left: Option<Vec<u8>> = None;
        for path in self.paths {
            left = without_path(left.as_deref().unwrap_or(args), path).or(left);
        }
        if let Some(left) = left {
            patches.replace(bytes, args, &left);
        }
    }
}

/// Returns an object without the member at a path, or `None` if there is no such member.
fn without_path(object: &[u8], path: &[String]) -> Option<Vec<u8>> {
    let (name, rest) = path.split_first()?;
    if rest.is_empty() {
        return Some(without(object, name.as_bytes())?.concat());
    }
    let value = member(object, name.as_bytes())?;
    let mut patches = Patches::default();
    patches.replace(object, value, &without_path(value, rest)?);
    Some(patches.apply(object))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn removes_members_by_path() {
        let args = br#"{"a":1, "data":{"stack":[1,2],"type":"x"},"a":2}"#;
        let left = |path: &str| {
            let path: Vec<String> = path.split('.').map(str::to_owned).collect();
            without_path(args, &path).map(|left| String::from_utf8(left).expect("text"))
        };
        assert_eq!(left("a").as_deref(), Some(r#"{"data":{"stack":[1,2],"type":"x"}}"#));
        let expected = r#"{"a":1, "data":{"type":"x"},"a":2}"#;
        assert_eq!(left("data.stack").as_deref(), Some(expected));
        assert_eq!(left("data.none"), None);
        assert_eq!(left("data.stack.x"), None);
    }
}
