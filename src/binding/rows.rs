//! The rules of a listing for checkpoints and rows that JavaScript keeps. What the rules ask for
//! crosses as numbers and ids, and indices come back: nothing is copied, and nothing can be lost.

#![cfg_attr(test, allow(dead_code, reason = "#[napi] exports functions to JavaScript alone"))]

use super::listing::{Choice, state};
use crate::listing::{self, Entry, Glance, Key, Tally, Wait};
use crate::types::Millis;
use napi::bindgen_prelude::{Float64Array, Uint8Array, Uint32Array, Utf16String};
use napi_derive::napi;

/// What the checkpoints of a run come to, by their indices.
#[napi(object)]
pub struct Judged {
    pub latest: Option<u32>,
    pub run_created_at: Option<f64>,
    pub park: Option<u32>,
    /// The state of that park, by its number.
    pub state: Option<u32>,
}

/// How many numbers tell of one checkpoint.
const NUMBERS: usize = 5;

/// `checkpoints` has five numbers for each: when it was made, when its run was, since when it is
/// parked, until when, and 1 if it is resolved. What is absent is NaN.
#[napi]
pub fn judge_run_sync(checkpoints: Float64Array, now: f64) -> Judged {
    let now = Millis::new(now).unwrap_or_default();
    let mut tally = Tally::default();
    let mut judged = Judged { latest: None, run_created_at: None, park: None, state: None };
    for (number, values) in (0..).zip(checkpoints.chunks_exact(NUMBERS)) {
        let at = |place: usize| values.get(place).copied().and_then(Millis::new);
        let wait = |parked_at| Wait { parked_at, deadline_at: at(3), resolved: values[4] == 1.0 };
        let glance = Glance {
            created_at: at(0).unwrap_or_default(),
            run_created_at: at(1),
            wait: at(2).map(wait),
        };
        let standing = tally.add(glance, now);
        if standing.is_latest {
            judged.latest = Some(number);
        }
        if standing.is_park {
            judged.park = Some(number);
        }
    }
    judged.run_created_at = tally.run_created_at.map(Millis::get);
    judged.state = tally.park_state().map(|state| state as u32);
    judged
}

/// Rows that JavaScript keeps, by what decides about them.
#[napi(object)]
pub struct Rows {
    pub run_ids: Vec<Utf16String>,
    pub parent_run_ids: Vec<Option<Utf16String>>,
    /// When each run was made; NaN where it does not say.
    pub times: Float64Array,
    /// The state of each run's park by its number, and another number where it has none.
    pub states: Uint8Array,
    /// 1 for a run whose claim is live.
    pub claimed: Uint8Array,
}

/// Indices of rows, and where the next page starts.
#[napi(object)]
pub struct Cut {
    pub rows: Uint32Array,
    pub cursor: Option<String>,
}

/// The page of the rows that `choice` is of; `null` when the cursor is not of this listing.
#[napi]
pub fn paginate_sync(rows: Rows, choice: Choice) -> Option<Cut> {
    let after = choice.after()?;
    let ids = rows.run_ids.iter().zip(&rows.parent_run_ids);
    let numbers = rows.times.iter().zip(rows.states.iter()).zip(rows.claimed.iter());
    let entries: Vec<_> = ids
        .zip(numbers)
        .map(|((run, parent), ((time, park), claimed))| Entry {
            key: Key { run_created_at: Millis::new(*time), run, parent: parent.as_deref() },
            park: state(u32::from(*park)),
            is_claimed: *claimed == 1,
        })
        .collect();
    let (page, cursor) = listing::paginate(
        &entries,
        choice.order(),
        choice.filter(),
        after.as_ref(),
        choice.limit(),
    );
    let rows: Vec<u32> = page.into_iter().map(|at| at as u32).collect();
    Some(Cut { rows: rows.into(), cursor: cursor.map(|cursor| cursor.encode()) })
}
