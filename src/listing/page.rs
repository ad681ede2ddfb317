//! In which order runs are listed, which of them, and where a page ends. Pure.

use super::cursor::Cursor;
use super::park::ParkState;
use crate::types::Millis;
use std::cmp::Ordering;

/// How many rows a page has when the caller does not say.
pub const USUAL_LIMIT: usize = 100;

/// The limit that JavaScript's number stands for: cut off, and at least 1.
pub fn limit(number: f64) -> usize {
    number.max(1.0) as usize
}

/// The order of a listing.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Order {
    /// By the run's id, as JavaScript compares strings.
    #[default]
    RunId,
    /// By when the run was made; those that do not say come first, and equals follow each other
    /// by their ids.
    CreatedAt,
}

impl Order {
    /// As JavaScript has it.
    pub fn as_str(self) -> &'static str {
        match self {
            Order::RunId => "runId",
            Order::CreatedAt => "createdAt",
        }
    }
}

/// A run's place in a listing. Ids are UTF-16 units, which is what JavaScript compares.
///
/// Two runs can have one id when they belong to different runs; then the one at the top comes
/// first and the others by whom they belong to, so that no two places are equal and a page can
/// end between any two.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Key<'a> {
    /// When the run was made, if it says so.
    pub run_created_at: Option<Millis>,
    /// The run's id.
    pub run: &'a [u16],
    /// The id of the run that it belongs to, of a sub-run.
    pub parent: Option<&'a [u16]>,
}

impl Key<'_> {
    /// Which of two comes first.
    pub fn compare(&self, other: &Key<'_>, order: Order) -> Ordering {
        let by_id = || (self.run, self.parent).cmp(&(other.run, other.parent));
        match order {
            Order::RunId => by_id(),
            // Neither is NaN, so they compare.
            Order::CreatedAt => self
                .run_created_at
                .partial_cmp(&other.run_created_at)
                .unwrap_or(Ordering::Equal)
                .then_with(by_id),
        }
    }
}

/// Which runs a listing keeps.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Filter {
    /// One bit for each state that a run's park may have; 0 keeps all runs, parked or not.
    parks: u8,
    /// Whether runs are kept that have a live claim, or that have none; `None` for both.
    pub claimed: Option<bool>,
}

impl Filter {
    /// A filter by states of parks, none of which keep everything, and by the claim.
    pub fn new(parks: impl IntoIterator<Item = ParkState>, claimed: Option<bool>) -> Filter {
        let parks = parks.into_iter().fold(0, |parks, state| parks | 1 << state as u8);
        Filter { parks, claimed }
    }

    /// The same, of runs that have no live claim.
    pub(super) fn of_free_runs(self) -> Filter {
        Filter { claimed: Some(false), ..self }
    }

    /// Whether a run with this park is kept, as far as that goes.
    pub fn keeps_park(self, park: Option<ParkState>) -> bool {
        self.parks == 0 || park.is_some_and(|state| self.parks & 1 << state as u8 != 0)
    }

    /// Whether a run whose claim is live, or is not, is kept, as far as that goes.
    pub fn keeps_claim(self, is_live: bool) -> bool {
        self.claimed.is_none_or(|claimed| claimed == is_live)
    }
}

/// What decides about a row that somebody else keeps.
#[derive(Clone, Copy, Debug)]
pub struct Entry<'a> {
    /// Its place.
    pub key: Key<'a>,
    /// The state of its park.
    pub park: Option<ParkState>,
    /// Whether its claim is live.
    pub is_claimed: bool,
}

