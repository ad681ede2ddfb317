//! What a checkpoint file says, as far as this crate needs to know it, and why one may not be read.
//!
//! Strings are UTF-16 units, as JavaScript has them: an id may hold a surrogate without its
//! partner, and must come back as it was written.

use crate::json::NotJson;
use crate::types::Millis;
use std::fmt;

/// The schema that this crate reads and writes.
pub const SCHEMA_VERSION: u32 = 1;

/// What a listing tells of a checkpoint.
#[derive(Clone, PartialEq, Debug)]
pub struct Summary {
    /// The checkpoint's own id, which may differ from the file's name.
    pub id: Vec<u16>,
    /// How far the run had come.
    pub iteration: f64,
    /// When the checkpoint was made.
    pub created_at: Millis,
    /// When its run was made, if it says so.
    pub run_created_at: Option<Millis>,
    /// What the run waits for, if anything.
    pub pending: Pending,
}

/// Whether a run waits for somebody's decision.
#[derive(Clone, PartialEq, Debug)]
pub enum Pending {
    /// It does not: there is no such member, or it is `null`.
    None,
    /// It does, or did.
    Parked(Park),
    /// Something stands there that cannot be told on a listing's row; the text says what is wrong.
    /// The checkpoint as such can be read.
    Malformed(&'static str),
}

impl Pending {
    /// The decision that is waited for, if any.
    ///
    /// # Errors
    ///
    /// [`Unusable`]: a listing could not tell of the run.
    pub fn judged(self) -> Result<Option<Park>, Unusable> {
        match self {
            Pending::None => Ok(None),
            Pending::Parked(park) => Ok(Some(park)),
            Pending::Malformed(why) => Err(Unusable::NotACheckpoint(why)),
        }
    }
}

/// A run that was stopped for a decision.
#[derive(Clone, PartialEq, Debug)]
pub struct Park {
    /// The kind of decision.
    pub request_type: Vec<u16>,
    /// Since when.
    pub parked_at: Millis,
    /// From when on the decision comes too late; `None` for never.
    pub deadline_at: Option<Millis>,
    /// Whether it was decided, which counts even after the deadline.
    pub resolved: bool,
    /// When it was decided; `None` also where what stands there is no finite number.
    pub resolved_at: Option<Millis>,
}

/// Why a checkpoint file is refused. The message names neither the file nor what to do about it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Unusable {
    /// It is not JSON.
    NotJson(NotJson),
    /// It is not a checkpoint; the text says what is wrong.
    NotACheckpoint(&'static str),
    /// A counter of the budget is missing or no finite number.
    Budget {
        /// The checkpoint's member that should hold it.
        member: &'static str,
        /// Which one.
        counter: &'static str,
    },
    /// It was written for another schema.
    Schema {
        /// A whole number, and not [`SCHEMA_VERSION`].
        found: f64,
    },
}

impl fmt::Display for Unusable {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unusable::NotJson(error) => write!(out, "not a usable checkpoint: {error}"),
            Unusable::NotACheckpoint(why) => write!(out, "not a usable checkpoint: {why}"),
            Unusable::Budget { member, counter } => {
                write!(out, "malformed budget state: `{member}.{counter}` is not a finite number")
            }
            Unusable::Schema { found } => write!(
                out,
                "written for schema version {found}, while this version reads {SCHEMA_VERSION}"
            ),
        }
    }
}

impl std::error::Error for Unusable {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Unusable::NotJson(error) => Some(error),
            _ => None,
        }
    }
}
