use super::*;
use crate::json::NotJson;
use serde_json::{Value as Tree, json};

fn units(text: &str) -> Vec<u16> {
    text.encode_utf16().collect()
}

fn millis(number: f64) -> Millis {
    Millis::new(number).expect("finite")
}

fn checkpoint() -> Tree {
    json!({
        "id": "cp_1", "runId": "run_1", "iteration": 3,
        "messages": [{ "role": "user", "content": [{ "id": "not this", "createdAt": 9 }] }],
        "tokenUsage": { "promptTokens": 1, "completionTokens": 2, "totalTokens": 3 },
        "costInfo": { "totalCost": 0.25, "unpricedTokens": null },
        "guardState": { "iterationCount": 1, "elapsedMs": 1.5 },
        "createdAt": 1_764_430_255_123.5, "runCreatedAt": 5,
        "pending": {
            "request": { "type": "question", "toolCalls": [{ "type": "not this" }] },
            "parkedAt": 7, "deadlineAt": 8
        },
        "schemaVersion": 1
    })
}

/// The checkpoint with the member at `pointer` set, or removed when `value` is `None`.
fn with(pointer: &str, value: Option<Tree>) -> Tree {
    let mut checkpoint = checkpoint();
    let (parent, name) = pointer.rsplit_once('/').expect("a pointer");
    let parent = checkpoint.pointer_mut(parent).and_then(Tree::as_object_mut).expect("there");
    match value {
        Some(value) => drop(parent.insert(name.to_owned(), value)),
        None => drop(parent.remove(name)),
    }
    checkpoint
}

fn scan_tree(tree: &Tree) -> Result<Summary, Unusable> {
    let pretty = serde_json::to_vec_pretty(tree).expect("writable");
    let compact = scan(&serde_json::to_vec(tree).expect("writable"));
    assert_eq!(scan(&pretty), compact, "blanks change nothing");
    compact
}

/// The checkpoint as text with `tail` as further members, which may repeat earlier ones.
fn with_tail(tail: &str) -> Result<Summary, Unusable> {
    let text = checkpoint().to_string();
    let open = text.strip_suffix('}').expect("an object");
    scan(format!("{open},{tail}}}").as_bytes())
}

fn park(summary: Result<Summary, Unusable>) -> Park {
    match summary.expect("usable").pending {
        Pending::Parked(park) => park,
        other => panic!("{other:?}"),
    }
}

/// Guards what a row of a listing is made of, and that members deeper down are not mistaken for it.
#[test]
fn a_summary_is_taken_from_a_checkpoint() {
    let wanted = Summary {
        id: units("cp_1"),
        iteration: 3.0,
        created_at: millis(1_764_430_255_123.5),
        run_created_at: Some(millis(5.0)),
        pending: Pending::Parked(Park {
            request_type: units("question"),
            parked_at: millis(7.0),
            deadline_at: Some(millis(8.0)),
            resolved: false,
            resolved_at: None,
        }),
    };
    assert_eq!(scan_tree(&checkpoint()), Ok(wanted));
}

