//! Bodies as existing workers were seen to judge them: every `body …` case of
//! `fixture/vectors/claims.jsonl`, at the level of the parser. Each case tells in up to three ways
//! what its holding 4 says: what `read` answered of it, whether `acquire` found it held by somebody
//! else, and how it stands in `after`, parsed.

mod vectors;

use fencelink::body;
use vectors::Tree;

/// Holder and expiry.
type Reading = (Vec<u16>, f64);

fn cases() -> Vec<(String, Tree)> {
    let cases = include_str!("fixture/vectors/claims.jsonl").lines().map(|line| {
        let case = Tree::parse(line.as_bytes()).expect("a case");
        (case.get("name").and_then(Tree::text).expect("a name"), case)
    });
    cases.filter(|(name, _)| name.starts_with("body ")).collect()
}

/// `{ holder, expiresAt }`; `None` for what is not a body.
fn reading(tree: &Tree) -> Option<Reading> {
    Some((tree.get("holder")?.units()?.to_vec(), tree.get("expiresAt")?.number()?))
}

fn content(case: &Tree) -> Vec<u8> {
    case.get("files").and_then(|files| files.get("4.json")).expect("a holding").content()
}

fn after(case: &Tree) -> Option<Reading> {
    reading(case.get("after").and_then(|after| after.get("4.json")).expect("still there"))
}

/// Guards the judgement that decides who may run: live, over, or damaged, for each body that was
/// tried on the workers this crate shares directories with.
#[test]
fn bodies_are_judged_as_existing_workers_judge_them() {
    let cases = cases();
    assert!(cases.len() >= 80, "only {} cases were found", cases.len());
    let (mut read, mut acquired) = (0, 0);
    for (name, case) in &cases {
        let parsed = body::parse(&content(case))
            .map(|body| (body.holder.units().to_vec(), body.expires_at.get()));
        assert_eq!(parsed, after(case), "{name}: the file, parsed");

        let (holder, expires_at) = parsed.unwrap_or_default();
        for step in case.get("steps").expect("steps").elements() {
            let result = step.get("result").expect("a result");
            let fence = result.get("fence").and_then(Tree::number);
            match step.get("op").and_then(Tree::text).as_deref() {
                Some("acquire") => {
                    acquired += 1;
                    let options = step.get("options").expect("options");
                    let asks = options.get("holder").and_then(Tree::units).expect("a holder");
                    let now = options.get("now").and_then(Tree::number).expect("a time");
                    let held = now < expires_at && asks != holder;
                    assert_eq!(held, *result == Tree::Null, "{name}: held by somebody else");
                }
                Some("read") if fence == Some(4.0) => {
                    read += 1;
                    assert_eq!(Some((holder.clone(), expires_at)), reading(result), "{name}: read");
                }
                _ => {}
            }
        }
    }
    assert!(read >= 20 && acquired >= 40, "only {read} reads and {acquired} claims were found");
}

/// Guards this test's own reading of the cases: a surrogate without its partner must arrive whole.
#[test]
fn cases_are_read_as_they_are_written() {
    let cases = cases();
    let case = |start: &str| {
        let found = cases.iter().find(|(name, _)| name.starts_with(start));
        &found.expect("there").1
    };
    assert!(content(case("body bom")).starts_with(b"\xef\xbb\xbf{"));
    let replaced = "a\u{fffd}".encode_utf16().collect();
    assert_eq!(after(case("body badutf")), Some((replaced, 2_000_000.0)));
    let lone = case("body lone: another").get("steps").expect("steps").elements();
    assert_eq!(reading(lone[0].get("result").expect("read")), Some((vec![0xD800], 2_000_000.0)));
    assert_eq!(after(case("body arr")), None);
}
