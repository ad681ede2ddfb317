//! Runs as a listing tells of them, and the next of them to be taken.
//!
//! What holds of a walk through the pages of a listing: a run that has a checkpoint and passes the
//! filters from before the first page until after the last is told exactly once, in order. Runs
//! that come, go or change meanwhile may be told or not. Nothing is made on disk.

mod crew;
mod cursor;
mod entry;
mod judge;
mod kept;
mod next;
mod page;
mod park;
mod tree;
mod walk;

pub use cursor::Cursor;
pub use entry::{Claim, Glance, Row, Standing, Tally, push_lease, push_scope};
pub use kept::Kept;
pub use next::{Next, Wanted, claim_next};
pub use page::{Entry, Filter, Key, Order, USUAL_LIMIT, limit, paginate};
pub use park::{ParkState, Wait};
pub use walk::Damaged;

use crate::env::World;
use crate::error::ListError;
use crate::names;
use crate::types::Millis;
use std::path::Path;
use walk::{Terms, place_of, walk};

/// Which runs, in which order, from where on.
#[derive(Clone, Debug)]
pub struct Query {
    /// In which order.
    pub order: Order,
    /// Which of them.
    pub filter: Filter,
    /// How many rows a page has at most; not 0.
    pub limit: usize,
    /// Where the page before ended. It is of the same order.
    pub after: Option<Cursor>,
    /// The present, which parks and claims are judged by.
    pub now: Millis,
    /// Whether runs that cannot be judged are told of on the page, instead of refusing it.
    pub report: bool,
}

/// A page of a listing.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Page {
    /// Its rows in order.
    pub rows: Vec<Row>,
    /// Where the next page starts, if there is one.
    pub cursor: Option<Cursor>,
    /// Runs that were left out. In the order by making they have no place, and are told of on the
    /// first page.
    pub damaged: Vec<Damaged>,
}

/// A page of the runs below `base`. A directory that is not there has none.
///
/// # Errors
///
/// [`ListError`]: a directory cannot be listed, or a run that the page would reach cannot be judged
/// and is not to be left out.
pub fn list<W: World + Sync>(
    world: &W,
    base: &Path,
    query: &Query,
    kept: &Kept,
) -> Result<Page, ListError> {
    let after = query.after.as_ref();
    // Without randomness there is no telling walks apart, and none is given names of another.
    let walk_id = after.map_or_else(|| names::unique(world).ok(), |after| after.walk().cloned());
    let in_order = query.order == Order::RunId;
    let key = after.map(Cursor::key);
    let first = key.as_ref().filter(|_| in_order);
    let mut names = kept.take(world, base, walk_id.as_deref(), first)?;
    let terms = Terms {
        order: query.order,
        filter: query.filter,
        now: query.now,
        report: query.report,
        limit: query.limit,
        look_ahead: true,
    };
    let mut damaged = untold(&names.tree, terms)?;
    let found = walk(world, base, &mut names.tree, key.as_ref(), terms);
    if let Some(refused) = found.refused {
        return Err(refused);
    }
    if after.is_some() {
        damaged.clear();
    }
    damaged.extend(found.damaged);
    let last = found.rows.last().filter(|_| found.is_more);
    let cursor = last.map(|row| place_of(row, query.order).of_walk(walk_id.filter(|_| in_order)));
    if cursor.is_some() && in_order {
        kept.put(names);
    }
    Ok(Page { rows: found.rows, cursor, damaged })
}

/// Runs whose sub-runs cannot be told: any page may lack them.
fn untold(tree: &tree::Tree, terms: Terms) -> Result<Vec<Damaged>, ListError> {
    // They stay with the names, which the next call may use.
    let troubles = tree.troubles.iter().cloned().map(|(run, error)| {
        let (run, error) = (tree::RunId { run, parent: None }, ListError::from(error));
        if terms.report { Ok(Damaged::new(run, &error)) } else { Err(error) }
    });
    troubles.collect()
}
