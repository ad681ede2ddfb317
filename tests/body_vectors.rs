//! Bodies as existing workers were seen to judge them: every `body …` case of
//! `fixture/vectors/claims.jsonl`, at the level of the parser. Each case tells in up to three ways
//! what its holding 4 says: what `read` answered of it, whether `acquire` found it held by somebody
//! else, and how it stands in `after`, parsed.
//!
//! The cases are read with the crate's own reader, since holders in them are no Rust strings;
//! `json_differential.rs` is what holds the reader itself to `JSON.parse`.

use fencelink::body;
use fencelink::json::{self, Kind, Value};

/// Holder and expiry.
type Reading = (Vec<u16>, f64);

#[derive(Default)]
struct Case {
    name: String,
    content: Vec<u8>,
    /// What `read` answered while 4 was the current fence.
    read: Option<Reading>,
    acquire: Option<Acquire>,
    /// What parsing the file gave, as far as it was a body: `after` holds the file as it was.
    after: Option<Reading>,
}

struct Acquire {
    holder: Vec<u16>,
    now_ms: f64,
    refused: bool,
}

fn units(text: &str) -> Vec<u16> {
    text.encode_utf16().collect()
}

/// A holding in `files`: its text, or `{ "b64": … }`.
fn content(value: Value<'_, '_>) -> Vec<u8> {
    let mut bytes = Vec::new();
    if value.kind() == Some(Kind::Text) {
        let text = value.text().and_then(|text| text.string());
        return text.expect("a file's text is well-formed").into_bytes();
    }
    value.object(|key, value| {
        assert!(key.is("b64"));
        let text = value.text().and_then(|text| text.string()).expect("base64");
        bytes = base64(&text);
    });
    bytes
}

fn base64(text: &str) -> Vec<u8> {
    const DIGITS: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let digit = |char| DIGITS.find(char).expect("a digit of base64") as u32;
    let digits: Vec<u32> = text.trim_end_matches('=').chars().map(digit).collect();
    let bytes = digits.chunks(4).flat_map(|group| {
        let bits = (0..4).fold(0, |bits, at| bits << 6 | group.get(at).copied().unwrap_or(0));
        let bytes = bits.to_be_bytes();
        bytes[1..group.len()].to_vec()
    });
    bytes.collect()
}

/// `{ holder, expiresAt }` as parsed; `None` for what is not a body.
fn reading(value: Value<'_, '_>) -> Option<Reading> {
    let (mut holder, mut expires_at) = (None, None);
    value.object(|key, value| {
        if key.is("holder") {
            holder = value.text();
        } else if key.is("expiresAt") {
            expires_at = value.number();
        }
    });
    Some((holder?.units(), expires_at?))
}

fn step(value: Value<'_, '_>, case: &mut Case) {
    let mut op = String::new();
    let mut options = None;
    let mut result = None;
    value.object(|key, value| {
        if key.is("op") {
            op = value.text().and_then(|text| text.string()).expect("an operation");
        } else if key.is("options") {
            let (mut holder, mut now_ms) = (None, None);
            value.object(|key, value| {
                if key.is("holder") {
                    holder = value.text();
                } else if key.is("now") {
                    now_ms = value.number();
                }
            });
            options = holder.zip(now_ms);
        } else if key.is("result") && value.kind() == Some(Kind::Object) {
            let (mut holder, mut fence, mut expires_at) = (None, None, None);
            value.object(|key, value| {
                if key.is("holder") {
                    holder = value.text();
                } else if key.is("fence") {
                    fence = value.number();
                } else if key.is("expiresAt") {
                    expires_at = value.number();
                }
            });
            let holder = holder.expect("a holder").units();
            result = Some((fence.expect("a fence"), (holder, expires_at.expect("an expiry"))));
        }
    });
    match (op.as_str(), result) {
        ("acquire", result) => {
            let (holder, now_ms) = options.expect("options");
            case.acquire =
                Some(Acquire { holder: holder.units(), now_ms, refused: result.is_none() });
        }
        ("read", Some((4.0, reading))) => case.read = Some(reading),
        _ => (),
    }
}

fn cases() -> Vec<Case> {
    let lines = include_str!("fixture/vectors/claims.jsonl").lines().map(|line| {
        let mut case = Case::default();
        let read = json::read(line.as_bytes(), |value| {
            value.object(|key, value| {
                if key.is("name") {
                    case.name = value.text().and_then(|text| text.string()).expect("a name");
                } else if !case.name.starts_with("body ") {
                    // Cases of other kinds are passed over.
                } else if key.is("files") {
                    value.object(|name, value| {
                        assert!(name.is("4.json"), "these cases have one holding");
                        case.content = content(value);
                    });
                } else if key.is("steps") {
                    value.array(|value| step(value, &mut case));
                } else if key.is("after") {
                    value.object(|name, value| {
                        if name.is("4.json") {
                            case.after = reading(value);
                        }
                    });
                }
            })
        });
        assert_eq!(read, Ok(true), "{line}");
        case
    });
    lines.filter(|case| case.name.starts_with("body ")).collect()
}

/// Guards the judgement that decides who may run: live, over, or damaged, for each body that was
/// tried on the workers this crate shares directories with.
#[test]
fn bodies_are_judged_as_existing_workers_judge_them() {
    let cases = cases();
    assert!(cases.len() >= 80, "only {} cases were found", cases.len());
    let (mut read, mut acquired) = (0, 0);
    for Case { name, content, read: seen, acquire, after } in cases {
        let parsed = body::parse(&content).map(|body| (body.holder, body.expires_at));
        let parsed = parsed.map(|(holder, expires_at)| (holder.units().to_vec(), expires_at.get()));
        assert_eq!(parsed, after, "{name}: the file, parsed");

        let (holder, expires_at) = parsed.unwrap_or_default();
        if let Some(acquire) = acquire {
            acquired += 1;
            let held = acquire.now_ms < expires_at && holder != acquire.holder;
            assert_eq!(held, acquire.refused, "{name}: held by somebody else");
        }
        if let Some(seen) = seen {
            read += 1;
            assert_eq!((holder, expires_at), seen, "{name}: read");
        }
    }
    assert!(read >= 20 && acquired >= 40, "only {read} reads and {acquired} claims were found");
}

/// Guards this test's own reading of the cases: a surrogate without its partner must arrive whole.
#[test]
fn cases_are_read_as_they_are_written() {
    let cases = cases();
    let case = |name: &str| cases.iter().find(|case| case.name.starts_with(name)).expect("there");
    assert!(case("body bom").content.starts_with(b"\xef\xbb\xbf{"));
    assert_eq!(case("body badutf").after, Some((units("a\u{fffd}"), 2_000_000.0)));
    assert_eq!(case("body lone: another").read, Some((vec![0xD800], 2_000_000.0)));
    assert_eq!(case("body arr").after, None);
}
