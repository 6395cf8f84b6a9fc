//! Events that share an id with others, where a window of time or a thread alone does not have all of them.
//!
//! `filter` keeps all events of an id or none. A group whose events lie within a bound of each other, all on one thread, is whole in
//! whatever is read around any of them. Of others all events are listed: of those that last longer than the bound, or have events without a
//! time, and of those that have events of several threads.
//!
//! The bound is the least power of two, no less than T, for which there are at most so many of those as [`EACH`] of the text. Of each
//! sort all are listed or none.

use super::granules::level;
use super::span::LEVEL_OPEN;
use std::io;
use tracemill_core::error::Error;
use tracemill_core::limits::Limits;
use tracemill_core::order::{ExternalSorter, Keyed, Order, SortedRecords};
use tracemill_core::spill::{Record, SpillVec, SpilledVec, word};
use tracemill_index::{Writer, groups, id};

/// Bytes of text to an event of a sort at least, taken over the whole text.
const EACH: u64 = 8 << 10;
/// So many have room in any case.
const LEAST: u64 = 1024;
/// Rows of a page.
const ROWS: usize = 8192;

/// An event that shares an id.
#[derive(Clone, Copy, Debug)]
pub(super) struct Member {
    pub(super) group: u64,
    /// [`i64::MIN`] if it has none.
    pub(super) time: i64,
    pub(super) place: u64,
    pub(super) len: u64,
    /// Among the threads of the chunk, then among all.
    pub(super) thread: u32,
    pub(super) sum: u32,
}

impl Record for Member {
    const BYTES: usize = 40;

    fn encode(&self, bytes: &mut [u8]) {
        let own = u64::from(self.thread) | u64::from(self.sum) << 32;
        let words = [self.group, self.time as u64, self.place, self.len, own];
        for (chunk, word) in bytes.as_chunks_mut::<8>().0.iter_mut().zip(words) {
            *chunk = word.to_le_bytes();
        }
    }

    fn decode(bytes: &[u8]) -> Self {
        let [group, time, place, len, own] = std::array::from_fn(|at| word(bytes, 8 * at));
        let (thread, sum) = (own as u32, (own >> 32) as u32);
        Member { group, time: time as i64, place, len, thread, sum }
    }
}

impl Keyed for Member {
    type Key = (u64, u64);

    fn key(&self) -> (u64, u64) {
        (self.group, self.place)
    }
}

/// A group.
#[derive(Clone, Copy, Debug)]
struct Group {
    events: u64,
    /// Greatest below least if no event has a time.
    least: i64,
    greatest: i64,
    thread: u32,
    has_untimed: bool,
    crosses: bool,
}

impl Group {
    fn of(member: &Member) -> Self {
        let (least, greatest, thread) = (i64::MAX, i64::MIN, member.thread);
        let none = Group { events: 0, least, greatest, thread, has_untimed: false, crosses: false };
        none.with(member)
    }

    fn with(self, member: &Member) -> Self {
        let is_untimed = member.time == i64::MIN;
        let (least, greatest) = match is_untimed {
            true => (self.least, self.greatest),
            false => (self.least.min(member.time), self.greatest.max(member.time)),
        };
        Group {
            events: self.events + 1,
            least,
            greatest,
            thread: self.thread,
            has_untimed: self.has_untimed || is_untimed,
            crosses: self.crosses || member.thread != self.thread,
        }
    }

    /// It is longer than the bound if this is more than that of the bound.
    fn level(&self) -> u32 {
        match (self.least <= self.greatest, self.has_untimed) {
            (false, _) => 0,
            (true, true) => LEVEL_OPEN,
            (true, false) => level(self.greatest.abs_diff(self.least)),
        }
    }
}

impl Record for Group {
    const BYTES: usize = 32;

    fn encode(&self, bytes: &mut [u8]) {
        let own = u64::from(self.thread)
            | u64::from(self.has_untimed) << 32
            | u64::from(self.crosses) << 33;
        let words = [self.events, self.least as u64, self.greatest as u64, own];
        for (chunk, word) in bytes.as_chunks_mut::<8>().0.iter_mut().zip(words) {
            *chunk = word.to_le_bytes();
        }
    }

    fn decode(bytes: &[u8]) -> Self {
        let [events, least, greatest, own] = std::array::from_fn(|at| word(bytes, 8 * at));
        Group {
            events,
            least: least as i64,
            greatest: greatest as i64,
            thread: own as u32,
            has_untimed: own >> 32 & 1 != 0,
            crosses: own >> 33 & 1 != 0,
        }
    }
}

/// Those of a text, as parts come.
pub(super) struct AllGroups {
    members: ExternalSorter<Member>,
    limits: Limits,
    share: u64,
    most: u64,
}

impl AllGroups {
    /// None yet, of a file of so many bytes; those beyond `share` bytes go to disk.
    pub(super) fn new(file_bytes: u64, share: u64, limits: &Limits) -> Self {
        let members = ExternalSorter::new(&limits.tmp_dir, share, limits.threads);
        let most = (file_bytes / EACH).max(LEAST);
        AllGroups { members, limits: limits.clone(), share, most }
    }

    /// The next part.
    pub(super) fn append(&mut self, members: &[Member]) -> Result<(), Error> {
        self.members.extend(members);
        match self.members.is_full() {
            true => self.members.spill(Order::none()),
            false => Ok(()),
        }
    }

