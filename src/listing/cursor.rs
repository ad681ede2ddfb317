//! Where a listing stopped, as text that the caller hands back: the place of the last row, not
//! how many there were, so that runs that come and go meanwhile shift nothing.
//!
//! The text is base64url of JSON: a version, the order, and the place. What does not decode to
//! exactly what this would write, of the order that is asked for, is not a cursor of this listing.

use super::page::{Key, Order};
use crate::json::{self, Kind, Value, push_number, push_str, push_units};
use crate::types::Millis;
use std::cmp::Ordering;

const VERSION: f64 = 1.0;

/// The place of a page's last row.
#[derive(Clone, PartialEq, Debug)]
pub struct Cursor {
    order: Order,
    run_created_at: Option<Millis>,
    run: Vec<u16>,
    parent: Option<Vec<u16>>,
    /// Tells this walk from others, where names that were read for it are kept.
    walk: Option<String>,
}

impl Cursor {
    /// The cursor of a page that ends with the row at `key`.
    pub(super) fn after(order: Order, key: &Key<'_>) -> Cursor {
        Cursor {
            order,
            // In an order that does not depend on it, it is not part of the place.
            run_created_at: key.run_created_at.filter(|_| order == Order::CreatedAt),
            run: key.run.to_vec(),
            parent: key.parent.map(<[u16]>::to_vec),
            walk: None,
        }
    }

    /// The same, of this walk.
    pub(super) fn of_walk(self, walk: Option<String>) -> Cursor {
        Cursor { walk, ..self }
    }

    /// The walk that it is of.
    pub(super) fn walk(&self) -> Option<&String> {
        self.walk.as_ref()
    }

    /// The place.
    pub(super) fn key(&self) -> Key<'_> {
        Key { run_created_at: self.run_created_at, run: &self.run, parent: self.parent.as_deref() }
    }

    /// Whether a row at `key` comes after the page that this ends.
    pub(super) fn precedes(&self, key: &Key<'_>) -> bool {
        self.key().compare(key, self.order) == Ordering::Less
    }

    /// The text that stands for it.
    pub fn encode(&self) -> String {
        let mut json = b"[".to_vec();
        push_number(&mut json, VERSION);
        json.push(b',');
        push_str(&mut json, self.order.as_str());
        json.push(b',');
        match self.run_created_at {
            Some(at) => push_number(&mut json, at.get()),
            None => json.extend_from_slice(b"null"),
        }
        json.push(b',');
        push_units(&mut json, &self.run);
        json.push(b',');
        match &self.parent {
            Some(parent) => push_units(&mut json, parent),
            None => json.extend_from_slice(b"null"),
        }
        if let Some(walk) = &self.walk {
            json.push(b',');
            push_str(&mut json, walk);
        }
        json.push(b']');
        base64url(&json)
    }

    /// The cursor that `text` stands for, if a listing in this order issued it: then it is exactly
    /// what is written for that cursor, version and order included.
    pub fn decode(text: &str, order: Order) -> Option<Cursor> {
        let mut parts = Vec::new();
        let json = from_base64url(text)?;
        json::read(&json, |cursor| cursor.array(|part| parts.push(Part::of(part)))).ok()?;
        let mut parts = parts.into_iter().skip(2);
        let cursor = Cursor {
            order,
            run_created_at: match parts.next()? {
                Part::Number(at) => Some(Millis::new(at)?),
                _ => None,
            },
            run: parts.next()?.text()?,
            parent: parts.next()?.text(),
            walk: parts.next().and_then(Part::text).and_then(|walk| String::from_utf16(&walk).ok()),
        };
        (cursor.encode() == text).then_some(cursor)
    }
}

enum Part {
    Number(f64),
    Text(Vec<u16>),
    Other,
}

impl Part {
    fn of(value: Value<'_, '_>) -> Part {
        match value.kind() {
            Some(Kind::Number) => value.number().map_or(Part::Other, Part::Number),
            Some(Kind::Text) => value.text().map_or(Part::Other, |text| Part::Text(text.units())),
            _ => Part::Other,
        }
    }

    fn text(self) -> Option<Vec<u16>> {
        if let Part::Text(units) = self { Some(units) } else { None }
    }
}

/// The digits of base64url (RFC 4648, section 5), which need no escape in a URL.
const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

fn base64url(bytes: &[u8]) -> String {
    let digits = bytes.chunks(3).flat_map(|group| {
        let part = |at: usize| u32::from(group.get(at).copied().unwrap_or(0));
        let bits = part(0) << 16 | part(1) << 8 | part(2);
        let digit = move |at: u32| char::from(DIGITS[(bits >> (18 - 6 * at) & 63) as usize]);
        (0..=group.len() as u32).map(digit)
    });
    digits.collect()
}

