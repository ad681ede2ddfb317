//! Goes through the runs of a tree, judges each, and collects a page of rows.
//!
//! In the order of ids a page costs what it holds: runs are judged in that order, on all
//! processors, and no further than until the page is full and one more row is known. In the other
//! order every run has to be judged first. Either way no more rows are in memory than a page has
//! and a few, and one file a thread.

use super::crew::{each, lock};
use super::cursor::Cursor;
use super::entry::Row;
use super::judge::judge;
use super::page::{Filter, Key, Order};
use super::tree::{RunId, Tree};
use crate::env::World;
use crate::error::ListError;
use crate::types::Millis;
use std::cmp::Ordering;
use std::collections::{BTreeMap, BinaryHeap};
use std::path::Path;
use std::sync::Mutex;

/// What is asked of every run, and how.
#[derive(Clone, Copy, Debug)]
pub(super) struct Terms {
    pub(super) order: Order,
    pub(super) filter: Filter,
    /// The present, which parks and claims are judged by.
    pub(super) now: Millis,
    /// Whether runs that cannot be judged are told of, and do not refuse the rest.
    pub(super) report: bool,
    /// How many rows are wanted.
    pub(super) limit: usize,
    /// Whether it must be known if there are more.
    pub(super) look_ahead: bool,
}

/// A run that a listing leaves out, since it cannot be told whether and how it belongs there.
#[derive(Clone, PartialEq, Debug)]
pub struct Damaged {
    /// Its id.
    pub run: String,
    /// The id of the run that it belongs to, of a sub-run.
    pub parent: Option<String>,
    /// What cannot be read or used: a file's name, or that of a directory of the run.
    pub file: String,
    /// What is wrong with it.
    pub reason: String,
}

impl Damaged {
    pub(super) fn new(RunId { run, parent }: RunId, error: &ListError) -> Damaged {
        Damaged { run, parent, file: error.file(), reason: error.reason() }
    }
}

/// Rows in order, and what stood in the way.
#[derive(Default, Debug)]
pub(super) struct Found {
    pub(super) rows: Vec<Row>,
    pub(super) is_more: bool,
    pub(super) damaged: Vec<Damaged>,
    /// What comes after the last of the rows and cannot be passed.
    pub(super) refused: Option<ListError>,
}

/// The first rows after `after`, or from the start.
pub(super) fn walk<W: World + Sync>(
    world: &W,
    base: &Path,
    tree: &mut Tree,
    after: Option<&Key<'_>>,
    terms: Terms,
) -> Found {
    let judge = |id: &RunId| judge(world, base, id, terms.filter, terms.now);
    match terms.order {
        Order::RunId => walk_in_order(tree, after, terms, judge),
        Order::CreatedAt => walk_all(tree, after, terms, judge),
    }
}

type Verdict = Result<Option<Row>, ListError>;

/// What a run comes to for a page.
enum Outcome {
    Dropped,
    Row(Row),
    Damaged(Damaged),
    Refused(ListError),
}

impl Outcome {
    fn of(id: RunId, verdict: Verdict, terms: Terms) -> Outcome {
        match verdict {
            Ok(Some(row)) => Outcome::Row(row),
            Ok(None) => Outcome::Dropped,
            // What passes says nothing of the run, and would empty the page.
            Err(error) if terms.report && !error.is_retryable() => {
                Outcome::Damaged(Damaged::new(id, &error))
            }
            Err(error) => Outcome::Refused(error),
        }
    }

    /// Whether it is a row of the page, or ends it.
    fn counts(&self) -> bool {
        matches!(self, Outcome::Row(_) | Outcome::Refused(_))
    }
}

/// Runs that are judged by several threads, and what has come of them in order.
struct Line<'t> {
    tree: &'t mut Tree,
    /// The next run to be taken, by its number in the tree.
    next: usize,
    taken: usize,
    settled: usize,
    /// Outcomes that wait for one before them.
    early: BTreeMap<usize, Outcome>,
    /// How many of those are on the page, should it get that far.
    early_counts: usize,
    full: bool,
    found: Found,
}

fn walk_in_order(
    tree: &mut Tree,
    after: Option<&Key<'_>>,
    terms: Terms,
    judge: impl Fn(&RunId) -> Verdict + Sync,
) -> Found {
    let next = after.map_or(0, |after| tree.first_after(after));
    let pieces = tree.len() - next;
    let line = Mutex::new(Line {
        tree,
        next,
        taken: 0,
        settled: 0,
        early: BTreeMap::new(),
        early_counts: 0,
        full: false,
        found: Found::default(),
    });
    each(pieces, || {
        let Some((number, id)) = lock(&line).take(terms) else {
            return false;
        };
        let verdict = judge(&id);
        lock(&line).settle(number, Outcome::of(id, verdict, terms), terms);
        true
    });
    line.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner()).found
}

