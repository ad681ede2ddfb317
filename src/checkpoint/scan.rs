//! Judges a checkpoint file, strictly and whole, and takes from it what a listing tells, in one
//! pass and without building a tree.
//!
//! A file that this accepts is one that a strict reader of the store accepts, and the other way
//! round. What it takes is what `JSON.parse` would find there: the last of duplicates, each
//! replacing the one before it wholly.

use super::format::{Park, Pending, SCHEMA_VERSION, Summary, Unusable};
use crate::json::{self, Kind, Text, Value};
use crate::types::Millis;

/// What `bytes`, the whole of a checkpoint's file, say; or the first of these that is wrong: it is
/// not JSON, not an object, of another schema, not a checkpoint, without its budget.
///
/// The schema comes before the rest since a later one may well lack what this one asks for, and
/// the file is then not damaged but new.
pub fn scan(bytes: &[u8]) -> Result<Summary, Unusable> {
    let mut found = Found::default();
    let is_object =
        json::read(bytes, |document| document.object(|key, value| found.take(key, value)));
    match is_object {
        Ok(true) => found.judge(),
        Ok(false) => Err(Unusable::NotACheckpoint("it is not an object")),
        Err(error) => Err(Unusable::NotJson(error)),
    }
}

/// The counters of the budget that must be there: a member of the checkpoint, and members of it.
struct Counters<const N: usize> {
    member: &'static str,
    names: [&'static str; N],
}

const TOKENS: Counters<3> =
    Counters { member: "tokenUsage", names: ["promptTokens", "completionTokens", "totalTokens"] };
const COST: Counters<1> = Counters { member: "costInfo", names: ["totalCost"] };
const GUARD: Counters<2> =
    Counters { member: "guardState", names: ["iterationCount", "elapsedMs"] };

impl<const N: usize> Counters<N> {
    /// Those in the object that `value` is; none in anything else.
    fn take(&self, value: Value<'_, '_>) -> [Option<f64>; N] {
        let mut found = [None; N];
        value.object(|key, value| {
            if let Some(place) = self.names.iter().position(|name| key.is(name)) {
                found[place] = value.number();
            }
        });
        found
    }

    fn judge(&self, found: [Option<f64>; N]) -> Result<(), Unusable> {
        let is_bad = |number: &Option<f64>| !number.is_some_and(f64::is_finite);
        match found.iter().zip(self.names).find(|(number, _)| is_bad(number)) {
            Some((_, counter)) => Err(Unusable::Budget { member: self.member, counter }),
            None => Ok(()),
        }
    }
}

/// The members as they were last seen, `None` where they were not or were of another kind.
#[derive(Default)]
struct Found<'a> {
    id: Option<Text<'a>>,
    iteration: Option<f64>,
    created_at: Option<f64>,
    run_created_at: Option<f64>,
    has_messages: bool,
    schema_version: Option<f64>,
    tokens: [Option<f64>; 3],
    cost: [Option<f64>; 1],
    guard: [Option<f64>; 2],
    pending: FoundPending<'a>,
}

#[derive(Default)]
enum FoundPending<'a> {
    #[default]
    Nothing,
    Object(FoundPark<'a>),
    Other,
}

#[derive(Default)]
struct FoundPark<'a> {
    request_type: Option<Text<'a>>,
    parked_at: Option<f64>,
    deadline_at: Deadline,
    resolved: bool,
    resolved_at: Option<f64>,
}

#[derive(Default)]
enum Deadline {
    #[default]
    Never,
    /// `None` for what is not a number.
    At(Option<f64>),
}

