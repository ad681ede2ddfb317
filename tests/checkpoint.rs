//! Checkpoints on the real file system: what is written, what reads back, what is refused, and
//! what is left on disk.

#![allow(
    clippy::disallowed_methods,
    reason = "a test looks at the disk past the door it is testing"
)]

mod sample;

use fencelink::checkpoint::{self, Write};
use fencelink::claim::{self, Request};
use fencelink::directory::Durability;
use fencelink::env::{Clock, Op};
use fencelink::errno::Errno;
use fencelink::error::{Code, ReadError, WriteError};
use fencelink::platform::System;
use fencelink::types::{Fence, Id};
use sample::millis;
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

const HOUR_MS: f64 = 3_600_000.0;

/// A run's directory that is not there yet, in a temporary one.
struct Run {
    _base: TempDir,
    dir: PathBuf,
}

impl Run {
    fn new() -> Run {
        let base = tempfile::tempdir().expect("a temporary directory");
        let dir = base.path().join("run_1");
        Run { _base: base, dir }
    }

    fn claim(&self, holder: &str) -> Fence {
        let (ttl, now) = (millis(HOUR_MS), millis(0.0));
        let request = Request::new(sample::holder(holder), ttl, now, Durability::Process);
        let lease = claim::acquire(&System, &self.dir, &request.expect("finite"));
        lease.expect("a claim").expect("a free run").fence
    }

    fn write(&self, id: &str, created_at: f64, fence: Option<u64>) -> Result<(), WriteError> {
        self.write_bytes(id, &text(id, created_at), fence, Durability::Process)
    }

    fn write_bytes(
        &self,
        id: &str,
        bytes: &[u8],
        fence: Option<u64>,
        durability: Durability,
    ) -> Result<(), WriteError> {
        let fence = fence.map(|fence| Fence::new(fence).expect("a safe integer"));
        let run_dir = &self.dir;
        checkpoint::write(&System, &Write { run_dir, id, bytes, fence, durability })
    }

    fn read(&self, name: &str) -> Result<Option<Vec<u8>>, ReadError> {
        let read = checkpoint::read(&System, &self.dir, &id(name))?;
        Ok(read.map(|checkpoint| checkpoint.bytes))
    }

    fn ids(&self) -> Vec<String> {
        let list = checkpoint::list(&System, &self.dir).expect("a listing");
        list.iter().map(|found| String::from_utf16_lossy(&found.summary.id)).collect()
    }

    /// The file of a checkpoint, put there without the crate.
    fn put(&self, name: &str, bytes: &[u8]) {
        fs::create_dir_all(self.checkpoints()).expect("directories");
        fs::write(self.checkpoints().join(name), bytes).expect("a file");
    }

    fn checkpoints(&self) -> PathBuf {
        self.dir.join("checkpoints")
    }

    fn claims(&self) -> PathBuf {
        self.dir.join("claims")
    }
}

fn id(text: &str) -> Id {
    Id::new(text.to_owned()).expect("one component")
}

fn text(id: &str, created_at: f64) -> Vec<u8> {
    sample::text(id, created_at, "")
}

fn names(dir: &Path) -> Vec<String> {
    let entries = fs::read_dir(dir).expect("a directory");
    let name = |entry: std::io::Result<fs::DirEntry>| entry.expect("an entry").file_name();
    let mut names: Vec<_> = entries.map(|entry| name(entry).into_string().expect("text")).collect();
    names.sort();
    names
}

/// Guards what a write promises: the bytes as they were given, under the one name, and nothing
/// else left in either directory.
#[test]
fn what_is_written_reads_back_and_nothing_else_is_left() {
    for durability in [Durability::Process, Durability::Power] {
        let run = Run::new();
        for (round, fence) in [None, Some(0), None, Some(7)].into_iter().enumerate() {
            let bytes = text("cp_1", round as f64);
            assert_eq!(run.write_bytes("cp_1", &bytes, fence, durability), Ok(()));
            assert_eq!(run.read("cp_1"), Ok(Some(bytes)));
            assert_eq!(names(&run.checkpoints()), ["cp_1.json"]);
        }
        assert_eq!(names(&run.claims()), [""; 0]);
    }
}

