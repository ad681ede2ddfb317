//! From the names in a claims directory to what they mean. Pure, and blind to bodies: damage to a
//! body never hides which holding is the current one.

use crate::names::{self, Name};
use crate::types::Fence;
use std::ffi::{OsStr, OsString};

/// What one listing of a claims directory showed.
#[derive(Default, Debug)]
pub(crate) struct View {
    /// Holdings under the name that a worker of this protocol publishes them by.
    plain: Vec<Fence>,
    /// Holdings whose name has zeros in front.
    padded: Vec<(Fence, OsString)>,
    /// Staged checkpoint writes, by the fence that they present.
    pub(crate) staged: Vec<(Fence, OsString)>,
    /// Scratch files, staged writes not among them.
    pub(crate) scratch: Vec<OsString>,
}

impl View {
    /// Takes in one name.
    pub(crate) fn add(&mut self, name: &OsStr) {
        let bytes = name.as_encoded_bytes();
        match Name::parse(bytes) {
            Name::Holding(fence) if names::is_padded(bytes) => {
                self.padded.push((fence, name.to_owned()));
            }
            Name::Holding(fence) => self.plain.push(fence),
            Name::Staged(fence) => self.staged.push((fence, name.to_owned())),
            Name::Scratch => self.scratch.push(name.to_owned()),
            Name::Foreign => {}
        }
    }

    /// The highest fence and the name it stands under: the current holding. Of several names of
    /// one fence the one without zeros in front counts, since that is the one takers race for;
    /// among padded ones the shortest.
    pub(crate) fn top(&self) -> Option<(Fence, OsString)> {
        let plain = self.plain.iter().copied().max();
        let padded =
            self.padded.iter().max_by_key(|(fence, name)| (*fence, std::cmp::Reverse(name.len())));
        match (plain, padded) {
            (plain, Some((fence, name))) if plain.is_none_or(|plain| plain < *fence) => {
                Some((*fence, name.clone()))
            }
            (plain, _) => plain.map(|fence| (fence, names::holding(fence).into())),
        }
    }

    /// The names of all holdings below `floor`, in ascending order of their fences.
    pub(crate) fn holdings_below(&self, floor: u64) -> Vec<OsString> {
        let plain = self.plain.iter().filter(|fence| fence.get() < floor);
        let padded = self.padded.iter().filter(|(fence, _)| fence.get() < floor);
        let mut below: Vec<(Fence, OsString)> = plain
            .map(|fence| (*fence, names::holding(*fence).into()))
            .chain(padded.cloned())
            .collect();
        below.sort();
        below.into_iter().map(|(_, name)| name).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn view(names: &[&str]) -> View {
        let mut view = View::default();
        names.iter().for_each(|name| view.add(OsStr::new(name)));
        view
    }

    fn top(names: &[&str]) -> Option<(u64, String)> {
        let (fence, name) = view(names).top()?;
        Some((fence.get(), name.into_string().expect("ASCII")))
    }

    /// Guards the order of holdings: by number, not by text, and by names alone.
    #[test]
    fn the_highest_number_is_the_current_holding() {
        assert_eq!(top(&[]), None);
        assert_eq!(top(&["x.json", ".tmp-1", "7.JSON"]), None);
        assert_eq!(top(&["9.json", "10.json", "2.json"]), Some((10, "10.json".into())));
        assert_eq!(top(&["0.json"]), Some((0, "0.json".into())));
    }

    /// Guards that a holding written with zeros in front is read under the name it has.
    #[test]
    fn a_padded_name_counts_and_yields_to_the_plain_one() {
        assert_eq!(top(&["007.json", "5.json"]), Some((7, "007.json".into())));
        assert_eq!(top(&["007.json", "7.json"]), Some((7, "7.json".into())));
        assert_eq!(top(&["0007.json", "007.json"]), Some((7, "007.json".into())));
        assert_eq!(top(&["007.json", "8.json"]), Some((8, "8.json".into())));
    }

    /// Guards pruning in ascending order, without which a listing that overlaps it could report
    /// an old holding as the highest; and the oldest that stays, however it is written.
    #[test]
    fn what_is_pruned_comes_lowest_first() {
        let names = view(&["12.json", "3.json", "0004.json", "11.json", "2.json"]);
        assert_eq!(names.holdings_below(12), ["2.json", "3.json", "0004.json", "11.json"]);
        assert!(names.holdings_below(2).is_empty());
        assert_eq!(names.holdings_below(4), ["2.json", "3.json"]);
    }
}
