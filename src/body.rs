//! What a holding says: who holds the run and until when.
//!
//! [`parse`] judges bytes as every other worker of the directory does, which is by ECMAScript's
//! `JSON.parse` of the file decoded as UTF-8 with replacement. To judge a live body damaged would
//! hand a running run to a second worker; to judge a damaged one live would lock the run for ever.
//! [`write`](write()) makes bodies that every such worker reads as meant.

use crate::json::{self, Text};
use crate::types::{Holder, Millis};

/// The largest body there is, in bytes. A file beyond it is damaged, whatever it says.
pub const LIMIT: usize = 1 << 20;

const HOLDER: &str = "holder";
const EXPIRES_AT: &str = "expiresAt";
const NONCE: &str = "nonce";

/// What a body says that is not damaged.
#[derive(Clone, PartialEq, Debug)]
pub struct Body {
    /// Who holds the run; [`Holder::NOBODY`] on a tombstone.
    pub holder: Holder,
    /// The first instant at which it no longer does.
    pub expires_at: Millis,
    /// What tells the attempt that published it from every other. `None` where a worker that
    /// knows of no nonces wrote the body, and for anything that is not well-formed text, which
    /// [`write`](write()) never makes one of.
    pub nonce: Option<String>,
}

/// What `bytes`, the whole of a holding's file, say; `None` when they are damaged: not JSON, not
/// an object, `holder` not a string, or `expiresAt` not a finite number. Of a key that is there
/// twice the last counts, and keys that mean nothing here are passed over.
pub fn parse(bytes: &[u8]) -> Option<Body> {
    let (mut holder, mut expires_at, mut nonce) = (None, None, None);
    let read = json::read(bytes, |body| {
        body.object(|key, value| {
            if key.is(HOLDER) {
                holder = value.text();
            } else if key.is(EXPIRES_AT) {
                expires_at = value.number();
            } else if key.is(NONCE) {
                nonce = value.text();
            }
        })
    });
    read.ok()?;
    Some(Body {
        holder: Holder::from_body(holder?.units()),
        expires_at: Millis::new(expires_at?)?,
        nonce: nonce.and_then(Text::string),
    })
}

/// The bytes of a body, compact, that [`parse`] reads back as the same.
pub fn write(holder: &Holder, expires_at: Millis, nonce: &str) -> Vec<u8> {
    let mut out = Vec::with_capacity(64 + holder.units().len() + nonce.len());
    out.push(b'{');
    push_key(&mut out, HOLDER);
    json::push_units(&mut out, holder.units());
    out.push(b',');
    push_key(&mut out, EXPIRES_AT);
    json::push_number(&mut out, expires_at.get());
    out.push(b',');
    push_key(&mut out, NONCE);
    json::push_str(&mut out, nonce);
    out.push(b'}');
    out
}

/// The bytes of a tombstone: nobody holds the run, and the lease ended at the epoch.
pub fn tombstone(nonce: &str) -> Vec<u8> {
    write(&Holder::NOBODY, Millis::ZERO, nonce)
}

