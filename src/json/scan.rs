//! Finds where things end: blanks, strings, numbers and names. Everything here takes the document
//! and a place in it, and answers the place after, so that the loops keep both in registers.

use super::NotJson;

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGHS: u64 = 0x8080_8080_8080_8080;
const SPACES: u64 = b' ' as u64 * ONES;

/// How many bytes a long stretch of plain text is looked at at once.
const WIDE: usize = 64;

/// The first place at or after `at` that is not blank. JSON knows four blanks and no more.
#[inline]
pub(super) fn blank(bytes: &[u8], mut at: usize) -> usize {
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b' ' | b'\t' | b'\r' => at += 1,
            b'\n' => at = spaces(bytes, at + 1),
            _ => break,
        }
    }
    at
}

/// The first place at or after `at` that is not a space, of which an indented line has many.
fn spaces(bytes: &[u8], mut at: usize) -> usize {
    while let Some(chunk) = bytes.get(at..).and_then(|rest| rest.first_chunk()) {
        let same = ((u64::from_le_bytes(*chunk) ^ SPACES).trailing_zeros() / 8) as usize;
        at += same;
        if same < 8 {
            break;
        }
    }
    at
}

/// Past the colon at or after `at`, and the blanks around it.
#[inline]
pub(super) fn colon(bytes: &[u8], at: usize) -> Result<usize, NotJson> {
    let at = blank(bytes, at);
    match bytes.get(at) {
        Some(b':') => Ok(blank(bytes, at + 1)),
        _ => Err(NotJson { at }),
    }
}

/// Past the closing quote of the string whose content starts at `at`, and whether a backslash is
/// in it. Bytes that are not UTF-8 are legal, and never hide a quote: an ASCII byte stands for
/// itself whatever came before it.
#[inline]
pub(super) fn string_end(bytes: &[u8], mut at: usize) -> Result<(usize, bool), NotJson> {
    let mut escaped = false;
    loop {
        at = special(bytes, at);
        match bytes.get(at) {
            Some(b'"') => return Ok((at + 1, escaped)),
            Some(b'\\') => {
                escaped = true;
                at = escape_end(bytes, at + 1)?;
            }
            _ => return Err(NotJson { at }),
        }
    }
}

/// The first quote, backslash or control byte at or after `at`; the end when there is none.
#[inline]
fn special(bytes: &[u8], mut at: usize) -> usize {
    // Most strings are short, so the wide look waits until two words had nothing.
    for words in 1.. {
        match special_in_word(bytes, at) {
            Some(8) => at += 8,
            Some(within) => return at + within,
            None => break,
        }
        if words == 2 {
            at = plain_end(bytes, at);
        }
    }
    let rest = bytes.get(at..).unwrap_or_default();
    at + rest.iter().position(|byte| is_special(*byte)).unwrap_or(rest.len())
}

/// Past as many whole stretches as have nothing special in them.
fn plain_end(bytes: &[u8], mut at: usize) -> usize {
    while let Some(chunk) = bytes.get(at..).and_then(|rest| rest.first_chunk::<WIDE>()) {
        // No early exit and one byte of state: this becomes vector instructions.
        let found = chunk.iter().fold(0u8, |found, byte| found | u8::from(is_special(*byte)));
        if found != 0 {
            break;
        }
        at += WIDE;
    }
    at
}

/// The place of the first special byte within the eight bytes at `at`, 8 for none; `None` when
/// there are not eight.
#[inline]
fn special_in_word(bytes: &[u8], at: usize) -> Option<usize> {
    let word = u64::from_le_bytes(*bytes.get(at..)?.first_chunk()?);
    // In `below(word, n)` a byte less than `n` sets its high bit. A borrow can set bits of bytes
    // after such a one and never before it, so the lowest bit that is set is always right.
    let below = |word: u64, n: u8| word.wrapping_sub(u64::from(n) * ONES) & !word & HIGHS;
    let quote = below(word ^ (u64::from(b'"') * ONES), 1);
    let backslash = below(word ^ (u64::from(b'\\') * ONES), 1);
    let found = quote | backslash | below(word, b' ');
    Some((found.trailing_zeros() / 8) as usize)
}

const fn is_special(byte: u8) -> bool {
    (byte == b'"') | (byte == b'\\') | (byte < b' ')
}

/// Past the escape whose backslash stands before `at`.
fn escape_end(bytes: &[u8], at: usize) -> Result<usize, NotJson> {
    match bytes.get(at) {
        Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => Ok(at + 1),
        Some(b'u') => {
            let digits = bytes[at + 1..].iter().take(4);
            match digits.take_while(|byte| byte.is_ascii_hexdigit()).count() {
                4 => Ok(at + 5),
                good => Err(NotJson { at: at + 1 + good }),
            }
        }
        _ => Err(NotJson { at }),
    }
}

/// Past the number, `true`, `false` or `null` at `at`.
#[inline]
pub(super) fn literal_end(bytes: &[u8], at: usize) -> Result<usize, NotJson> {
    let name: &[u8] = match bytes.get(at) {
        Some(b'-' | b'0'..=b'9') => return number_end(bytes, at),
        Some(b't') => b"true",
        Some(b'f') => b"false",
        Some(b'n') => b"null",
        _ => return Err(NotJson { at }),
    };
    let same = bytes[at..].iter().zip(name).take_while(|(is, due)| is == due).count();
    if same == name.len() { Ok(at + same) } else { Err(NotJson { at: at + same }) }
}

/// Past the number at `at`: `-? (0 | [1-9][0-9]*) (. [0-9]+)? ([eE] [+-]? [0-9]+)?`.
fn number_end(bytes: &[u8], mut at: usize) -> Result<usize, NotJson> {
    at += usize::from(bytes.get(at) == Some(&b'-'));
    at = match bytes.get(at) {
        Some(b'0') => at + 1,
        _ => digits_end(bytes, at)?,
    };
    if bytes.get(at) == Some(&b'.') {
        at = digits_end(bytes, at + 1)?;
    }
    if let Some(b'e' | b'E') = bytes.get(at) {
        at += 1;
        at += usize::from(matches!(bytes.get(at), Some(b'+' | b'-')));
        at = digits_end(bytes, at)?;
    }
    Ok(at)
}

/// Past the digits at `at`, of which there must be one.
fn digits_end(bytes: &[u8], at: usize) -> Result<usize, NotJson> {
    let digits = bytes.get(at..).unwrap_or_default().iter();
    match digits.take_while(|byte| byte.is_ascii_digit()).count() {
        0 => Err(NotJson { at }),
        count => Ok(at + count),
    }
}
