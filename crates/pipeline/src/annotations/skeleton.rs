//! `modifications` without what its lists hold: what every output has of the first document's, however long the lists are.

use super::read::{GROUPS, LISTS};
use super::text::{Style, with_member};
use tracemill_core::json::member;

/// The text of `modifications` around its lists.
pub(super) struct Skeleton {
    /// With empty lists.
    pub(super) text: Vec<u8>,
    /// How the lists are written; `None` where there is none.
    pub(super) lists: [Option<Style>; LISTS],
}

impl Skeleton {
    pub(super) fn of(modifications: &[u8]) -> Self {
        let (mut text, mut lists) = (modifications.to_vec(), Vec::with_capacity(LISTS));
        for (group, of_group) in GROUPS {
            let own = member(modifications, group).filter(|own| own.starts_with(b"{"));
            let mut object = own.unwrap_or(b"{}").to_vec();
            for list in of_group {
                let array = member(&object, list.name).filter(|array| array.starts_with(b"["));
                let style = array.map(Style::of);
                if style.is_some() {
                    object = with_member(&object, list.name, b"[]");
                }
                lists.push(style);
            }
            if own.is_some() {
                text = with_member(&text, group, &object);
            }
        }
        let mut lists = lists.into_iter();
        Skeleton { text, lists: std::array::from_fn(|_| lists.next().flatten()) }
    }

    /// The text with other lists; lists that the first document does not have are added if they hold anything, or if
    /// DevTools applies the annotations.
    pub(super) fn with(&self, new: [Vec<Vec<u8>>; LISTS], applied: bool) -> Vec<u8> {
        let mut text = self.text.clone();
        let mut lists = self.lists.iter().zip(new);
        for (group, of_group) in GROUPS {
            let old = member(&self.text, group).filter(|group| group.starts_with(b"{"));
            let mut object = old.unwrap_or(b"{}").to_vec();
            for (list, (style, elements)) in of_group.iter().zip(&mut lists) {
                if style.is_some() || applied || !elements.is_empty() {
                    let style = style.as_ref().unwrap_or(&Style::PLAIN);
                    object = with_member(&object, list.name, &style.list(&elements));
                }
            }
            if (applied || object != b"{}") && old != Some(&*object) {
                text = with_member(&text, group, &object);
            }
        }
        text
    }
}