fn push_key(out: &mut Vec<u8>, key: &str) {
    json::push_str(out, key);
    out.push(b':');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn units(text: &str) -> Vec<u16> {
        text.encode_utf16().collect()
    }

    fn reading(text: &str) -> Option<(Vec<u16>, f64)> {
        parse(text.as_bytes()).map(|body| (body.holder.units().to_vec(), body.expires_at.get()))
    }

    /// Guards leniency: whatever else a body carries, and however its keys are written, a live
    /// lease must be seen.
    #[test]
    fn what_other_writers_may_add_is_passed_over() {
        let deep = format!("{}1{}", "[".repeat(10_000), "]".repeat(10_000));
        for body in [
            r#"{"holder":"a","expiresAt":5}"#,
            "\n{\r\n\t\"expiresAt\" : 5 ,\n\t\"holder\" : \"a\"\n}\n",
            r#"{"nonce":7,"holder":"a","expiresAt":5.0,"note":{"holder":"z","expiresAt":null}}"#,
            r#"{"holder":"b","holder":null,"holder":"a","expiresAt":"x","expiresAt":{},"expiresAt":5}"#,
            r#"{"hol\u0064er":"\u0061","\u0065xpiresAt":50e-1}"#,
            &format!(r#"{{"deep":{deep},"holder":"a","expiresAt":5,"deep":{deep}}}"#),
        ] {
            assert_eq!(reading(body), Some((units("a"), 5.0)), "{body}");
        }
        assert_eq!(reading(r#"{"holder":"","expiresAt":-0.5}"#), Some((vec![], -0.5)));
    }

    /// Guards each condition by which a body is damaged, and that the last of a duplicate decides
    /// that too.
    #[test]
    fn what_lacks_a_holder_or_an_expiry_is_damaged() {
        for body in [
            "",
            "{",
            "{}",
            "null",
            "5",
            r#""a""#,
            "[]",
            r#"[{"holder":"a","expiresAt":5}]"#,
            r#"{"holder":"a"}"#,
            r#"{"expiresAt":5}"#,
            r#"{"Holder":"a","expiresAt":5}"#,
            r#"{"holder":5,"expiresAt":5}"#,
            r#"{"holder":null,"expiresAt":5}"#,
            r#"{"holder":["a"],"expiresAt":5}"#,
            r#"{"holder":"a","expiresAt":"5"}"#,
            r#"{"holder":"a","expiresAt":null}"#,
            r#"{"holder":"a","expiresAt":true}"#,
            r#"{"holder":"a","expiresAt":[5]}"#,
            r#"{"holder":"a","expiresAt":1e400}"#,
            r#"{"holder":"a","expiresAt":-1e400}"#,
            r#"{"holder":"a","expiresAt":5,"holder":1}"#,
            r#"{"holder":"a","expiresAt":5,"expiresAt":"5"}"#,
            r#"{"holder":"a","expiresAt":5}}"#,
            r#"{"holder":"a","expiresAt":5,}"#,
            r#"{"x":{"holder":"a","expiresAt":5}}"#,
            "\u{feff}{\"holder\":\"a\",\"expiresAt\":5}",
            "{\"holder\":\"a\",\"expiresAt\":5}\0",
        ] {
            assert_eq!(reading(body), None, "{body}");
        }
    }

    /// Guards the settling of doubt after a failed link: a nonce must never equal one that it is
    /// not, and a nonce of a strange kind must not damage the body.
    #[test]
    fn a_nonce_is_what_it_says_or_none() {
        for (nonce, wanted) in [
            (r#""n-1""#, Some("n-1")),
            (r#""""#, Some("")),
            (r#""\u006e""#, Some("n")),
            (r#""\ud83d\ude00""#, Some("😀")),
            (r#""\ud800""#, None),
            ("1", None),
            ("null", None),
            (r#"{"a":"n"}"#, None),
            (r#""n","nonce":[]"#, None),
            (r#"[],"nonce":"n""#, Some("n")),
        ] {
            let body = format!(r#"{{"holder":"a","expiresAt":5,"nonce":{nonce}}}"#);
            let read = parse(body.as_bytes()).expect("not damaged");
            assert_eq!(read.nonce.as_deref(), wanted, "{nonce}");
        }
        assert_eq!(parse(br#"{"holder":"a","expiresAt":5}"#).expect("a body").nonce, None);
    }

    /// Guards the bytes on disk, which other workers read.
    #[test]
    fn bodies_are_compact_json_in_a_fixed_order() {
        let holder = Holder::new(units("w\"1\u{1}é")).expect("not empty");
        let expires_at = Millis::new(1_764_430_255_123.5).expect("finite");
        assert_eq!(
            String::from_utf8_lossy(&write(&holder, expires_at, "7-0-ab")),
            r#"{"holder":"w\"1\u0001é","expiresAt":1764430255123.5,"nonce":"7-0-ab"}"#
        );
        assert_eq!(
            String::from_utf8_lossy(&tombstone("n")),
            r#"{"holder":"","expiresAt":0,"nonce":"n"}"#
        );
        let tombstone = parse(&tombstone("n")).expect("not damaged");
        assert_eq!((tombstone.holder, tombstone.expires_at), (Holder::NOBODY, Millis::ZERO));
    }
}