    /// All of them.
    pub(super) fn finish(self) -> Result<Groups, Error> {
        let AllGroups { members, limits, share, most } = self;
        let members = members.finish(Order::none())?;
        let mut groups = SpillVec::new(&limits.tmp_dir, share);
        let (mut own, mut last) = (None::<Group>, 0);
        for member in members.sorted(Order::none()) {
            own = match own.take() {
                Some(group) if last == member.group => Some(group.with(&member)),
                ended => {
                    groups.extend(ended.as_slice())?;
                    Some(Group::of(&member))
                }
            };
            last = member.group;
        }
        groups.extend(own.as_slice())?;
        let groups = groups.take()?;
        let (mut by_level, mut crossing) = ([0_u64; LEVEL_OPEN as usize + 1], 0);
        for group in groups.iter() {
            by_level[group.level() as usize] += group.events;
            crossing += if group.crosses { group.events } else { 0 };
        }
        let has_crossing = crossing <= most;
        Ok(Groups { members, groups, by_level, most, has_crossing, limits, share })
    }
}

/// All groups of a text.
pub(super) struct Groups {
    members: SortedRecords<Member>,
    groups: SpilledVec<Group>,
    /// Their events, by how long they are.
    by_level: [u64; LEVEL_OPEN as usize + 1],
    /// So many events have room.
    most: u64,
    /// Whether those of several threads have.
    has_crossing: bool,
    limits: Limits,
    share: u64,
}

impl Groups {
    /// The level of the bound where T has this one, if longer ones have room.
    pub(super) fn bound(&self, look_back: u32) -> Option<u32> {
        let above = |level: u32| self.by_level[level as usize + 1..].iter().sum::<u64>();
        (look_back..LEVEL_OPEN).find(|&level| above(level) <= self.most)
    }

    /// Whether those of several threads are listed.
    pub(super) fn has_crossing(&self) -> bool {
        self.has_crossing
    }

    /// Writes their sections, where T has this level.
    pub(super) fn write<W: io::Write>(&self, look_back: u32, to: &mut Writer<W>) -> io::Result<()> {
        let bound = self.bound(look_back);
        let is_long = |group: &Group| bound.is_some_and(|bound| group.level() > bound);
        let is_listed = |group: &Group| is_long(group) || self.has_crossing && group.crosses;
        to.section(id::section(id::GROUPS))?;
        let mut listed = self.groups.iter().filter(is_listed);
        loop {
            let page: Vec<Group> = listed.by_ref().take(ROWS).collect();
            if page.is_empty() {
                break;
            }
            let flags = |group: &Group| {
                (if is_long(group) { groups::LONG } else { 0 })
                    | if group.crosses { groups::CROSSING } else { 0 }
            };
            let times = |group: &Group| match group.level() > 64 || group.least > group.greatest {
                // whatever is asked for may need them
                true => (i64::MIN, u64::MAX),
                false => (group.least, group.greatest.abs_diff(group.least)),
            };
            to.page(page.len(), (0, 0), |to| {
                to.numbers(&page.iter().map(flags).collect::<Vec<_>>());
                to.numbers(&page.iter().map(|own| times(own).0 as u64).collect::<Vec<_>>());
                to.numbers(&page.iter().map(|own| times(own).1).collect::<Vec<_>>());
            })?;
        }
        to.section(id::section(id::GROUP_EVENTS))?;
        self.write_members(is_listed, to).map_err(io::Error::other)?
    }

    fn write_members<W: io::Write>(
        &self,
        is_listed: impl Fn(&Group) -> bool,
        to: &mut Writer<W>,
    ) -> Result<io::Result<()>, Error> {
        let tmp_dir = &self.limits.tmp_dir;
        let mut listed = ExternalSorter::new(tmp_dir, self.share, self.limits.threads);
        let mut members = self.members.sorted(Order::none());
        let mut row = 0;
        for group in self.groups.iter() {
            let is_listed = is_listed(&group);
            for _ in 0..group.events {
                let Some(member) = members.next() else { break };
                if is_listed {
                    // by place alone
                    listed.push(Listed { row, member }, Order::none())?;
                }
            }
            row += u64::from(is_listed);
        }
        let listed = listed.finish(Order::none())?;
        let mut listed = listed.sorted(Order::none());
        loop {
            let page: Vec<Listed> = listed.by_ref().take(ROWS).collect();
            let (Some(first), Some(last)) = (page.first(), page.last()) else { return Ok(Ok(())) };
            let keys = (first.member.place, last.member.place);
            let columns: [fn(&Listed) -> u64; 4] = [
                |own| own.member.place,
                |own| own.member.len,
                |own| own.row,
                |own| u64::from(own.member.sum),
            ];
            let written = to.page(page.len(), keys, |to| {
                for column in columns {
                    to.numbers(&page.iter().map(column).collect::<Vec<_>>());
                }
            });
            if written.is_err() {
                return Ok(written);
            }
        }
    }
}

/// An event of a group that is listed.
#[derive(Clone, Copy)]
struct Listed {
    row: u64,
    member: Member,
}

impl Record for Listed {
    const BYTES: usize = Member::BYTES + 8;

    fn encode(&self, bytes: &mut [u8]) {
        let (own, rest) = bytes.split_at_mut(Member::BYTES);
        self.member.encode(own);
        rest.copy_from_slice(&self.row.to_le_bytes());
    }

    fn decode(bytes: &[u8]) -> Self {
        Listed { row: word(bytes, Member::BYTES), member: Member::decode(bytes) }
    }
}

impl Keyed for Listed {
    type Key = u64;

    fn key(&self) -> u64 {
        self.member.place
    }
}
