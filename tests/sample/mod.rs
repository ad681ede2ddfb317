//! What tests of runs have in common: a checkpoint's text, and the values that a claim is made of.

use fencelink::types::{Holder, Millis};

/// A checkpoint's text, with `more` as its last members.
pub(crate) fn text(id: &str, created_at: f64, more: &str) -> Vec<u8> {
    format!(
        r#"{{"id":"{id}","iteration":1,"createdAt":{created_at},"messages":[],
        "tokenUsage":{{"promptTokens":1,"completionTokens":1,"totalTokens":2}},
        "costInfo":{{"totalCost":0}},"guardState":{{"iterationCount":1,"elapsedMs":1}}{more}}}"#
    )
    .into_bytes()
}

pub(crate) fn holder(name: &str) -> Holder {
    Holder::new(name.encode_utf16().collect()).expect("not empty")
}

pub(crate) fn millis(number: f64) -> Millis {
    Millis::new(number).expect("finite")
}