/// Guards the fence: below the current one nothing is written and the old checkpoint stands; at it,
/// above it and without one everything is.
#[test]
fn only_a_fence_below_the_current_one_is_refused() {
    let run = Run::new();
    assert_eq!(run.write("cp_1", 1.0, Some(1)), Ok(()), "a run never claimed");
    for number in 2..=4 {
        run.claim("w");
        assert_eq!(run.write("cp_1", 1.0, Some(number - 1)), Ok(()), "the current one");
    }
    let current = run.claim("w");
    assert_eq!(current.get(), 4);
    let stale = text("cp_1", 2.0);
    for below in 0..current.get() {
        let refused = run.write_bytes("cp_1", &stale, Some(below), Durability::Process);
        let presented = Fence::new(below).expect("a fence");
        let overtaken = WriteError::Overtaken { run: "run_1".into(), presented, current };
        assert_eq!(refused, Err(overtaken));
        assert!(refused.expect_err("refused").to_string().contains("no longer holds it"));
        assert_eq!(run.read("cp_1"), Ok(Some(text("cp_1", 1.0))));
    }
    assert_eq!(names(&run.claims()), ["1.json", "2.json", "3.json", "4.json"]);
    for accepted in [Some(4), Some(5), Some(999_999_999_999_999), Some((1 << 53) - 1), None] {
        assert_eq!(run.write("cp_1", 3.0, accepted), Ok(()), "{accepted:?}");
    }
    claim::release(&System, &run.dir, current, Durability::Process).expect("a release");
    assert!(matches!(run.write("cp_1", 4.0, Some(4)), Err(WriteError::Overtaken { .. })));
    assert_eq!(names(&run.claims()).len(), 5);
}

/// Guards the order in which a run is restored, which other workers share: by time, and by the
/// order of names where times are the same, whatever order the volume lists in.
#[test]
fn checkpoints_come_oldest_first_and_equal_ones_by_name() {
    let run = Run::new();
    for (name, created_at) in
        [("b", 5.0), ("é", 5.0), ("Z", 5.0), ("a", 9.0), ("c", -1.0), ("x", 0.0), ("y", -0.0)]
    {
        run.put(&format!("{name}.json"), &text(name, created_at));
    }
    for other in ["d.json.17.tmp", ".tmp-1-0-ab", "d.JSON", "readme.txt", "json"] {
        run.put(other, b"no checkpoint");
    }
    assert_eq!(run.ids(), ["c", "x", "y", "Z", "b", "é", "a"]);
    run.put(".tmp-d.json", &text("hidden", 99.0));
    assert_eq!(
        run.ids().last().map(String::as_str),
        Some("hidden"),
        "a name ends in .json: it counts"
    );
}