/// The page of `entries` that follows `after`: their indices in order, and the cursor for the next
/// page if there is one.
pub fn paginate(
    entries: &[Entry<'_>],
    order: Order,
    filter: Filter,
    after: Option<&Cursor>,
    limit: usize,
) -> (Vec<usize>, Option<Cursor>) {
    let follows = |key: &Key<'_>| after.is_none_or(|after| after.precedes(key));
    let mut kept: Vec<usize> = (0..entries.len())
        .filter(|at| {
            let entry = &entries[*at];
            filter.keeps_park(entry.park)
                && filter.keeps_claim(entry.is_claimed)
                && follows(&entry.key)
        })
        .collect();
    kept.sort_by(|a, b| entries[*a].key.compare(&entries[*b].key, order));
    let is_more = kept.len() > limit;
    kept.truncate(limit);
    let last = kept.last().filter(|_| is_more);
    let cursor = last.map(|last| Cursor::after(order, &entries[*last].key));
    (kept, cursor)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn units(text: &str) -> Vec<u16> {
        text.encode_utf16().collect()
    }

    /// Guards the limit's reading: a page that could be empty would never end a walk.
    #[test]
    fn a_limit_is_cut_off_and_at_least_one() {
        for (number, wanted) in
            [(100.0, 100), (2.9, 2), (1.0, 1), (0.9, 1), (0.0, 1), (-3.0, 1), (1e300, usize::MAX)]
        {
            assert_eq!(limit(number), wanted, "{number}");
        }
        assert_eq!((limit(f64::INFINITY), limit(f64::NEG_INFINITY)), (usize::MAX, 1));
    }

    /// Ids in the order in which they are listed, of runs made at these times.
    fn listed(runs: &[(&str, Option<f64>)], order: Order) -> Vec<String> {
        let ids: Vec<_> = runs.iter().map(|(id, _)| units(id)).collect();
        let entries: Vec<_> = runs
            .iter()
            .zip(&ids)
            .map(|((_, at), id)| Entry {
                key: Key { run_created_at: at.and_then(Millis::new), run: id, parent: None },
                park: None,
                is_claimed: false,
            })
            .collect();
        let (order, _) = paginate(&entries, order, Filter::default(), None, usize::MAX);
        order.into_iter().map(|at| runs[at].0.to_owned()).collect()
    }

    /// Guards the order of ids: JavaScript's, by UTF-16 units, in which a character beyond the
    /// basic plane comes before U+E000, and capitals before small letters.
    #[test]
    fn ids_are_ordered_by_their_utf16_units() {
        let ids = ["run_\u{ff5e}", "run_😀", "run_a", "run_B", "run__", "run_9", "run_", "run_é"];
        let wanted =
            ["run_", "run_9", "run_B", "run__", "run_a", "run_é", "run_😀", "run_\u{ff5e}"];
        assert_eq!(listed(&ids.map(|id| (id, None)), Order::RunId), wanted);
    }

    /// Guards the order by making: runs that do not say come first, and equals go by their ids.
    #[test]
    fn runs_that_do_not_say_when_they_were_made_come_first() {
        let runs = [
            ("run_b", Some(5.0)),
            ("run_e", None),
            ("run_c", Some(-1.0)),
            ("run_a", Some(5.0)),
            ("run_d", None),
        ];
        let wanted = ["run_d", "run_e", "run_c", "run_a", "run_b"];
        assert_eq!(listed(&runs, Order::CreatedAt), wanted);
        assert_eq!(listed(&runs, Order::RunId), ["run_a", "run_b", "run_c", "run_d", "run_e"]);
    }

    /// Guards both filters, and that an empty list of states is none.
    #[test]
    fn filters_keep_what_they_name() {
        let parks = [None, Some(ParkState::Outstanding), Some(ParkState::Expired)];
        let kept = |filter: Filter| parks.map(|park| filter.keeps_park(park));
        assert_eq!(kept(Filter::default()), [true; 3]);
        assert_eq!(kept(Filter::new([ParkState::Expired], None)), [false, false, true]);
        assert_eq!(kept(Filter::new([ParkState::Resolved], None)), [false; 3]);
        assert_eq!(kept(Filter::new(ParkState::ALL, None)), [false, true, true]);
        for (claimed, wanted) in
            [(None, [true, true]), (Some(true), [true, false]), (Some(false), [false, true])]
        {
            let filter = Filter::new([], claimed);
            assert_eq!([true, false].map(|live| filter.keeps_claim(live)), wanted, "{claimed:?}");
        }
    }

    /// Guards every page against losing or repeating a run: ids that occur under several runs,
    /// times that are equal or absent, and pages of every size.
    #[test]
    fn pages_come_to_the_whole_listing() {
        let ids = ["run_a", "run_b", "run_c"].map(units);
        let parents = [None, Some(units("run_p")), Some(units("run_q"))];
        let times = [None, Millis::new(0.0), Millis::new(-0.0), Millis::new(0.1 + 0.2)];
        let mut entries = Vec::new();
        for run in &ids {
            for (parent, at) in parents.iter().zip(times.iter().cycle().skip(entries.len())) {
                entries.push(Entry {
                    key: Key { run_created_at: *at, run, parent: parent.as_deref() },
                    park: None,
                    is_claimed: false,
                });
            }
        }
        for order in [Order::RunId, Order::CreatedAt] {
            let page = |after: Option<&Cursor>, limit| {
                paginate(&entries, order, Filter::default(), after, limit)
            };
            let (whole, end) = page(None, usize::MAX);
            assert_eq!((whole.len(), end), (entries.len(), None));
            for limit in 1..=entries.len() + 1 {
                let (mut walked, mut after) = (Vec::new(), None);
                loop {
                    let (rows, cursor) = page(after.as_ref(), limit);
                    assert_eq!(rows.len(), limit.min(entries.len() - walked.len()));
                    assert!(!rows.is_empty(), "a cursor leads to something");
                    walked.extend(rows);
                    let Some(cursor) = cursor else { break };
                    let text = cursor.encode();
                    after = Some(Cursor::decode(&text, order).expect("its own"));
                    assert_eq!(after.as_ref(), Some(&cursor), "{text}");
                }
                assert_eq!(walked, whole, "{order:?}, {limit} a page");
            }
        }
    }
}
