use super::*;
use crate::checkpoint::format::Unusable;
use crate::env::{FsError, Op};
use crate::errno::Errno;
use crate::error::ReadError;
use crate::listing::entry::{Glance, Tally};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

fn millis(number: f64) -> Millis {
    Millis::new(number).expect("finite")
}

fn terms(limit: usize) -> Terms {
    Terms {
        order: Order::RunId,
        filter: Filter::default(),
        now: Millis::ZERO,
        report: false,
        limit,
        look_ahead: true,
    }
}

fn row(run: &str, run_created_at: Option<f64>) -> Row {
    let mut tally = Tally::default();
    let run_created_at = run_created_at.and_then(Millis::new);
    tally.add(Glance { created_at: Millis::ZERO, run_created_at, wait: None }, Millis::ZERO);
    Row { run: run.to_owned(), parent: None, tally, latest_id: vec![], park: None, claim: None }
}

fn damage() -> ListError {
    let why = Unusable::NotACheckpoint("of the test");
    ListError::Read(ReadError::Unusable { dir: "d".into(), file: "f".to_owned(), why })
}

fn passing() -> ListError {
    let cause = FsError { op: Op::Open, errno: Errno::EMFILE };
    ListError::Read(ReadError::Storage { dir: "d".into(), file: None, doing: "read", cause })
}

fn id(number: usize) -> String {
    format!("run_{number:04}")
}

/// What the run of this number comes to: a mixture that repeats at no page's length.
fn verdict(number: usize) -> Verdict {
    match number % 7 {
        0 | 3 => Ok(None),
        5 => Err(damage()),
        _ => Ok(Some(row(&id(number), Some(((number * 37) % 11) as f64)))),
    }
}

fn number_of(id: &RunId) -> usize {
    id.run[4..].parse().expect("a number")
}

fn runs(found: &Found) -> Vec<&str> {
    found.rows.iter().map(|row| row.run.as_str()).collect()
}

const RUNS: usize = 600;

fn tree() -> Tree {
    // Not in their order.
    Tree::of((0..RUNS).map(|number| id((number * 7) % RUNS)))
}

/// Guards pages that several threads work on: whoever is first done, the page is what one thread
/// would have made, to the last row and no further.
#[test]
fn a_page_is_what_one_thread_makes_of_it() {
    let judge = |id: &RunId| {
        let number = number_of(id);
        if number.is_multiple_of(5) {
            std::thread::yield_now();
        }
        verdict(number)
    };
    for limit in [1, 2, 5, 40, 200, RUNS] {
        let terms = Terms { report: true, ..terms(limit) };
        let (mut after, mut seen, mut damaged) = (None::<Cursor>, 0, Vec::new());
        loop {
            let key = after.as_ref().map(Cursor::key);
            let found = walk_in_order(&mut tree(), key.as_ref(), terms, judge);
            let rest = (seen..RUNS).filter(|number| matches!(verdict(*number), Ok(Some(_))));
            let wanted: Vec<_> = rest.take(limit).collect();
            assert_eq!(runs(&found), wanted.iter().map(|at| id(*at)).collect::<Vec<_>>());
            damaged.extend(found.damaged.iter().map(|damaged| damaged.run.clone()));
            assert!(found.refused.is_none());
            let Some(last) = found.rows.last().filter(|_| found.is_more) else { break };
            seen = wanted.last().map_or(RUNS, |last| last + 1);
            after = Some(place_of(last, Order::RunId));
        }
        let wanted: Vec<_> = (0..RUNS).filter(|number| number % 7 == 5).map(id).collect();
        assert_eq!(damaged, wanted, "{limit} a page: each is told of on one page");
    }
}

/// Guards the price of a page: no run is judged that the page does not need.
#[test]
fn a_page_costs_what_it_holds() {
    for (look_ahead, wanted) in [(true, 6), (false, 5)] {
        let judged = AtomicUsize::new(0);
        let judge = |id: &RunId| {
            judged.fetch_add(1, Relaxed);
            Ok(Some(row(&id.run, None)))
        };
        let found = walk_in_order(&mut tree(), None, Terms { look_ahead, ..terms(5) }, judge);
        assert_eq!((found.rows.len(), found.is_more), (5, look_ahead));
        assert_eq!(judged.into_inner(), wanted);
    }
}

