//! Passes over a value of any depth without recursion, checking all of it on the way.

use super::NotJson;
use super::scan::{blank, colon, literal_end, string_end};

/// Past the value at `at`.
pub(super) fn value_end(bytes: &[u8], mut at: usize) -> Result<usize, NotJson> {
    let mut open = Nesting::default();
    loop {
        // A value is due at `at`.
        at = match bytes.get(at) {
            Some(b'{') => {
                at = blank(bytes, at + 1);
                if bytes.get(at) != Some(&b'}') {
                    open.push(true);
                    at = key_end(bytes, at)?;
                    continue;
                }
                at + 1
            }
            Some(b'[') => {
                at = blank(bytes, at + 1);
                if bytes.get(at) != Some(&b']') {
                    open.push(false);
                    continue;
                }
                at + 1
            }
            Some(b'"') => string_end(bytes, at + 1)?.0,
            _ => literal_end(bytes, at)?,
        };
        // A value ended at `at`, and with it whatever is closed now.
        loop {
            let Some(in_object) = open.top() else { return Ok(at) };
            at = blank(bytes, at);
            match (bytes.get(at), in_object) {
                (Some(b','), true) => {
                    at = key_end(bytes, blank(bytes, at + 1))?;
                    break;
                }
                (Some(b','), false) => {
                    at = blank(bytes, at + 1);
                    break;
                }
                (Some(b'}'), true) | (Some(b']'), false) => {
                    at += 1;
                    open.pop();
                }
                _ => return Err(NotJson { at }),
            }
        }
    }
}

/// Past the key at `at`, its colon and the blanks after it.
#[inline]
fn key_end(bytes: &[u8], at: usize) -> Result<usize, NotJson> {
    match bytes.get(at) {
        Some(b'"') => colon(bytes, string_end(bytes, at + 1)?.0),
        _ => Err(NotJson { at }),
    }
}

/// Which of the brackets that are open are objects: a bit a level, the innermost lowest in `top`.
/// Up to 64 levels need no memory of their own.
#[derive(Default)]
struct Nesting {
    depth: usize,
    top: u64,
    below: Vec<u64>,
}

impl Nesting {
    fn push(&mut self, object: bool) {
        if self.depth > 0 && self.depth.is_multiple_of(64) {
            self.below.push(self.top);
        }
        self.top = self.top << 1 | u64::from(object);
        self.depth += 1;
    }

    fn pop(&mut self) {
        self.top >>= 1;
        self.depth -= 1;
        if self.depth > 0 && self.depth.is_multiple_of(64) {
            self.top = self.below.pop().unwrap_or_default();
        }
    }

    /// Whether the innermost bracket is an object's; `None` when none is open.
    fn top(&self) -> Option<bool> {
        (self.depth > 0).then_some(self.top & 1 == 1)
    }
}

#[cfg(test)]
mod tests {
    use super::Nesting;

    /// Guards the cost of depth: a file of brackets must not take many times its own size.
    #[test]
    fn a_level_costs_a_bit() {
        let mut open = Nesting::default();
        for level in 0..6400 {
            assert_eq!(open.below.len(), usize::saturating_sub(level, 1) / 64);
            open.push(level % 3 == 0);
        }
        for level in (0..6400).rev() {
            assert_eq!(open.top(), Some(level % 3 == 0), "{level}");
            open.pop();
        }
        assert_eq!(open.top(), None);
    }
}
