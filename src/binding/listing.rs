//! Listings, and the next run to be taken. Rows cross as JSON, in pieces that are each parsed in a
//! moment, so that a large page does not hold up the host.

use super::answer::{Answer, Checked, Refusal, answer};
use super::argument::{self, path};
use super::calls::Calls;
use super::text::{Text, Texts};
use crate::directory::Durability;
use crate::env::Clock;
use crate::json::push_str;
use crate::listing::{
    self, Cursor, Damaged, Filter, Kept, Next, Order, Page, ParkState, Query, Wanted, push_lease,
    push_scope,
};
use crate::platform::System;
use crate::types::Holder;
use napi::bindgen_prelude::{Env, Null, Result, Utf16String};
use napi_derive::napi;

/// How long a piece of a page becomes, in bytes, before the next one is begun.
const A_PIECE: usize = 48 * 1024;

/// The names of walks under way, of all threads of this process.
static KEPT: Kept = Kept::new();

/// Whose runs, and where they are.
#[napi(object)]
pub struct Runs {
    /// The directory that all runs of the store are under.
    pub base_dir: Utf16String,
    pub tenant_id: Utf16String,
    pub project_id: Utf16String,
    pub session_id: Utf16String,
    /// Whether what is written must outlive the loss of power.
    pub power: bool,
}

/// Which runs, and in which order.
#[napi(object)]
pub struct Choice {
    pub by_creation: bool,
    /// States of parks, by their numbers.
    pub parks: Vec<u32>,
    pub claimed: Option<bool>,
    pub limit: Option<f64>,
    pub cursor: Option<Utf16String>,
    /// Whether runs that cannot be judged are told of.
    pub report: bool,
}

#[napi]
impl Calls {
    /// Answers texts: `{ cursor?, damaged? }`, then arrays of rows. `null` when the cursor is not
    /// of this listing.
    #[napi]
    pub fn list_runs(
        &mut self,
        env: &Env,
        ticket: f64,
        runs: Runs,
        choice: Choice,
        now: Option<f64>,
    ) -> Result<()> {
        self.start(env, ticket, move || {
            answer(|| {
                let base = path("baseDir", &runs.base_dir)?;
                let Some(query) = choice.query(now)? else {
                    return Ok(Answer::C(Null));
                };
                let page = listing::list(&System, &base, &query, &KEPT)?;
                Ok(Answer::E(page_texts(&page, &runs.scope(), query.report)))
            })
        })
    }

    /// Answers one text: `{ entry, lease }`. `null` when no run was to be had.
    #[napi]
    #[allow(clippy::too_many_arguments, reason = "a claim's arguments and a listing's")]
    pub fn claim_next(
        &mut self,
        env: &Env,
        ticket: f64,
        runs: Runs,
        choice: Choice,
        holder: Utf16String,
        ttl_ms: f64,
        now: Option<f64>,
    ) -> Result<()> {
        self.start(env, ticket, move || {
            answer(|| {
                let base = path("baseDir", &runs.base_dir)?;
                let wanted = choice.wanted(&runs, &holder, ttl_ms, now)?;
                let next = listing::claim_next(&System, &base, &wanted, &KEPT)?;
                Ok(next.map_or(Answer::C(Null), |next| next_text(&next, &runs.scope())))
            })
        })
    }
}

impl Runs {
    fn scope(&self) -> Vec<u8> {
        let mut scope = Vec::new();
        push_scope(&mut scope, &self.tenant_id, &self.project_id, &self.session_id);
        scope
    }
}

impl Choice {
    pub(super) fn order(&self) -> Order {
        if self.by_creation { Order::CreatedAt } else { Order::RunId }
    }

    pub(super) fn filter(&self) -> Filter {
        Filter::new(self.parks.iter().filter_map(|number| state(*number)), self.claimed)
    }

    pub(super) fn limit(&self) -> usize {
        self.limit.map_or(listing::USUAL_LIMIT, listing::limit)
    }

    /// `None` within when there is a cursor and it is not of this listing.
    pub(super) fn after(&self) -> Option<Option<Cursor>> {
        let Some(cursor) = &self.cursor else {
            return Some(None);
        };
        let text = String::from_utf16(cursor).ok()?;
        Cursor::decode(&text, self.order()).map(Some)
    }

    fn query(&self, now: Option<f64>) -> Checked<Option<Query>> {
        let now = argument::millis("now", now.unwrap_or_else(|| System.now_ms()))?;
        Ok(self.after().map(|after| Query {
            order: self.order(),
            filter: self.filter(),
            limit: self.limit(),
            after,
            now,
            report: self.report,
        }))
    }

    fn wanted(
        &self,
        runs: &Runs,
        holder: &Utf16String,
        ttl_ms: f64,
        now: Option<f64>,
    ) -> Checked<Wanted> {
        let holder = Holder::new(holder.to_vec());
        Ok(Wanted {
            order: self.order(),
            filter: self.filter(),
            report: self.report,
            holder: holder.ok_or_else(|| Refusal::bad_argument("holder", "not empty"))?,
            ttl: argument::millis("ttlMs", ttl_ms)?,
            now: now.map(|now| argument::millis("now", now)).transpose()?,
            durability: if runs.power { Durability::Power } else { Durability::Process },
        })
    }
}

/// The state of a park, by its number.
pub(super) fn state(number: u32) -> Option<ParkState> {
    ParkState::ALL.get(number as usize).copied()
}

fn page_texts(page: &Page, scope: &[u8], report: bool) -> Texts {
    let mut texts = vec![Text::new(head(page, report))];
    let mut piece = Vec::new();
    for row in &page.rows {
        piece.push(if piece.is_empty() { b'[' } else { b',' });
        row.push_json(&mut piece, scope);
        if piece.len() >= A_PIECE {
            piece.push(b']');
            texts.push(Text::new(std::mem::take(&mut piece)));
        }
    }
    if !piece.is_empty() {
        piece.push(b']');
        texts.push(Text::new(piece));
    }
    Texts::new(texts)
}

/// What a page has besides its rows.
fn head(page: &Page, report: bool) -> Vec<u8> {
    let mut head = b"{".to_vec();
    if let Some(cursor) = &page.cursor {
        head.extend_from_slice(b"\"cursor\":");
        push_str(&mut head, &cursor.encode());
    }
    if report {
        head.extend_from_slice(if head.len() > 1 { b"," } else { b"" });
        head.extend_from_slice(b"\"damaged\":[");
        for (number, damaged) in page.damaged.iter().enumerate() {
            head.extend_from_slice(if number > 0 { b"," } else { b"" });
            push_damaged(&mut head, damaged);
        }
        head.push(b']');
    }
    head.push(b'}');
    head
}

fn push_damaged(out: &mut Vec<u8>, damaged: &Damaged) {
    out.extend_from_slice(b"{\"runId\":");
    push_str(out, &damaged.run);
    if let Some(parent) = &damaged.parent {
        out.extend_from_slice(b",\"parentRunId\":");
        push_str(out, parent);
    }
    out.extend_from_slice(b",\"file\":");
    push_str(out, &damaged.file);
    out.extend_from_slice(b",\"reason\":");
    push_str(out, &damaged.reason);
    out.push(b'}');
}

fn next_text(next: &Next, scope: &[u8]) -> Answer {
    let mut text = b"{\"entry\":".to_vec();
    next.row.push_json(&mut text, scope);
    text.extend_from_slice(b",\"lease\":");
    push_lease(&mut text, &next.lease);
    text.push(b'}');
    Answer::E(Texts::new(vec![Text::new(text)]))
}
