//! Names in a claims directory, against the pattern of the protocol taken word by word: what counts
//! as a holding moves a run's counter, and what counts as staged is removed.

#![no_main]

use fencelink::names::{self, Name};
use libfuzzer_sys::fuzz_target;

/// The fence of a holding by the pattern `^[0-9]{1,15}\.json$`.
fn holding(name: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(name).ok()?;
    let digits = text.strip_suffix(".json")?;
    fence(digits)
}

fn fence(digits: &str) -> Option<u64> {
    let all = digits.bytes().all(|byte| byte.is_ascii_digit());
    (all && (1..=15).contains(&digits.len())).then(|| digits.parse().ok())?
}

/// The fence of a staged write, `.tmp-w<fence>-<unique>`; what comes after the fence is any bytes.
fn staged(name: &[u8]) -> Option<u64> {
    let rest = name.strip_prefix(b".tmp-w")?;
    let end = rest.iter().position(|byte| *byte == b'-')?;
    fence(std::str::from_utf8(&rest[..end]).ok()?)
}

fuzz_target!(|name: &[u8]| {
    let expected = match (holding(name), staged(name)) {
        (Some(fence), _) => (Some(fence), false, false),
        (None, Some(fence)) => (Some(fence), true, false),
        (None, None) => (None, false, name.starts_with(b".tmp-")),
    };
    let found = match Name::parse(name) {
        Name::Holding(fence) => {
            let own = names::holding(fence);
            assert_eq!(names::is_padded(name), own.as_bytes() != name, "padded");
            assert_eq!(Name::parse(own.as_bytes()), Name::Holding(fence));
            (Some(fence.get()), false, false)
        }
        Name::Staged(fence) => (Some(fence.get()), true, false),
        Name::Scratch => (None, false, true),
        Name::Foreign => (None, false, false),
    };
    assert_eq!(found, expected);
    assert!(!(names::is_checkpoint(name) && names::is_scratch(name)));
    assert_eq!(names::is_run(name), name.starts_with(b"run_"));
});