impl<'a> Found<'a> {
    fn take(&mut self, key: Text<'a>, value: Value<'_, 'a>) {
        if key.is("id") {
            self.id = value.text();
        } else if key.is("iteration") {
            self.iteration = value.number();
        } else if key.is("createdAt") {
            self.created_at = value.number();
        } else if key.is("runCreatedAt") {
            self.run_created_at = value.number();
        } else if key.is("messages") {
            self.has_messages = value.kind() == Some(Kind::Array);
        } else if key.is("schemaVersion") {
            self.schema_version = value.number();
        } else if key.is(TOKENS.member) {
            self.tokens = TOKENS.take(value);
        } else if key.is(COST.member) {
            self.cost = COST.take(value);
        } else if key.is(GUARD.member) {
            self.guard = GUARD.take(value);
        } else if key.is("pending") {
            self.pending = pending(value);
        }
    }

    fn judge(self) -> Result<Summary, Unusable> {
        let missing = |what| move || Unusable::NotACheckpoint(what);
        // Infinity has no fraction to be 0, and so is no whole number here either.
        let is_other =
            |version: &f64| version.fract() == 0.0 && *version != f64::from(SCHEMA_VERSION);
        if let Some(found) = self.schema_version.filter(is_other) {
            return Err(Unusable::Schema { found });
        }
        let id = self.id.ok_or_else(missing("`id` is not a string"))?;
        let iteration = self.iteration.filter(|number| number.is_finite());
        let iteration = iteration.ok_or_else(missing("`iteration` is not a finite number"))?;
        let created_at = self.created_at.and_then(Millis::new);
        let created_at = created_at.ok_or_else(missing("`createdAt` is not a finite number"))?;
        if !self.has_messages {
            return Err(Unusable::NotACheckpoint("`messages` is not an array"));
        }
        TOKENS.judge(self.tokens)?;
        COST.judge(self.cost)?;
        GUARD.judge(self.guard)?;
        Ok(Summary {
            id: id.units(),
            iteration,
            created_at,
            run_created_at: self.run_created_at.and_then(Millis::new),
            pending: self.pending.judge(),
        })
    }
}

impl FoundPending<'_> {
    fn judge(self) -> Pending {
        match self {
            FoundPending::Nothing => Pending::None,
            FoundPending::Object(park) => {
                park.judge().map_or_else(Pending::Malformed, Pending::Parked)
            }
            FoundPending::Other => Pending::Malformed("`pending` is not an object"),
        }
    }
}

impl FoundPark<'_> {
    fn judge(self) -> Result<Park, &'static str> {
        let request_type = self.request_type.ok_or("`pending.request.type` is not a string")?;
        let parked_at = self.parked_at.and_then(Millis::new);
        let deadline_at = match self.deadline_at {
            Deadline::Never => None,
            Deadline::At(number) => {
                let at = number.and_then(Millis::new);
                Some(at.ok_or("`pending.deadlineAt` is not a finite number")?)
            }
        };
        Ok(Park {
            request_type: request_type.units(),
            parked_at: parked_at.ok_or("`pending.parkedAt` is not a finite number")?,
            deadline_at,
            resolved: self.resolved,
            resolved_at: self.resolved_at.and_then(Millis::new),
        })
    }
}

fn pending<'a>(value: Value<'_, 'a>) -> FoundPending<'a> {
    if value.kind() == Some(Kind::Null) {
        return FoundPending::Nothing;
    }
    let mut park = FoundPark::default();
    let is_object = value.object(|key, value| {
        if key.is("request") {
            park.request_type = None;
            value.object(|key, value| {
                if key.is("type") {
                    park.request_type = value.text();
                }
            });
        } else if key.is("parkedAt") {
            park.parked_at = value.number();
        } else if key.is("deadlineAt") {
            // What JSON.stringify makes of an infinite deadline is null.
            let is_null = value.kind() == Some(Kind::Null);
            park.deadline_at = if is_null { Deadline::Never } else { Deadline::At(value.number()) };
        } else if key.is("resolvedAt") {
            park.resolved = true;
            park.resolved_at = value.number();
        }
    });
    if is_object { FoundPending::Object(park) } else { FoundPending::Other }
}

#[cfg(test)]
mod tests;