/// Guards each condition of strict reading, by itself: one that is not checked lets a damaged
/// checkpoint be resumed from.
#[test]
fn what_is_missing_or_of_another_kind_is_refused() {
    let not_a = |what| Unusable::NotACheckpoint(what);
    let budget = |member, counter| Unusable::Budget { member, counter };
    let bad_number =
        [None, Some(json!(null)), Some(json!("1")), Some(json!([1])), Some(json!(true))];
    let cases = [
        ("/id", not_a("`id` is not a string")),
        ("/iteration", not_a("`iteration` is not a finite number")),
        ("/createdAt", not_a("`createdAt` is not a finite number")),
        ("/tokenUsage/promptTokens", budget("tokenUsage", "promptTokens")),
        ("/tokenUsage/completionTokens", budget("tokenUsage", "completionTokens")),
        ("/tokenUsage/totalTokens", budget("tokenUsage", "totalTokens")),
        ("/costInfo/totalCost", budget("costInfo", "totalCost")),
        ("/guardState/iterationCount", budget("guardState", "iterationCount")),
        ("/guardState/elapsedMs", budget("guardState", "elapsedMs")),
        ("/tokenUsage", budget("tokenUsage", "promptTokens")),
        ("/costInfo", budget("costInfo", "totalCost")),
        ("/guardState", budget("guardState", "iterationCount")),
    ];
    for (pointer, wanted) in cases {
        for bad in &bad_number {
            if pointer == "/id" && matches!(bad, Some(Tree::String(_))) {
                continue;
            }
            assert_eq!(scan_tree(&with(pointer, bad.clone())), Err(wanted), "{pointer}: {bad:?}");
        }
    }
    for bad in [None, Some(json!(null)), Some(json!({})), Some(json!("[]")), Some(json!(0))] {
        let wanted = not_a("`messages` is not an array");
        assert_eq!(scan_tree(&with("/messages", bad.clone())), Err(wanted), "{bad:?}");
    }
    for text in ["[]", "null", "5", "\"x\"", "true"] {
        assert_eq!(scan(text.as_bytes()), Err(not_a("it is not an object")), "{text}");
    }
    for (tail, wanted) in [
        (r#""iteration":1e400"#, not_a("`iteration` is not a finite number")),
        (r#""createdAt":-1e400"#, not_a("`createdAt` is not a finite number")),
        (r#""costInfo":{"totalCost":1e999}"#, budget("costInfo", "totalCost")),
    ] {
        assert_eq!(with_tail(tail), Err(wanted), "{tail}");
    }
}

/// Guards against resuming from half a file, and names the place for whoever looks at it.
#[test]
fn a_file_that_is_cut_short_or_spoilt_is_not_json() {
    let whole = serde_json::to_vec_pretty(&checkpoint()).expect("writable");
    for length in 0..whole.len() {
        let cut = scan(&whole[..length]);
        assert_eq!(cut, Err(Unusable::NotJson(NotJson { at: length })), "{length}");
    }
    let marked = [b"\xef\xbb\xbf", &whole[..]].concat();
    assert_eq!(scan(&marked), Err(Unusable::NotJson(NotJson { at: 0 })));
    let zeros = vec![0; whole.len()];
    assert_eq!(scan(&zeros), Err(Unusable::NotJson(NotJson { at: 0 })));
}

/// Guards the judgement of the schema, and that a file of a later one is told from a damaged one.
#[test]
fn only_a_whole_number_other_than_1_is_another_schema() {
    for same in [None, Some(json!(null)), Some(json!("2")), Some(json!(1.5)), Some(json!({}))] {
        assert!(scan_tree(&with("/schemaVersion", same.clone())).is_ok(), "{same:?}");
    }
    for (tail, found) in [
        ("1.0", None),
        ("10e-1", None),
        ("1e400", None),
        ("2", Some(2.0)),
        ("0", Some(0.0)),
        ("-1", Some(-1.0)),
        ("2.0", Some(2.0)),
        ("1e3", Some(1000.0)),
    ] {
        let scanned = with_tail(&format!(r#""schemaVersion":{tail}"#));
        assert_eq!(scanned.err(), found.map(|found| Unusable::Schema { found }), "{tail}");
    }
    assert_eq!(scan(br#"{"schemaVersion":2}"#), Err(Unusable::Schema { found: 2.0 }));
}

/// Guards the reading of duplicates, which is JavaScript's: the last one stands, and nothing of
/// the one before it shows through.
#[test]
fn the_last_of_duplicates_replaces_the_others_wholly() {
    let last = with_tail(r#""createdAt":1,"id":"a","id":"b","runCreatedAt":null"#).expect("usable");
    assert_eq!((last.created_at, last.run_created_at), (millis(1.0), None));
    assert_eq!(last.id, units("b"));
    for (tail, wanted) in [
        (r#""id":1"#, "not a usable checkpoint: `id` is not a string"),
        (r#""messages":{}"#, "not a usable checkpoint: `messages` is not an array"),
        (
            r#""tokenUsage":{"promptTokens":1,"completionTokens":2}"#,
            "malformed budget state: `tokenUsage.totalTokens` is not a finite number",
        ),
        (r#""costInfo":0"#, "malformed budget state: `costInfo.totalCost` is not a finite number"),
    ] {
        assert_eq!(with_tail(tail).expect_err(tail).to_string(), wanted);
    }
    let pending = |tail| with_tail(tail).expect("usable").pending;
    assert_eq!(pending(r#""pending":null"#), Pending::None);
    let park = park(with_tail(r#""pending":{"request":{"type":"x"},"parkedAt":1}"#));
    assert_eq!((park.request_type, park.deadline_at), (units("x"), None));
    assert_eq!(
        pending(r#""pending":{"request":{"type":"x"},"parkedAt":1,"request":{}}"#),
        Pending::Malformed("`pending.request.type` is not a string")
    );
}

/// Guards the state of a parked run: what is decided must not look open, and a decision that
/// cannot be told must not look like none.
#[test]
fn what_a_run_waits_for_is_told_or_called_malformed() {
    for (value, resolved, at) in [
        (json!(9.5), true, Some(millis(9.5))),
        (json!(null), true, None),
        (json!("soon"), true, None),
    ] {
        let park = park(scan_tree(&with("/pending/resolvedAt", Some(value))));
        assert_eq!((park.resolved, park.resolved_at), (resolved, at));
    }
    for never in [None, Some(json!(null))] {
        assert_eq!(park(scan_tree(&with("/pending/deadlineAt", never))).deadline_at, None);
    }
    assert_eq!(scan_tree(&with("/pending", None)).expect("usable").pending, Pending::None);
    let not_a_number = [Some(json!("8")), Some(json!({})), Some(json!(false))];
    for bad in not_a_number {
        let scanned = scan_tree(&with("/pending/deadlineAt", bad.clone())).expect("usable");
        let wanted = Pending::Malformed("`pending.deadlineAt` is not a finite number");
        assert_eq!(scanned.pending, wanted, "{bad:?}");
    }
    for (pointer, bad, wanted) in [
        ("/pending", Some(json!([])), "`pending` is not an object"),
        ("/pending", Some(json!(false)), "`pending` is not an object"),
        ("/pending", Some(json!({})), "`pending.request.type` is not a string"),
        ("/pending/request", None, "`pending.request.type` is not a string"),
        ("/pending/request", Some(json!("question")), "`pending.request.type` is not a string"),
        ("/pending/request/type", Some(json!(1)), "`pending.request.type` is not a string"),
        ("/pending/parkedAt", None, "`pending.parkedAt` is not a finite number"),
        ("/pending/parkedAt", Some(json!("7")), "`pending.parkedAt` is not a finite number"),
    ] {
        let scanned = scan_tree(&with(pointer, bad.clone())).expect("usable");
        assert_eq!(scanned.pending, Pending::Malformed(wanted), "{pointer}: {bad:?}");
    }
}

/// Guards ids, which need not be text that Rust could hold.
#[test]
fn an_id_keeps_a_surrogate_without_its_partner() {
    let scanned = with_tail(r#""id":"cp_\ud800""#).expect("usable");
    assert_eq!(scanned.id, [units("cp_"), vec![0xD800]].concat());
}

/// The checkpoints of a run in a tree of the vectors, each as the file's bytes.
fn files_of(files: &Tree, row: &Tree) -> Vec<Vec<u8>> {
    let text = |name: &str| row[name].as_str();
    let run = text("runId").expect("a run");
    let run = match text("parentRunId") {
        Some(parent) => format!("{parent}/children/{run}/checkpoints/"),
        None => format!("{run}/checkpoints/"),
    };
    let files = files.as_object().expect("files").iter();
    let of_run = files.filter(|(path, _)| path.starts_with(&run) && path.ends_with(".json"));
    of_run.map(|(_, content)| bytes_of(content)).collect()
}

fn bytes_of(content: &Tree) -> Vec<u8> {
    match content {
        Tree::String(text) => text.clone().into_bytes(),
        tree => serde_json::to_vec_pretty(tree).expect("writable"),
    }
}

/// Guards the rows that existing workers were seen to make of the same files.
#[test]
fn rows_that_were_observed_are_made_of_what_is_scanned() {
    let time =
        |row: &Tree, name: &str| row.get(name).map(|at| millis(at.as_f64().expect("a number")));
    let text = |row: &Tree, name: &str| units(row[name].as_str().expect("a string"));
    let (mut rows, mut parks, mut refusals) = (0, 0, 0);
    for line in include_str!("../../../tests/fixture/vectors/listing.jsonl").lines() {
        let case: Tree = serde_json::from_str(line).expect("JSON");
        let calls = case["calls"].as_array().expect("calls");
        for row in calls.iter().flat_map(|call| call["pages"].as_array()).flatten() {
            for row in row.as_array().expect("a page") {
                rows += 1;
                let files = files_of(&case["files"], row);
                assert_eq!(row["checkpointCount"], files.len(), "{row}");
                let scanned = files.iter().map(|file| scan(file).expect("usable"));
                let scanned: Vec<_> = scanned.collect();
                let latest = scanned.iter().map(|summary| summary.created_at.get());
                let latest = millis(latest.fold(f64::MIN, f64::max));
                assert_eq!(time(row, "latestCheckpointAt"), Some(latest), "{row}");
                let id = text(row, "latestCheckpointId");
                let is_latest = |it: &Summary| it.created_at == latest && it.id == id;
                assert!(scanned.iter().any(is_latest), "{row}");
                let made = scanned.iter().filter_map(|summary| summary.run_created_at);
                let made = made.map(Millis::get).reduce(f64::min).map(millis);
                assert_eq!(time(row, "runCreatedAt"), made, "{row}");

                let of_park = row.get("park").map(|park| text(park, "checkpointId"));
                let parked = scanned.into_iter().filter_map(|summary| match summary.pending {
                    Pending::Parked(park) => Some((Some(summary.id), park)),
                    Pending::None => None,
                    Pending::Malformed(why) => panic!("{why}: {row}"),
                });
                let parked: Vec<_> = parked.collect();
                assert_eq!(of_park.is_some(), !parked.is_empty(), "{row}");
                for (_, park) in parked.into_iter().filter(|(id, _)| *id == of_park) {
                    parks += 1;
                    let shown = &row["park"];
                    assert_eq!(park.request_type, text(shown, "requestType"), "{row}");
                    assert_eq!(Some(park.parked_at), time(shown, "parkedAt"), "{row}");
                    assert_eq!(park.deadline_at, time(shown, "deadlineAt"), "{row}");
                    assert_eq!(park.resolved_at, time(shown, "resolvedAt"), "{row}");
                    assert_eq!(park.resolved, shown["state"] == "resolved", "{row}");
                }
            }
        }
        // Cases of one damaged checkpoint: it, and nothing else, is what the listing was refused for.
        let refused = calls.iter().all(|call| call.get("error").is_some());
        if case["name"].as_str().is_some_and(|name| name.starts_with("checkpoint: ")) {
            refusals += usize::from(refused);
            let files = case["files"].as_object().expect("files").values();
            let bad = files.filter(|file| scan(&bytes_of(file)).is_err()).count();
            assert_eq!(bad, usize::from(refused), "{}", case["name"]);
        }
    }
    assert!(rows > 500 && parks > 400 && refusals >= 5, "{rows} {parks} {refusals}");
}
