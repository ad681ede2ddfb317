//! Reads JSON without building a tree: it validates a whole document, and hands out the few members
//! that the caller names on the way.
//!
//! It accepts exactly what ECMAScript's `JSON.parse` accepts of the bytes decoded as UTF-8 with
//! replacement: invalid bytes within a string are U+FFFD, anything but ASCII outside one is an
//! error, a byte-order mark included. Strings keep lone surrogates. Numbers are the nearest double,
//! of however many digits. Any depth of nesting is legal, and costs a bit of memory a level.
//!
//! The caller is given handles that can neither be misplaced nor left half read: a value that it
//! does not read is passed over, and an error anywhere makes the whole document an error. It is
//! told of members in the order of the text, duplicates included, so that to keep the last is to
//! do as JavaScript does.

mod number;
mod scan;
mod skip;
mod text;
mod write;

pub use text::Text;
pub use write::{push_number, push_str, push_units};

use scan::{blank, literal_end, string_end};
use std::fmt;

/// Why a document is not JSON: the first byte, counted from 0, that cannot stand where it does;
/// the length of the document when it ends too early.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NotJson {
    /// The place of that byte.
    pub at: usize,
}

impl fmt::Display for NotJson {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "not JSON at byte {}", self.at)
    }
}

impl std::error::Error for NotJson {}

/// What a value is, told by its first byte.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// `{…}`
    Object,
    /// `[…]`
    Array,
    /// `"…"`
    Text,
    /// A number.
    Number,
    /// `true` or `false`.
    Boolean,
    /// `null`
    Null,
}

/// Reads the document that `bytes` are, the whole of it. `with` is given its one value.
pub fn read<'a, T>(bytes: &'a [u8], with: impl FnOnce(Value<'_, 'a>) -> T) -> Result<T, NotJson> {
    let mut reader = Reader { bytes, at: blank(bytes, 0), failed: None };
    let start = reader.at;
    let told = with(Value { reader: &mut reader });
    reader.settle(start)?;
    match blank(bytes, reader.at) {
        end if end == bytes.len() => Ok(told),
        at => Err(NotJson { at }),
    }
}

/// A value not yet read. What it answers counts only if the document turns out to be JSON.
#[derive(Debug)]
pub struct Value<'r, 'a> {
    reader: &'r mut Reader<'a>,
}

impl<'a> Value<'_, 'a> {
    /// What the value is; `None` when none starts here, and the document is not JSON.
    pub fn kind(&self) -> Option<Kind> {
        match self.reader.bytes.get(self.reader.at)? {
            b'{' => Some(Kind::Object),
            b'[' => Some(Kind::Array),
            b'"' => Some(Kind::Text),
            b'-' | b'0'..=b'9' => Some(Kind::Number),
            b't' | b'f' => Some(Kind::Boolean),
            b'n' => Some(Kind::Null),
            _ => None,
        }
    }

    /// The string that it is; `None` for anything else.
    pub fn text(self) -> Option<Text<'a>> {
        (self.kind() == Some(Kind::Text)).then(|| self.reader.attempt(Reader::text)).flatten()
    }

    /// The number that it is, infinite where JavaScript's would be; `None` for anything else.
    pub fn number(self) -> Option<f64> {
        (self.kind() == Some(Kind::Number)).then(|| self.reader.attempt(Reader::number)).flatten()
    }

    /// The truth value that it is; `None` for anything else.
    pub fn boolean(self) -> Option<bool> {
        // It is left unread, and so checked to its end when it is passed over.
        let is_true = self.reader.bytes.get(self.reader.at) == Some(&b't');
        (self.kind() == Some(Kind::Boolean)).then_some(is_true)
    }

    /// If it is an object, tells `each` of its members in order; otherwise answers `false`.
    pub fn object(self, mut each: impl FnMut(Text<'a>, Value<'_, 'a>)) -> bool {
        let is_object = self.kind() == Some(Kind::Object);
        if is_object {
            self.reader.attempt(|reader| reader.members(&mut each));
        }
        is_object
    }

    /// If it is an array, tells `each` of its elements in order; otherwise answers `false`.
    pub fn array(self, mut each: impl FnMut(Value<'_, 'a>)) -> bool {
        let is_array = self.kind() == Some(Kind::Array);
        if is_array {
            self.reader.attempt(|reader| reader.elements(&mut each));
        }
        is_array
    }
}

/// The place in the document. An error sticks: whatever is read after it, the document failed.
#[derive(Debug)]
struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    failed: Option<NotJson>,
}

impl<'a> Reader<'a> {
    /// Keeps the error, so that no caller can lose it.
    fn attempt<T>(&mut self, step: impl FnOnce(&mut Self) -> Result<T, NotJson>) -> Option<T> {
        step(self).map_err(|error| self.failed = Some(error)).ok()
    }

    /// After a caller was lent the value at `start`: passes over it if the caller did not read it.
    /// Reading always moves on or fails, so the place tells.
    fn settle(&mut self, start: usize) -> Result<(), NotJson> {
        if let Some(error) = self.failed {
            return Err(error);
        }
        if self.at == start {
            self.at = skip::value_end(self.bytes, start)?;
        }
        Ok(())
    }

    fn text(&mut self) -> Result<Text<'a>, NotJson> {
        let start = self.at + 1;
        let (end, escaped) = string_end(self.bytes, start)?;
        self.at = end;
        Ok(Text::new(&self.bytes[start..end - 1], escaped))
    }

    fn number(&mut self) -> Result<f64, NotJson> {
        let start = self.at;
        self.at = literal_end(self.bytes, start)?;
        Ok(number::value(&self.bytes[start..self.at]))
    }

    fn members(&mut self, each: &mut impl FnMut(Text<'a>, Value<'_, 'a>)) -> Result<(), NotJson> {
        if self.opens_empty(b'}') {
            return Ok(());
        }
        loop {
            if self.bytes.get(self.at) != Some(&b'"') {
                return Err(NotJson { at: self.at });
            }
            let key = self.text()?;
            self.at = scan::colon(self.bytes, self.at)?;
            let start = self.at;
            each(key, Value { reader: self });
            self.settle(start)?;
            if self.closes(b'}')? {
                return Ok(());
            }
        }
    }

    fn elements(&mut self, each: &mut impl FnMut(Value<'_, 'a>)) -> Result<(), NotJson> {
        if self.opens_empty(b']') {
            return Ok(());
        }
        loop {
            let start = self.at;
            each(Value { reader: self });
            self.settle(start)?;
            if self.closes(b']')? {
                return Ok(());
            }
        }
    }

    /// Moves past the opening bracket, and past the closing one if it follows at once.
    fn opens_empty(&mut self, close: u8) -> bool {
        self.at = blank(self.bytes, self.at + 1);
        let empty = self.bytes.get(self.at) == Some(&close);
        self.at += usize::from(empty);
        empty
    }

    /// After a member or an element: moves past the comma, or past the closing bracket.
    fn closes(&mut self, close: u8) -> Result<bool, NotJson> {
        let at = blank(self.bytes, self.at);
        match self.bytes.get(at) {
            Some(b',') => self.at = blank(self.bytes, at + 1),
            Some(byte) if *byte == close => self.at = at + 1,
            _ => return Err(NotJson { at }),
        }
        Ok(self.bytes[at] == close)
    }
}

#[cfg(test)]
mod tests;