impl Line<'_> {
    /// The next run to be judged; `None` when there is none, or when those judged already will do,
    /// whatever comes of the ones before them.
    fn take(&mut self, terms: Terms) -> Option<(usize, RunId)> {
        let enough = terms.limit.saturating_add(usize::from(terms.look_ahead));
        if self.full || self.found.rows.len() + self.early_counts >= enough {
            return None;
        }
        let id = self.tree.take(&mut self.next)?;
        self.taken += 1;
        Some((self.taken - 1, id))
    }

    /// Takes in an outcome, and puts those in their place whose turn has come.
    fn settle(&mut self, number: usize, outcome: Outcome, terms: Terms) {
        self.early_counts += usize::from(outcome.counts());
        self.early.insert(number, outcome);
        while let (Some(outcome), false) = (self.early.remove(&self.settled), self.full) {
            self.settled += 1;
            self.early_counts -= usize::from(outcome.counts());
            let found = &mut self.found;
            match outcome {
                Outcome::Dropped => {}
                _ if found.rows.len() == terms.limit => found.is_more = true,
                Outcome::Row(row) => found.rows.push(row),
                Outcome::Damaged(damaged) => found.damaged.push(damaged),
                Outcome::Refused(error) => found.refused = Some(error),
            }
            self.full = found.is_more || found.refused.is_some();
        }
    }
}

/// A row and its place.
struct Ranked(Row, Cursor);

impl Ranked {
    fn new(row: Row, order: Order) -> Ranked {
        let place = place_of(&row, order);
        Ranked(row, place)
    }
}

/// Where a row stands, as the cursor of a page that ends with it.
pub(super) fn place_of(row: &Row, order: Order) -> Cursor {
    let units = |text: &String| text.encode_utf16().collect::<Vec<_>>();
    let (run, parent) = (units(&row.run), row.parent.as_ref().map(units));
    let run_created_at = row.tally.run_created_at;
    Cursor::after(order, &Key { run_created_at, run: &run, parent: parent.as_deref() })
}

impl Ord for Ranked {
    fn cmp(&self, other: &Ranked) -> Ordering {
        self.1.key().compare(&other.1.key(), Order::CreatedAt)
    }
}

impl PartialOrd for Ranked {
    fn partial_cmp(&self, other: &Ranked) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Ranked {
    fn eq(&self, other: &Ranked) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Ranked {}

/// The first rows of all that were judged so far, the last of them on top.
#[derive(Default)]
struct Heap {
    next: usize,
    rows: BinaryHeap<Ranked>,
    found: Found,
}

fn walk_all(
    tree: &mut Tree,
    after: Option<&Key<'_>>,
    terms: Terms,
    judge: impl Fn(&RunId) -> Verdict + Sync,
) -> Found {
    let pieces = tree.len();
    let shared = Mutex::new((tree, Heap::default()));
    each(pieces, || {
        let id = {
            let (tree, heap) = &mut *lock(&shared);
            if heap.found.refused.is_some() {
                return false;
            }
            tree.take(&mut heap.next)
        };
        let Some(id) = id else {
            return false;
        };
        let verdict = judge(&id);
        lock(&shared).1.settle(Outcome::of(id, verdict, terms), after, terms);
        true
    });
    let (_, heap) = shared.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
    let mut found = heap.found;
    let mut rows = heap.rows.into_sorted_vec();
    found.is_more = rows.len() > terms.limit;
    rows.truncate(terms.limit);
    found.rows = rows.into_iter().map(|Ranked(row, _)| row).collect();
    found.damaged.sort_by(|a, b| (&a.run, &a.parent).cmp(&(&b.run, &b.parent)));
    found
}

impl Heap {
    fn settle(&mut self, outcome: Outcome, after: Option<&Key<'_>>, terms: Terms) {
        match outcome {
            Outcome::Dropped => {}
            Outcome::Row(row) => {
                let row = Ranked::new(row, terms.order);
                if after.is_none_or(|after| row.1.key().compare(after, terms.order).is_gt()) {
                    self.rows.push(row);
                }
                if self.rows.len() > terms.limit.saturating_add(1) {
                    self.rows.pop();
                }
            }
            // It has no place in this order, so it is told of at the start, and not on each page.
            Outcome::Damaged(damaged) if after.is_none() => self.found.damaged.push(damaged),
            Outcome::Damaged(_) => {}
            Outcome::Refused(error) => self.found.refused = Some(error),
        }
    }
}

#[cfg(test)]
mod tests;
