//! The reader against `JSON.parse` itself: a Node.js process is given documents that are JSON, that
//! nearly are, and that are not, and has to give the same answer to each.
//!
//! What is compared: whether it is JSON; all of it, to the last unit of a string and the last bit
//! of a number; whether it is a holding's body, and what that says; the bytes that
//! `JSON.stringify` would write for that body.
//!
//! `FENCELINK_SEED` replays a run, `FENCELINK_DOCUMENTS` sets how many documents there are (20,000
//! unless told). Without `node` on the PATH the test fails, unless `FENCELINK_WITHOUT_NODE=1`.

mod documents;
mod random;

use fencelink::body;
use fencelink::json::{self, Kind, Value};
use random::Random;
use std::collections::BTreeMap;
use std::env;
use std::io::{self, BufReader, Read as _, Write as _};
use std::process::{ChildStdin, Command, Stdio};

/// Documents that are on their way at once.
const BATCH: usize = 2_000;

/// How deep a value is compared; deeper ones only in being JSON or not.
const DEEPEST: usize = 64;

fn push_count(out: &mut Vec<u8>, count: usize) {
    out.extend_from_slice(&u32::try_from(count).expect("a test's document is small").to_le_bytes());
}

fn push_units(out: &mut Vec<u8>, units: &[u16]) {
    push_count(out, units.len());
    out.extend(units.iter().flat_map(|unit| unit.to_le_bytes()));
}

/// The whole value, keys in the order of their units; `None` when it is deeper than is told.
fn tell(value: Value<'_, '_>, depth: usize) -> Option<Vec<u8>> {
    if depth > DEEPEST {
        return None;
    }
    let mut out = Vec::new();
    match value.kind()? {
        Kind::Null => out.push(0),
        Kind::Boolean => out.push(1),
        Kind::Number => {
            out.push(2);
            out.extend_from_slice(&value.number()?.to_le_bytes());
        }
        Kind::Text => {
            out.push(3);
            push_units(&mut out, &value.text()?.units());
        }
        Kind::Array => {
            let mut elements = Vec::new();
            value.array(|element| elements.push(tell(element, depth + 1)));
            out.push(4);
            push_count(&mut out, elements.len());
            for element in elements {
                out.extend(element?);
            }
        }
        Kind::Object => {
            let mut members = BTreeMap::new();
            value.object(|key, member| {
                members.insert(key.units(), tell(member, depth + 1));
            });
            out.push(5);
            push_count(&mut out, members.len());
            for (key, member) in members {
                push_units(&mut out, &key);
                out.extend(member?);
            }
        }
    }
    Some(out)
}

/// What this crate makes of a document, in the form of `fixture/json_parse.cjs`.
fn answer(document: &[u8]) -> Vec<u8> {
    let passed_over = json::read(document, |_| ());
    let told = json::read(document, |value| tell(value, 0));
    assert_eq!(passed_over.err(), told.as_ref().err().copied(), "{}", document.escape_ascii());
    let Ok(told) = told else {
        assert_eq!(body::parse(document), None, "{}", document.escape_ascii());
        return vec![0];
    };
    let mut out = vec![1];
    out.extend(told.unwrap_or_default());
    if let Some(body) = body::parse(document) {
        out.push(6);
        push_units(&mut out, body.holder.units());
        out.extend_from_slice(&body.expires_at.get().to_le_bytes());
        let mut written = body::write(&body.holder, body.expires_at, "n");
        if body.expires_at.get() == 0.0 {
            // The one difference: JSON.stringify loses the sign of -0.
            written = body::write(&body.holder, fencelink::types::Millis::ZERO, "n");
        }
        push_count(&mut out, written.len());
        out.extend(written);
        if let Some(nonce) = member_text(document, "nonce") {
            // A nonce that is no Rust string is one that the body does not have.
            assert_eq!(body.nonce, String::from_utf16(&nonce).ok());
            push_units(&mut out, &nonce);
        } else {
            assert_eq!(body.nonce, None);
        }
    }
    out
}

fn member_text(document: &[u8], name: &str) -> Option<Vec<u16>> {
    let mut text = None;
    let read = json::read(document, |value| {
        value.object(|key, value| {
            if key.is(name) {
                text = value.text();
            }
        })
    });
    read.ok()?;
    Some(text?.units())
}

fn send(mut to: &ChildStdin, documents: &[Vec<u8>]) -> io::Result<()> {
    let mut frames = Vec::new();
    for document in documents {
        push_count(&mut frames, document.len());
        frames.extend_from_slice(document);
    }
    to.write_all(&frames)
}

/// Guards the one judgement that must not differ between workers, and with it every rule of the
/// reader that nobody thought of writing down.
#[test]
fn every_document_is_judged_as_json_parse_judges_it() {
    let node = Command::new("node")
        .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixture/json_parse.cjs"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn();
    let mut node = match node {
        Ok(node) => node,
        Err(error) if env::var("FENCELINK_WITHOUT_NODE").as_deref() == Ok("1") => {
            // Past the test harness, which would keep this to itself.
            let _ = writeln!(io::stderr(), "NOT TESTED against JSON.parse: no node ({error})");
            return;
        }
        Err(error) => panic!("cannot run node: {error}. To do without, FENCELINK_WITHOUT_NODE=1"),
    };
    let total = env::var("FENCELINK_DOCUMENTS");
    let total: usize = total.map_or(20_000, |total| total.parse().expect("a number"));
    let mut random = Random::from_env();
    let to_node = node.stdin.take().expect("piped");
    let mut from_node = BufReader::new(node.stdout.take().expect("piped"));
    let (mut accepted, mut bodies) = (0, 0);

    for start in (0..total).step_by(BATCH) {
        let batch = BATCH.min(total - start);
        let documents: Vec<_> = (0..batch).map(|_| documents::document(&mut random)).collect();
        std::thread::scope(|scope| {
            // Written from beside, or both sides could wait for the other to read.
            let sent = scope.spawn(|| send(&to_node, &documents));
            for document in &documents {
                let mut length = [0; 4];
                from_node.read_exact(&mut length).expect("node answers");
                let mut judged = vec![0; u32::from_le_bytes(length) as usize];
                from_node.read_exact(&mut judged).expect("node answers");
                let ours = answer(document);
                assert_eq!(
                    ours.escape_ascii().to_string(),
                    judged.escape_ascii().to_string(),
                    "(ours, node's) {}",
                    document.escape_ascii()
                );
                accepted += usize::from(ours[0] == 1);
                bodies += usize::from(body::parse(document).is_some());
            }
            sent.join().expect("the writer ends").expect("node reads");
        });
    }
    drop(to_node);
    assert!(node.wait().expect("node ends").success());
    eprintln!("{total} documents: {accepted} are JSON, {bodies} of them bodies");
    assert!(total < 1_000 || accepted > total / 4, "too few documents are JSON to mean anything");
    assert!(total < 1_000 || bodies > total / 20, "too few documents are bodies to mean anything");
}
