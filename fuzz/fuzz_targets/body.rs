//! The bodies of holdings, against another reader of JSON: to judge a live one damaged hands a running
//! run to a second worker. `tests/json_differential.rs` asks `JSON.parse` itself, of fewer documents.
//!
//! The other reader differs in three things, and where one of them may matter it is not asked: it
//! refuses lone surrogates and numbers beyond the greatest one, and keeps a number without a point as a
//! whole one.

#![no_main]

use fencelink::body;
use libfuzzer_sys::fuzz_target;
use serde::Deserialize as _;
use serde_json::Value;

/// The holder and the end by the other reader, `None` for what is damaged; an error where it cannot
/// say.
fn other(text: &str) -> Result<Option<(String, f64)>, ()> {
    let mut reader = serde_json::Deserializer::from_str(text);
    reader.disable_recursion_limit();
    let read = Value::deserialize(&mut reader).and_then(|value| reader.end().map(|()| value));
    let value = match read {
        Ok(value) => value,
        Err(error) => {
            let why = error.to_string();
            let differs = ["surrogate", "hex escape", "out of range"];
            let cannot_say = differs.iter().any(|what| why.contains(what));
            return if cannot_say { Err(()) } else { Ok(None) };
        }
    };
    let holder = value.get("holder").and_then(Value::as_str);
    let expires_at = value.get("expiresAt").and_then(Value::as_f64);
    Ok(holder.map(str::to_owned).zip(expires_at))
}

fuzz_target!(|bytes: &[u8]| {
    let ours = body::parse(bytes);
    if let Some(body) = &ours {
        let nonce = body.nonce.as_deref().unwrap_or_default();
        let written = body::write(&body.holder, body.expires_at, nonce);
        let again = body::parse(&written).expect("what is written is read");
        assert_eq!((&again.holder, again.expires_at), (&body.holder, body.expires_at));
    }
    let text = String::from_utf8_lossy(bytes);
    let Ok(theirs) = other(&text) else { return };
    let ours = ours.map(|body| (body.holder.units().to_vec(), body.expires_at.get()));
    let theirs = theirs.map(|(holder, end)| (holder.encode_utf16().collect::<Vec<_>>(), end));
    assert_eq!(ours, theirs, "{}", bytes.escape_ascii());
});
