//! Observed cases, as trees: holders in them are no Rust strings, so the crate's own reader reads
//! them. `json_differential.rs` is what holds that reader to `JSON.parse`.

use fencelink::json::{self, Kind, Value};

/// A JSON value with strings as UTF-16 units.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Tree {
    Null,
    Boolean(bool),
    Number(f64),
    Text(Vec<u16>),
    Array(Vec<Tree>),
    Object(Vec<(String, Tree)>),
}

impl Tree {
    pub(crate) fn parse(bytes: &[u8]) -> Option<Tree> {
        json::read(bytes, Tree::of).ok()
    }

    fn of(value: Value<'_, '_>) -> Tree {
        match value.kind() {
            Some(Kind::Number) => Tree::Number(value.number().unwrap_or_default()),
            Some(Kind::Text) => {
                Tree::Text(value.text().map(|text| text.units()).unwrap_or_default())
            }
            Some(Kind::Array) => {
                let mut elements = Vec::new();
                value.array(|element| elements.push(Tree::of(element)));
                Tree::Array(elements)
            }
            Some(Kind::Object) => {
                let mut members: Vec<(String, Tree)> = Vec::new();
                value.object(|key, value| {
                    let key = String::from_utf16_lossy(&key.units());
                    let value = Tree::of(value);
                    match members.iter_mut().find(|(known, _)| *known == key) {
                        Some(member) => member.1 = value,
                        None => members.push((key, value)),
                    }
                });
                Tree::Object(members)
            }
            Some(Kind::Boolean) => Tree::Boolean(value.boolean().unwrap_or_default()),
            Some(Kind::Null) | None => Tree::Null,
        }
    }

    pub(crate) fn get(&self, key: &str) -> Option<&Tree> {
        self.members().iter().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    pub(crate) fn members(&self) -> &[(String, Tree)] {
        if let Tree::Object(members) = self { members } else { &[] }
    }

    pub(crate) fn elements(&self) -> &[Tree] {
        if let Tree::Array(elements) = self { elements } else { &[] }
    }

    pub(crate) fn number(&self) -> Option<f64> {
        if let Tree::Number(number) = self { Some(*number) } else { None }
    }

    pub(crate) fn units(&self) -> Option<&[u16]> {
        if let Tree::Text(units) = self { Some(units) } else { None }
    }

    /// A string that is a Rust string.
    pub(crate) fn text(&self) -> Option<String> {
        self.units().and_then(|units| String::from_utf16(units).ok())
    }

    /// The bytes of a file: its text, or `{ "b64": … }`.
    pub(crate) fn content(&self) -> Vec<u8> {
        match self.get("b64") {
            Some(encoded) => base64(&encoded.text().expect("base64")),
            None => self.text().expect("a file's text is well-formed").into_bytes(),
        }
    }
}

fn base64(text: &str) -> Vec<u8> {
    const DIGITS: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let digit = |char| DIGITS.find(char).expect("a digit of base64") as u32;
    let digits: Vec<u32> = text.trim_end_matches('=').chars().map(digit).collect();
    let bytes = digits.chunks(4).flat_map(|group| {
        let bits = (0..4).fold(0, |bits, at| bits << 6 | group.get(at).copied().unwrap_or(0));
        bits.to_be_bytes()[1..group.len()].to_vec()
    });
    bytes.collect()
}
