//! The Node.js addon: takes JavaScript values apart, makes one call into the crate, and turns its
//! answer into a JavaScript value. No rule of the protocol lives here.
//!
//! A refusal crosses as a plain record, never as a thrown or rejected error: the face in
//! `errors.js` makes the error, of the class that the host asked for, where the caller's stack is.
//! Strings cross as UTF-16 and numbers as doubles, so that what JavaScript keeps apart arrives
//! apart. The face checks types before it calls; what arrives here is a string or a number.

#![allow(unreachable_pub, reason = "#[napi] exports functions to JavaScript and wants them public")]

use napi_derive::napi;

mod answer;
mod argument;
mod calls;
mod claim;
mod listing;
mod rows;
mod store;
mod text;
mod threads;

/// The version that this is of: the face takes no other than its own.
#[napi]
#[cfg_attr(test, expect(dead_code, reason = "tests register nothing with Node.js"))]
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
