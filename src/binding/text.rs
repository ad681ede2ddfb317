//! JSON on its way to JavaScript: text, since only `JSON.parse` makes of it exactly what
//! `JSON.parse` makes of it, in the form that the engine takes in by copying memory.
//!
//! V8 has strings of one byte a character, up to U+00FF, and of two bytes. To turn UTF-8 into
//! either is work for a thread of ours and not for JavaScript's. Characters beyond U+00FF stand in
//! strings only, and there an escape means the same; so where few of them would double the size of
//! all the rest, they are escaped. The text takes at most 10/7 of the file's size that way.

use napi::JsString;
use napi::bindgen_prelude::{Env, Result};
use napi_derive::napi;
use std::vec::IntoIter;

/// The longest string of V8, in characters.
const LONGEST: usize = crate::checkpoint::LIMIT;

/// The length of an escape: `\uXXXX`.
const ESCAPE: usize = 6;

/// JSON that was found to be valid, as V8 takes it.
#[derive(Debug, PartialEq)]
pub(super) enum Text {
    /// One byte a character.
    Narrow(Vec<u8>),
    /// UTF-16.
    Wide(Vec<u16>),
}

impl Text {
    /// From valid JSON of at most [`LONGEST`] bytes, decoded with replacement.
    pub(super) fn new(json: Vec<u8>) -> Text {
        if json.is_ascii() {
            return Text::Narrow(json);
        }
        let (mut narrow, mut wide) = (0, 0);
        for char in chars(&json) {
            narrow += if is_narrow(char) { 1 } else { ESCAPE * char.len_utf16() };
            wide += 2 * char.len_utf16();
        }
        if narrow <= wide && narrow <= LONGEST {
            let mut text = Vec::with_capacity(narrow);
            chars(&json).for_each(|char| push_narrow(&mut text, char));
            Text::Narrow(text)
        } else {
            let mut text = Vec::with_capacity(wide / 2);
            chars(&json).for_each(|char| text.extend_from_slice(char.encode_utf16(&mut [0; 2])));
            Text::Wide(text)
        }
    }
}

fn chars(bytes: &[u8]) -> impl Iterator<Item = char> + '_ {
    bytes.utf8_chunks().flat_map(|chunk| {
        let broken = !chunk.invalid().is_empty();
        chunk.valid().chars().chain(broken.then_some(char::REPLACEMENT_CHARACTER))
    })
}

fn is_narrow(char: char) -> bool {
    u32::from(char) <= 0xFF
}

fn push_narrow(text: &mut Vec<u8>, char: char) {
    if is_narrow(char) {
        text.push(char as u32 as u8);
        return;
    }
    for unit in char.encode_utf16(&mut [0; 2]) {
        let digit = |shift: u16| b"0123456789abcdef"[usize::from(*unit >> shift & 0xF)];
        text.extend_from_slice(&[b'\\', b'u', digit(12), digit(8), digit(4), digit(0)]);
    }
}

/// Texts to be fetched one by one. Each is kept outside of JavaScript's memory until then, and no
/// longer.
#[napi]
pub struct Texts {
    rest: IntoIter<Text>,
}

impl Texts {
    pub(super) fn new(texts: Vec<Text>) -> Texts {
        Texts { rest: texts.into_iter() }
    }
}

#[napi]
impl Texts {
    /// The next text, `null` after the last.
    #[napi]
    pub fn next<'env>(&mut self, env: &'env Env) -> Result<Option<JsString<'env>>> {
        let text = self.rest.next().map(|text| match text {
            Text::Narrow(text) => env.create_string_latin1(text),
            Text::Wide(text) => env.create_string_utf16(text),
        });
        text.transpose()
    }
}