/// `None` for what has other characters, or a length that no bytes give.
fn from_base64url(text: &str) -> Option<Vec<u8>> {
    if text.len() % 4 == 1 {
        return None;
    }
    let mut bytes = Vec::with_capacity(text.len() * 3 / 4);
    for group in text.as_bytes().chunks(4) {
        let mut bits = 0;
        for at in 0..4 {
            let digit = match group.get(at) {
                Some(char) => DIGITS.iter().position(|digit| digit == char)?,
                None => 0,
            };
            bits = bits << 6 | digit as u32;
        }
        let [_, a, b, c] = bits.to_be_bytes();
        bytes.extend_from_slice(&[a, b, c][..group.len() - 1]);
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cursor(run: &str, parent: Option<&str>, at: Option<f64>, order: Order) -> Cursor {
        let units = |text: &str| text.encode_utf16().collect::<Vec<_>>();
        let (run, parent) = (units(run), parent.map(units));
        let key =
            Key { run_created_at: at.and_then(Millis::new), run: &run, parent: parent.as_deref() };
        Cursor::after(order, &key)
    }

    /// Guards the exactness of a place: ids and times of any form come back as they were.
    #[test]
    fn a_cursor_comes_back_as_it_was() {
        for order in [Order::RunId, Order::CreatedAt] {
            for run in ["run_", "run_a", "run_ab", "run_abc", "run_\"\\\u{1}é😀"] {
                for parent in [None, Some(""), Some("run_p")] {
                    for at in [None, Some(0.0), Some(-0.0), Some(0.1 + 0.2), Some(-1e300)] {
                        let mut one = cursor(run, parent, at, order);
                        for walk in [None, Some("7-0-ab".to_owned())] {
                            one.walk = walk;
                            assert_eq!(Cursor::decode(&one.encode(), order), Some(one.clone()));
                        }
                    }
                }
            }
        }
        let lone = Cursor { run: vec![0xD800], ..cursor("", None, None, Order::RunId) };
        assert_eq!(Cursor::decode(&lone.encode(), Order::RunId), Some(lone));
    }

    /// Guards against a listing that silently starts anywhere: what it did not issue, or issued
    /// in the other order, is told apart.
    #[test]
    fn what_a_listing_did_not_issue_is_no_cursor() {
        let own = cursor("run_a", None, None, Order::RunId).encode();
        assert_eq!(Cursor::decode(&own, Order::CreatedAt), None);
        for json in [
            "",
            "[]",
            "{}",
            "null",
            r#"[1,"runId"]"#,
            r#"[1,"runId",null,"run_a"]"#,
            r#"[2,"runId",null,"run_a",null]"#,
            r#"["1","runId",null,"run_a",null]"#,
            r#"[1,"runid",null,"run_a",null]"#,
            r#"[1,"createdAt",null,"run_a",null]"#,
            r#"[1,"runId",null,7,null]"#,
            r#"[1,"runId",null,"run_a",7]"#,
            r#"[1,"runId","5","run_a",null]"#,
            r#"[1,"runId",null,"run_a",null,null]"#,
            r#"[1,"runId",null,"run_a",null,"w","x"]"#,
            r#"[1, "runId",null,"run_a",null]"#,
            r#"[1,"runId",null,"run_\u0061",null]"#,
            r#"[1,"runId",1e999,"run_a",null]"#,
            r#"[1,"runId",null,"run_a",null"#,
        ] {
            assert_eq!(Cursor::decode(&base64url(json.as_bytes()), Order::RunId), None, "{json}");
        }
        for text in ["run_a", "!", "é", &own[1..], &own[..own.len() - 1], &format!("{own}=")] {
            assert_eq!(Cursor::decode(text, Order::RunId), None, "{text}");
        }
        assert!(Cursor::decode(&own, Order::RunId).is_some());
    }

    /// Guards the encoding against RFC 4648's own examples, and every length of rest.
    #[test]
    fn base64url_is_that_of_the_rfc() {
        for (plain, encoded) in
            [("", ""), ("f", "Zg"), ("fo", "Zm8"), ("foo", "Zm9v"), ("foob", "Zm9vYg")]
        {
            assert_eq!(base64url(plain.as_bytes()), encoded);
            assert_eq!(from_base64url(encoded).as_deref(), Some(plain.as_bytes()));
        }
        assert_eq!(base64url(&[0xFB, 0xFF, 0xFE]), "-__-");
        assert_eq!(from_base64url("Zm9vY"), None);
        assert_eq!(from_base64url("+//+"), None);
    }
}
