//! Listings as existing workers were seen to answer them: every case of
//! `fixture/vectors/listing.jsonl`, through the crate's own functions, on the real file system.
//! What a scope means is the face's to say: here are the calls that read the tree.

#![allow(clippy::panic, reason = "that is how a test fails")]

mod vectors;

use fencelink::env::World;
use fencelink::error::{ListError, ReadError};
use fencelink::json::{push_number, push_units};
use fencelink::listing::{
    Cursor, Filter, Kept, Order, Page, ParkState, Query, USUAL_LIMIT, limit, list, push_scope,
};
use fencelink::platform::System;
use fencelink::types::Millis;
use std::ffi::OsStr;
use std::path::Path;
use vectors::Tree;

const CASES: &str = include_str!("fixture/vectors/listing.jsonl");

/// Makes a directory and what is missing above it, down from `base`.
fn make_dirs<W: World>(world: &W, base: &Path, below: &Path) {
    let mut path = base.to_owned();
    for part in below {
        path.push(part);
        let _ = world.make_dir(&path);
    }
}

/// Writes the files of a case. An object is written as JSON; `null` is an empty directory.
fn put<W: World>(world: &W, base: &Path, files: &Tree) {
    world.make_dir(base).expect("a new directory");
    for (path, content) in files.members() {
        let path = Path::new(path);
        if *content == Tree::Null {
            make_dirs(world, base, path);
            continue;
        }
        let parent = path.parent().expect("a path of files");
        make_dirs(world, base, parent);
        let dir = world.open_dir(&base.join(parent)).expect("a directory");
        let name = path.file_name().expect("a name");
        let mut file = world.create(&dir, OsStr::new(name)).expect("a new file");
        world.write(&mut file, &bytes(content)).expect("it takes its bytes");
        world.close(file).expect("it closes");
    }
}

fn bytes(content: &Tree) -> Vec<u8> {
    match content {
        Tree::Text(_) => content.content(),
        other => {
            let mut out = Vec::new();
            push_tree(&mut out, other);
            out
        }
    }
}

fn push_tree(out: &mut Vec<u8>, tree: &Tree) {
    match tree {
        Tree::Null => out.extend_from_slice(b"null"),
        Tree::Boolean(value) => out.extend_from_slice(value.to_string().as_bytes()),
        Tree::Number(number) => push_number(out, *number),
        Tree::Text(units) => push_units(out, units),
        Tree::Array(elements) => push_all(out, b"[]", elements, push_tree),
        Tree::Object(members) => push_all(out, b"{}", members, |out, (key, value)| {
            push_units(out, &key.encode_utf16().collect::<Vec<_>>());
            out.push(b':');
            push_tree(out, value);
        }),
    }
}

fn push_all<T>(out: &mut Vec<u8>, brackets: &[u8; 2], all: &[T], push: fn(&mut Vec<u8>, &T)) {
    out.push(brackets[0]);
    for (number, one) in all.iter().enumerate() {
        out.extend_from_slice(if number > 0 { b"," } else { b"" });
        push(out, one);
    }
    out.push(brackets[1]);
}

fn query(options: &Tree) -> Query {
    let number = |key| options.get(key).and_then(Tree::number);
    let parks = options.get("park").map(Tree::elements).unwrap_or_default().iter();
    let state = |wanted: &Tree| {
        let wanted = wanted.text();
        ParkState::ALL.into_iter().find(|state| wanted.as_deref() == Some(state.as_str()))
    };
    let claimed = match options.get("claimed") {
        Some(Tree::Boolean(claimed)) => Some(*claimed),
        _ => None,
    };
    let order = match options.get("orderBy").and_then(Tree::text).as_deref() {
        Some("createdAt") => Order::CreatedAt,
        _ => Order::RunId,
    };
    Query {
        order,
        filter: Filter::new(parks.map(|park| state(park).expect("a state")), claimed),
        limit: number("limit").map_or(USUAL_LIMIT, limit),
        after: None,
        now: number("now").and_then(Millis::new).expect("the present"),
        report: false,
    }
}

/// Whether the call reads the tree: its scope is the store's, or a prefix of it.
fn reads_the_tree(case: &Tree, call: &Tree) -> bool {
    let scope = call.get("scope").expect("a scope");
    let own = case.get("attribution").expect("an attribution");
    let is_own = |key: &str| scope.get(key).is_none_or(|id| Some(id) == own.get(key));
    let is_contiguous = scope.get("sessionId").is_none() || scope.get("projectId").is_some();
    is_contiguous && ["tenantId", "projectId", "sessionId"].iter().all(|key| is_own(key))
}

fn rows(page: &Page, attribution: &Tree) -> Vec<Tree> {
    let id = |key: &str| attribution.get(key).and_then(Tree::units).expect("an id");
    let mut scope = Vec::new();
    push_scope(&mut scope, id("tenantId"), id("projectId"), id("sessionId"));
    let tree = |row: &fencelink::listing::Row| {
        let mut text = Vec::new();
        row.push_json(&mut text, &scope);
        Tree::parse(&text).expect("JSON")
    };
    page.rows.iter().map(tree).collect()
}

/// Walks a listing to its end, with every cursor as text.
fn walk<W: World + Sync>(
    world: &W,
    base: &Path,
    mut query: Query,
    attribution: &Tree,
) -> Result<Vec<Vec<Tree>>, ListError> {
    let (mut pages, kept) = (Vec::new(), Kept::new());
    loop {
        let page = list(world, base, &query, &kept)?;
        pages.push(rows(&page, attribution));
        let Some(cursor) = page.cursor else {
            return Ok(pages);
        };
        query.after = Some(Cursor::decode(&cursor.encode(), query.order).expect("its own"));
    }
}

/// Runs every case in a directory of its own below `root`; answers how many listings there were.
fn run_all<W: World + Sync>(world: &W, root: &Path) -> usize {
    let mut listings = 0;
    for (number, line) in CASES.lines().enumerate() {
        let case = Tree::parse(line.as_bytes()).expect("a case");
        let name = case.get("name").and_then(Tree::text).expect("a name");
        let base = root.join(number.to_string());
        put(world, &base, case.get("files").expect("files"));
        let attribution = case.get("attribution").expect("an attribution");
        for call in case.get("calls").expect("calls").elements() {
            if !reads_the_tree(&case, call) {
                continue;
            }
            listings += 1;
            let options = call.get("options").expect("options");
            let listed = walk(world, &base, query(options), attribution);
            match (call.get("pages"), listed) {
                (Some(pages), Ok(listed)) => {
                    let wanted: Vec<_> =
                        pages.elements().iter().map(|page| page.elements().to_vec()).collect();
                    assert_eq!(listed, wanted, "{name}: {options:?}");
                }
                (None, Err(ListError::Read(ReadError::Unusable { file, .. }))) => {
                    assert_eq!(file, "cp_b.json", "{name}");
                }
                (pages, listed) => panic!("{name}: {options:?}: {listed:?} for {pages:?}"),
            }
        }
    }
    listings
}

/// Guards every row, filter, order and page that hosts have seen.
#[test]
fn observed_listings_are_reproduced() {
    let root = tempfile::tempdir().expect("a directory");
    assert!(run_all(&System, root.path()) >= 299, "cases are missing");
}