/// Guards the memory of a page whose first run takes long: the others go no further than the page.
#[test]
fn nobody_goes_beyond_a_page_while_one_run_is_open() {
    let mut tree = tree();
    let mut line = Line {
        tree: &mut tree,
        next: 0,
        taken: 0,
        settled: 0,
        early: BTreeMap::new(),
        early_counts: 0,
        full: false,
        found: Found::default(),
    };
    let terms = terms(3);
    let (first, _) = line.take(terms).expect("a run");
    for _ in 0..4 {
        let (number, id) = line.take(terms).expect("there is room");
        line.settle(number, Outcome::Row(row(&id.run, None)), terms);
    }
    assert!(line.take(terms).is_none());
    line.settle(first, Outcome::Dropped, terms);
    assert_eq!(runs(&line.found), ["run_0001", "run_0002", "run_0003"]);
    assert!(line.found.is_more && line.take(terms).is_none());
}

/// Guards both ends of a refusal: what comes before it is kept, what comes after is not, and one
/// just beyond a full page is the next page's.
#[test]
fn a_run_that_cannot_be_judged_ends_the_page_that_reaches_it() {
    let judge = |id: &RunId| match number_of(id) {
        3 => Err(damage()),
        number => Ok(Some(row(&self::id(number), None))),
    };
    let page = |limit| walk_in_order(&mut tree(), None, terms(limit), judge);
    let (reaching, ending) = (page(4), page(3));
    assert_eq!((runs(&reaching).len(), reaching.refused), (3, Some(damage())));
    assert!((ending.is_more, ending.refused) == (true, None));
}

/// Guards a listing with `report` against an empty answer when the system runs out of something.
#[test]
fn what_passes_refuses_even_where_damage_is_told_of() {
    let judge = |id: &RunId| match number_of(id) {
        3 => Err(passing()),
        number => Ok(Some(row(&self::id(number), None))),
    };
    for order in [Order::RunId, Order::CreatedAt] {
        let terms = Terms { order, report: true, ..terms(50) };
        let found = match order {
            Order::RunId => walk_in_order(&mut tree(), None, terms, judge),
            Order::CreatedAt => walk_all(&mut tree(), None, terms, judge),
        };
        assert_eq!(found.refused, Some(passing()), "{order:?}");
    }
}

/// Guards the other order: the first of all runs after a place, without ever keeping more than
/// those; and damaged runs, which have no place, once.
#[test]
fn the_order_by_making_takes_the_first_of_all() {
    let terms = |limit| Terms { order: Order::CreatedAt, report: true, ..terms(limit) };
    let judge = |id: &RunId| verdict(number_of(id));
    let whole = walk_all(&mut tree(), None, terms(RUNS), judge);
    assert_eq!(whole.damaged.len(), (0..RUNS).filter(|number| number % 7 == 5).count());
    let times: Vec<_> = whole.rows.iter().map(|row| row.tally.run_created_at).collect();
    assert!(times.is_sorted() && whole.rows.len() > 300 && !whole.is_more);
    for limit in [1, 7, 100] {
        let mut walked = Vec::new();
        let mut after = None::<Cursor>;
        loop {
            let key = after.as_ref().map(Cursor::key);
            let found = walk_all(&mut tree(), key.as_ref(), terms(limit), judge);
            assert_eq!(found.damaged.is_empty(), after.is_some());
            walked.extend(found.rows);
            // To the end in steps of one it is long.
            let Some(last) = walked.last().filter(|_| found.is_more && walked.len() < 150) else {
                break;
            };
            after = Some(place_of(last, Order::CreatedAt));
        }
        assert_eq!(walked, whole.rows[..walked.len()], "{limit} a page");
    }
    assert_eq!(times[0], Some(millis(0.0)));
}

/// Guards the bound of the heap, which is all that stands between a listing of a page and all rows
/// of a tree in memory.
#[test]
fn the_order_by_making_keeps_a_page_of_rows() {
    let mut heap = Heap::default();
    let terms = Terms { order: Order::CreatedAt, ..terms(3) };
    for number in (0..100).rev() {
        heap.settle(Outcome::Row(row(&id(number), Some(number as f64))), None, terms);
        assert!(heap.rows.len() <= 4);
    }
}
