//! Checked values. Whoever holds one of these holds a value the protocol can work with, so the
//! rest of the crate never asks again.

use std::fmt;

/// The largest fence a holding's name can carry: fifteen digits.
pub const LAST_FENCE: u64 = 999_999_999_999_999;

/// A fencing token: a whole number that only grows for one run; 0 stands for "never claimed".
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Fence(u64);

impl Fence {
    /// The fence of a run that nobody ever claimed.
    pub const NONE: Fence = Fence(0);

    /// A fence from a whole number. Numbers above 2^53 - 1 are not exact in JavaScript: `None`.
    pub const fn new(number: u64) -> Option<Fence> {
        if number <= 9_007_199_254_740_991 { Some(Fence(number)) } else { None }
    }

    /// A fence from a JavaScript number; `None` unless it is a non-negative safe integer.
    pub fn from_f64(number: f64) -> Option<Fence> {
        let whole = number >= 0.0 && number.fract() == 0.0 && number <= 9_007_199_254_740_991.0;
        whole.then_some(Fence(number as u64))
    }

    /// The plain number.
    pub const fn get(self) -> u64 {
        self.0
    }

    /// The fence that follows, or `None` when fifteen digits cannot name it.
    pub const fn next(self) -> Option<Fence> {
        if self.0 < LAST_FENCE { Some(Fence(self.0 + 1)) } else { None }
    }
}

impl fmt::Display for Fence {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(out)
    }
}

/// The name of a worker, as JavaScript has it: UTF-16 units, lone surrogates and all, so that two
/// holders are the same here exactly when they are the same there.
#[derive(Clone, PartialEq, Eq, Hash, Default)]
pub struct Holder(Vec<u16>);

impl Holder {
    /// The holder of a tombstone: nobody.
    pub const NOBODY: Holder = Holder(Vec::new());

    /// How many units a worker's name can have. Even if each is written as an escape of six
    /// bytes, the body of a claim then stays below the size from which it is taken for damaged.
    pub const MOST_UNITS: usize = 100_000;

    /// A worker's name; `None` when it is too long, or empty, for the empty name means nobody.
    pub fn new(units: Vec<u16>) -> Option<Holder> {
        (1..=Holder::MOST_UNITS).contains(&units.len()).then_some(Holder(units))
    }

    /// Whatever a body says, the empty name included.
    pub(crate) fn from_body(units: Vec<u16>) -> Holder {
        Holder(units)
    }

    /// The UTF-16 units.
    pub fn units(&self) -> &[u16] {
        &self.0
    }
}

impl fmt::Debug for Holder {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{:?}", String::from_utf16_lossy(&self.0))
    }
}

/// The id of a run or of a checkpoint: one component of a path, so that it leads to no other place
/// than its own.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Id(String);

impl Id {
    /// `None` for what is not one component: empty, `.`, `..`, or with `/`, `\` or NUL in it.
    pub fn new(id: String) -> Option<Id> {
        let is_component =
            !matches!(id.as_str(), "" | "." | "..") && !id.contains(['/', '\\', '\0']);
        is_component.then_some(Id(id))
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Id {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(out)
    }
}

/// A point in time or a length of it in milliseconds, fractions allowed, never NaN or infinite.
/// Points are counted from the epoch on the wall clock that all workers of a run share.
#[derive(Clone, Copy, PartialEq, PartialOrd, Debug, Default)]
pub struct Millis(f64);

impl Millis {
    /// Zero: the epoch, or no time at all.
    pub const ZERO: Millis = Millis(0.0);

    /// `None` for NaN and the infinities.
    pub fn new(milliseconds: f64) -> Option<Millis> {
        milliseconds.is_finite().then_some(Millis(milliseconds))
    }

    /// The plain number.
    pub const fn get(self) -> f64 {
        self.0
    }

    /// `self + other`; `None` when the sum is not finite.
    pub fn plus(self, other: Millis) -> Option<Millis> {
        Millis::new(self.0 + other.0)
    }
}

/// One worker's hold on one run, up to an instant.
#[derive(Clone, PartialEq, Debug)]
pub struct Lease {
    /// Who holds it; [`Holder::NOBODY`] on a tombstone or a damaged holding.
    pub holder: Holder,
    /// The fencing token under which it was published.
    pub fence: Fence,
    /// The first instant at which it no longer holds, in epoch milliseconds.
    pub expires_at: Millis,
}

impl Lease {
    /// Whether the lease still holds at `now`; at the very instant of its end it does not.
    pub fn is_live(&self, now: Millis) -> bool {
        now < self.expires_at
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::body;

    /// Guards every file outside of a run: an id that is more than one component would read,
    /// replace or delete another's.
    #[test]
    fn an_id_is_one_component_of_a_path() {
        for id in ["run_1", "a b", "é", "...", "..a", "-", ".tmp-x", "CON", "a:b", &"x".repeat(300)]
        {
            assert!(Id::new(id.to_owned()).is_some(), "{id}");
        }
        for id in ["", ".", "..", "a/b", "/a", "a/", "../a", "a\\b", "..\\a", "a\0", "\0"] {
            assert!(Id::new(id.to_owned()).is_none(), "{id:?}");
        }
    }

    /// Guards the fence against what JavaScript calls a number: one that is taken for another would
    /// let an overtaken write pass.
    #[test]
    fn a_fence_is_a_non_negative_safe_integer() {
        let last = (1_u64 << 53) - 1;
        for number in [0, 1, LAST_FENCE, last] {
            assert_eq!(Fence::from_f64(number as f64), Fence::new(number), "{number}");
            assert_eq!(Fence::new(number).map(Fence::get), Some(number));
        }
        let (infinity, nan) = (f64::INFINITY, f64::NAN);
        for number in
            [-1.0, -0.5, 0.5, 1e15 + 0.5, (last + 1) as f64, 1e300, infinity, -infinity, nan]
        {
            assert_eq!(Fence::from_f64(number), None, "{number}");
        }
        assert_eq!(Fence::new(last + 1), None);
    }

    /// Guards a lease against its own body: one that is too large is read as damaged, and the run
    /// as free, while its holder was told that it holds it.
    #[test]
    fn the_longest_holder_fits_into_a_body() {
        let longest = vec![0xD800; Holder::MOST_UNITS];
        let holder = Holder::new(longest.clone()).expect("long, and no longer than allowed");
        let expires_at = Millis::new(-f64::MAX / 3.0).expect("finite");
        let body = body::write(&holder, expires_at, &"9".repeat(100));
        assert!(body.len() <= body::LIMIT, "{} bytes", body.len());
        assert_eq!(body::parse(&body).map(|body| body.holder), Some(holder));
        assert_eq!(Holder::new([longest, vec![0x61]].concat()), None);
    }
}