/// Guards strictness: what is there and cannot be used is never passed over or taken for absent.
#[test]
fn one_file_that_cannot_be_used_refuses_what_needs_it() {
    let budget = r#"{"id":"x","iteration":1,"createdAt":1,"messages":[]}"#;
    for (bytes, said) in [
        (&b""[..], "not a usable checkpoint"),
        (b"{", "not a usable checkpoint"),
        (b"[]", "not a usable checkpoint"),
        (b"\xef\xbb\xbf{}", "not a usable checkpoint"),
        (budget.as_bytes(), "malformed budget state"),
        (br#"{"schemaVersion":7}"#, "schema version 7"),
    ] {
        let run = Run::new();
        run.put("good.json", &text("good", 1.0));
        run.put("bad.json", bytes);
        let listed = checkpoint::list(&System, &run.dir).map(|found| found.len());
        for refused in [listed.expect_err("a bad file"), run.read("bad").expect_err("a bad file")] {
            let message = refused.to_string();
            assert!(message.contains(said) && message.contains("bad.json"), "{message}");
            assert_eq!((refused.code(), refused.is_retryable()), (Code::StorageError, false));
        }
        assert_eq!(run.read("good"), Ok(Some(text("good", 1.0))));
        assert_eq!(checkpoint::delete(&System, &run.dir, &id("bad"), Durability::Process), Ok(()));
        assert_eq!(run.ids(), ["good"]);
    }
}

/// Guards against a name that is there without being a file: not to be opened for ever, nor to be
/// taken for a checkpoint that was deleted.
#[cfg(unix)]
#[test]
fn what_is_not_a_file_is_refused_without_blocking() {
    let run = Run::new();
    run.put("good.json", &text("good", 1.0));
    let at = |name: &str| run.checkpoints().join(name);
    fs::create_dir(at("directory.json")).expect("a directory");
    std::os::unix::fs::symlink("nowhere", at("link.json")).expect("a link");
    let made = std::process::Command::new("mkfifo").arg(at("pipe.json")).status();
    assert!(made.expect("mkfifo").success());
    for name in ["directory", "link", "pipe"] {
        let ReadError::Unusable { file, why, .. } = run.read(name).expect_err(name) else {
            unreachable!("{name} was said to have failed to be read")
        };
        assert_eq!(file, format!("{name}.json"));
        assert!(why.to_string().contains("not a usable checkpoint"), "{why}");
    }
    assert!(checkpoint::list(&System, &run.dir).is_err());
    let whole = text("good", 2.0);
    std::os::unix::fs::symlink("good.json", at("other.json")).expect("a link");
    fs::write(at("good.json"), &whole).expect("a file");
    assert_eq!(run.read("other"), Ok(Some(whole)), "links are followed");
}

/// Guards that looking at a run leaves no trace, and that what is absent is no error.
#[test]
fn what_is_absent_is_absent_and_stays_so() {
    let run = Run::new();
    for _ in 0..2 {
        assert_eq!(run.read("cp_1"), Ok(None));
        assert_eq!(run.ids(), [""; 0]);
        assert_eq!(checkpoint::delete(&System, &run.dir, &id("cp_1"), Durability::Power), Ok(()));
        assert!(!run.dir.exists());
    }
    assert_eq!(run.write("cp_1", 1.0, None), Ok(()));
    assert_eq!(run.read("cp_2"), Ok(None));
    assert_eq!(checkpoint::delete(&System, &run.dir, &id("cp_2"), Durability::Power), Ok(()));
    assert_eq!(checkpoint::delete(&System, &run.dir, &id("cp_1"), Durability::Power), Ok(()));
    assert_eq!(run.read("cp_1"), Ok(None));
    assert_eq!(names(&run.dir), ["checkpoints"]);
}

/// Guards the errors of the system: never taken for an absent checkpoint, and each tells the step,
/// the errno and the place.
#[test]
fn a_step_that_fails_is_told() {
    let run = Run::new();
    fs::create_dir(&run.dir).expect("a directory");
    fs::write(run.checkpoints(), "in the way").expect("a file");
    let read = run.read("cp_1").expect_err("no directory");
    let ReadError::Storage { dir, cause, .. } = &read else { unreachable!("{read}") };
    assert_eq!((dir, cause.op, cause.errno), (&run.checkpoints(), Op::Open, Errno::ENOTDIR));
    assert!(checkpoint::list(&System, &run.dir).is_err());
    assert!(checkpoint::delete(&System, &run.dir, &id("cp_1"), Durability::Process).is_err());

    let run = Run::new();
    let long = "x".repeat(300);
    for fence in [None, Some(1)] {
        let refused = run.write(&long, 1.0, fence).expect_err("too long a name");
        let WriteError::Storage { dir, cause, .. } = &refused else { unreachable!("{refused}") };
        assert_eq!(dir, &run.checkpoints());
        // Windows has several errors for it.
        assert!(cfg!(windows) || cause.errno == Errno::ENAMETOOLONG, "{refused}");
        assert!(refused.to_string().contains(&cause.errno.to_string()), "{refused}");
        assert_eq!(names(&run.checkpoints()), [""; 0]);
    }
    assert_eq!(names(&run.claims()), [""; 0]);
}

/// Guards the old checkpoint where the new one cannot be put in its place, and that no litter is
/// left then.
#[test]
fn a_checkpoint_that_cannot_be_replaced_leaves_no_litter() {
    let run = Run::new();
    fs::create_dir_all(run.checkpoints().join("cp_1.json/in the way")).expect("directories");
    for fence in [None, Some(1)] {
        let refused = run.write("cp_1", 1.0, fence).expect_err("a directory is in the way");
        let WriteError::Storage { cause, file, .. } = &refused else { unreachable!("{refused}") };
        assert_eq!((cause.op, file.as_deref()), (Op::Rename, Some("cp_1.json")));
        assert_eq!(names(&run.checkpoints()), ["cp_1.json"]);
    }
    assert_eq!(names(&run.claims()), [""; 0]);
}

/// Guards the bound on litter: what writers that crashed have left goes with the next write of its
/// kind once it is ten minutes old, and what is younger, or no scratch, stays.
#[test]
fn scratch_of_crashed_writers_goes_by_its_age() {
    let run = Run::new();
    for name in [".tmp-1-0-old", ".tmp-1-1-young", ".tmp-old.json", "other.tmp"] {
        run.put(name, &text(name, 1.0));
    }
    let now_ms = System.now_ms() as u64;
    let ages =
        [(".tmp-1-0-old", 11), (".tmp-1-1-young", 9), (".tmp-old.json", 60), ("other.tmp", 60)];
    for (name, minutes) in ages {
        #[allow(clippy::disallowed_types, reason = "as above")]
        let file = fs::File::options().write(true).open(run.checkpoints().join(name));
        let then = std::time::Duration::from_millis(now_ms - minutes * 60_000);
        file.expect("a file").set_modified(std::time::UNIX_EPOCH + then).expect("a time");
    }
    assert_eq!(run.write("cp_1", 1.0, None), Ok(()));
    let left = [".tmp-1-1-young", ".tmp-old.json", "cp_1.json", "other.tmp"];
    assert_eq!(names(&run.checkpoints()), left);
}
