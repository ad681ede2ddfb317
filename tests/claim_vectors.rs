//! The claim protocol as existing workers were seen to speak it: every case of
//! `fixture/vectors/claims.jsonl`, through the crate's own functions, on the real file system.
//! Written against `World`, so that a simulated one can be held to the same.

#![allow(clippy::panic, reason = "that is how a test fails")]

mod vectors;

use fencelink::claim::{self, Request};
use fencelink::directory::Durability;
use fencelink::env::{Contents, World};
use fencelink::names;
use fencelink::platform::System;
use fencelink::types::{Fence, Holder, Lease, Millis};
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::Path;
use vectors::Tree;

const CASES: &str = include_str!("fixture/vectors/claims.jsonl");

/// Writes what `claims/` holds at first. `null` is a run without a directory.
fn put<W: World>(world: &W, run_dir: &Path, files: &Tree) {
    if *files == Tree::Null {
        return;
    }
    let claims = names::claims_dir(run_dir);
    world.make_dir(run_dir).expect("a run's directory");
    world.make_dir(&claims).expect("its claims");
    let dir = world.open_dir(&claims).expect("they open");
    for (name, content) in files.members() {
        let mut file = world.create(&dir, OsStr::new(name)).expect("a new file");
        world.write(&mut file, &content.content()).expect("it takes its bytes");
        world.close(file).expect("it closes");
    }
}

/// What `claims/` holds in the end: names and bytes.
fn found<W: World>(world: &W, run_dir: &Path) -> BTreeMap<String, Vec<u8>> {
    let Ok(dir) = world.open_dir(&names::claims_dir(run_dir)) else {
        return BTreeMap::new();
    };
    let mut names = Vec::new();
    world.list(&dir, &mut |name, _| names.push(name.to_owned())).expect("a listing");
    let contents = names.into_iter().map(|name| match world.read(&dir, &name, 1 << 24) {
        Ok(Contents::Bytes(bytes)) => (name.into_string().expect("a name in UTF-8"), bytes),
        other => panic!("{name:?}: {other:?}"),
    });
    contents.collect()
}

fn lease(result: &Tree) -> Option<Lease> {
    let fence = Fence::from_f64(result.get("fence")?.number()?).expect("a fence");
    let expires_at = Millis::new(result.get("expiresAt")?.number()?).expect("finite");
    let holder = result.get("holder")?.units()?.to_vec();
    Some(Lease { holder: Holder::new(holder).unwrap_or_default(), fence, expires_at })
}

/// Runs one step, and compares what it answers.
fn step<W: World>(world: &W, run_dir: &Path, step: &Tree) {
    let told = format!("{step:?}");
    let result = step.get("result").expect("a result");
    match step.get("op").and_then(Tree::text).as_deref() {
        Some("acquire") => {
            let options = step.get("options").expect("options");
            let holder = options.get("holder").and_then(Tree::units).expect("a holder");
            let millis = |key| options.get(key).and_then(Tree::number).and_then(Millis::new);
            let request = Request::new(
                Holder::new(holder.to_vec()).expect("not empty"),
                millis("ttlMs").expect("finite"),
                millis("now").expect("finite"),
                Durability::Process,
            );
            let taken = claim::acquire(world, run_dir, &request.expect("a finite end"));
            assert_eq!(taken, Ok(lease(result)), "{told}");
        }
        Some("release") => {
            let fence = step.get("fence").and_then(Tree::number).and_then(Fence::from_f64);
            let released =
                claim::release(world, run_dir, fence.expect("a fence"), Durability::Process);
            assert_eq!((released, result), (Ok(()), &Tree::Null), "{told}");
        }
        Some("read") => assert_eq!(claim::read(world, run_dir), Ok(lease(result)), "{told}"),
        Some("currentFence") => {
            let fence = result.number().and_then(Fence::from_f64).expect("a fence");
            assert_eq!(claim::current_fence(world, run_dir), Ok(fence), "{told}");
        }
        other => panic!("an operation that this test does not know: {other:?}"),
    }
}

/// Holder and expiry of a body, as far as it has them; keys of our own do not count. The cases
/// are JSON, which has `null` for what is not finite.
fn reading(tree: &Tree) -> (Option<Tree>, Option<Tree>) {
    let expires_at = match tree.get("expiresAt") {
        Some(Tree::Number(number)) if !number.is_finite() => Some(Tree::Null),
        other => other.cloned(),
    };
    (tree.get("holder").cloned(), expires_at)
}

fn compare(name: &str, after: &Tree, found: &BTreeMap<String, Vec<u8>>) {
    let mut wanted: Vec<&str> = after.members().iter().map(|(name, _)| name.as_str()).collect();
    wanted.sort_unstable();
    assert_eq!(found.keys().map(String::as_str).collect::<Vec<_>>(), wanted, "{name}: names");
    for (file, content) in after.members() {
        let bytes = &found[file];
        match content.get("unparsed") {
            _ if content.text().as_deref() == Some("kept") => {}
            Some(encoded) => {
                let encoded = Tree::Object(vec![("b64".to_owned(), encoded.clone())]);
                assert_eq!(*bytes, encoded.content(), "{name}: {file}");
                assert_eq!(Tree::parse(bytes), None, "{name}: {file} is not JSON");
            }
            None => {
                let parsed = Tree::parse(bytes).expect("a body");
                assert_eq!(reading(&parsed), reading(content), "{name}: {file}");
            }
        }
    }
}

/// Whether this system can have the files of a case: in Windows' names some characters never are.
fn can_be_laid(case: &Tree) -> bool {
    let is_kept = |c: char| c < ' ' || "<>:\"|?*".contains(c);
    let files = case.get("files").expect("files").members();
    !cfg!(windows) || !files.iter().any(|(name, _)| name.contains(is_kept))
}

/// Runs every case in a directory of its own below `root`; answers how many there were.
fn run_all<W: World>(world: &W, root: &Path) -> usize {
    let mut count = 0;
    for (number, line) in CASES.lines().enumerate() {
        let case = Tree::parse(line.as_bytes()).expect("a case");
        if !can_be_laid(&case) {
            continue;
        }
        count += 1;
        let name = case.get("name").and_then(Tree::text).expect("a name");
        let run_dir = root.join(format!("run_{number}"));
        put(world, &run_dir, case.get("files").expect("files"));
        for one in case.get("steps").expect("steps").elements() {
            step(world, &run_dir, one);
        }
        compare(&name, case.get("after").expect("what is left"), &found(world, &run_dir));
    }
    count
}

/// Guards every line of the protocol that workers without this crate speak.
#[test]
fn observed_claims_are_reproduced() {
    let root = tempfile::tempdir().expect("a directory");
    assert!(
        run_all(&System, root.path()) >= if cfg!(windows) { 250 } else { 260 },
        "cases are missing"
    );
}
