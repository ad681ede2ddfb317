//! The real system on a temporary directory, and what only it can be asked.

use crate::bench::{Bench, Odd, names, open, put, refused};
use fencelink::env::{Fs, FsError, Op};
use fencelink::errno::Errno;
use fencelink::platform::System;
use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::path::Path;
use tempfile::TempDir;

crate::conformance!(RealBench);

struct RealBench {
    root: TempDir,
    system: System,
}

impl Bench for RealBench {
    type Fs = System;

    /// On Linux the temporary directory has to be on a local volume.
    const NAMELESS: bool = cfg!(target_os = "linux");

    const TELLS_ENOTDIR: bool = cfg!(unix);

    fn new() -> RealBench {
        RealBench { root: TempDir::new().expect("a temporary directory"), system: System }
    }

    fn fs(&self) -> &System {
        &self.system
    }

    fn root(&self) -> &Path {
        self.root.path()
    }

    fn difficult_names(&self) -> Vec<OsString> {
        let mut names: Vec<OsString> =
            ["7.json.bak", "0x10.json", " 8.json", "٧.json", "é", &"n".repeat(255)]
                .map(OsString::from)
                .into();
        names.extend(unix::difficult_names());
        names
    }

    fn odd(&self, name: &str, odd: Odd) -> bool {
        let path = self.root().join(name);
        if odd == Odd::Directory {
            std::fs::create_dir(path).expect("a directory is made");
            return true;
        }
        unix::odd(&path, odd)
    }

    fn symlink(&self, name: &str, target: &str) -> bool {
        unix::symlink(&self.root().join(name), target)
    }

    fn pipe_with(&self, name: &str, bytes: &[u8], meanwhile: &dyn Fn()) -> Option<Vec<u8>> {
        unix::pipe_with(&self.root().join(name), bytes, meanwhile)
    }

    fn move_dir(&self, from: &str, to: &str) -> bool {
        let moved = std::fs::rename(self.root().join(from), self.root().join(to));
        assert_eq!(moved.is_ok(), cfg!(unix), "{moved:?}");
        moved.is_ok()
    }

    fn remove_dir(&self, name: &str) -> bool {
        let removed = std::fs::remove_dir(self.root().join(name));
        assert_eq!(removed.is_ok(), cfg!(unix), "{removed:?}");
        removed.is_ok()
    }
}

#[cfg(unix)]
mod unix {
    use crate::bench::Odd;
    use std::ffi::OsString;
    use std::io::{Read, Write};
    use std::os::unix::fs::symlink as make_link;
    use std::os::unix::net::UnixListener;
    use std::path::Path;
    use std::process::Command;

    pub(super) fn difficult_names() -> Vec<OsString> {
        let mut names: Vec<OsString> =
            ["7.json\n", "7.json ", "7.json.", "a\\b", "a:b", "*?\"<>|", "\u{1}"]
                .map(OsString::from)
                .into();
        if cfg!(target_os = "linux") {
            use std::os::unix::ffi::OsStringExt;
            names.push(OsString::from_vec(b"\xff\xfe.json".to_vec()));
            // The same letter composed otherwise; macOS finds the one by the other.
            names.push("e\u{301}".into());
        }
        names
    }

    fn make_pipe(path: &Path) {
        let made = Command::new("mkfifo").arg(path).status().expect("mkfifo runs");
        assert!(made.success(), "mkfifo: {made}");
    }

    pub(super) fn odd(path: &Path, odd: Odd) -> bool {
        match odd {
            Odd::Directory => return false,
            Odd::Pipe => make_pipe(path),
            // The name outlives the listener.
            Odd::Socket => drop(UnixListener::bind(path).expect("a socket is bound")),
            Odd::Device => make_link("/dev/zero", path).expect("a link is made"),
        }
        true
    }

    pub(super) fn symlink(path: &Path, target: &str) -> bool {
        make_link(target, path).expect("a link is made");
        true
    }

    pub(super) fn pipe_with(path: &Path, bytes: &[u8], meanwhile: &dyn Fn()) -> Option<Vec<u8>> {
        make_pipe(path);
        // Open both ways, which waits for nobody.
        let mut both = std::fs::OpenOptions::new().read(true).write(true).open(path);
        let both = both.as_mut().expect("a pipe opens both ways");
        both.write_all(bytes).expect("it takes bytes");
        meanwhile();
        let mut left = vec![0; bytes.len()];
        both.read_exact(&mut left).expect("it gives them back");
        Some(left)
    }
}

#[cfg(not(unix))]
mod unix {
    use crate::bench::Odd;
    use std::ffi::OsString;
    use std::path::Path;

    pub(super) fn difficult_names() -> Vec<OsString> {
        // The verbatim form of a path takes these, which the ordinary one would alter.
        ["nul", "con.json", "7.json ", "7.json."].map(OsString::from).into()
    }

    pub(super) fn odd(_path: &Path, _odd: Odd) -> bool {
        false
    }

    pub(super) fn symlink(_path: &Path, _target: &str) -> bool {
        // Making one takes a privilege that tests do not have.
        false
    }

    pub(super) fn pipe_with(_path: &Path, _bytes: &[u8], _then: &dyn Fn()) -> Option<Vec<u8>> {
        None
    }
}

/// Guards the directory's border: a name made from outside must not lead out of it, and one that
/// the system cannot take is an error and no panic.
#[test]
fn a_name_that_leads_elsewhere_is_einval() {
    let bench = RealBench::new();
    let (fs, dir) = (bench.fs(), open(&bench));
    put(fs, &dir, "file", b"");
    let mut names = vec!["sub/file", "../file", "/etc/passwd", "a\0b"];
    if cfg!(windows) {
        names.extend(["sub\\file", "C:\\file", "file:stream", "..", ""]);
    }
    for name in names.into_iter().map(OsStr::new) {
        let good = OsStr::new("file");
        refused(fs.exists(&dir, name), Op::Stat, Errno::EINVAL);
        refused(fs.modified_ms(&dir, name), Op::Stat, Errno::EINVAL);
        refused(fs.read(&dir, name, 10), Op::Open, Errno::EINVAL);
        refused(fs.create(&dir, name), Op::Create, Errno::EINVAL);
        refused(fs.link(&dir, name, good), Op::Link, Errno::EINVAL);
        refused(fs.link(&dir, good, name), Op::Link, Errno::EINVAL);
        refused(fs.unlink(&dir, name), Op::Unlink, Errno::EINVAL);
        refused(fs.rename(&dir, name, &dir, good), Op::Rename, Errno::EINVAL);
        refused(fs.rename(&dir, good, &dir, name), Op::Rename, Errno::EINVAL);
        if let Ok(file) = fs.create_nameless(&dir) {
            refused(fs.link_nameless(&file, &dir, name), Op::Link, Errno::EINVAL);
        }
    }
    refused(fs.open_dir(Path::new("a\0b")), Op::Open, Errno::EINVAL);
    refused(fs.make_dir(Path::new("a\0b")), Op::Mkdir, Errno::EINVAL);
}

/// Guards deep trees of sub-runs on Windows, where an ordinary path ends at 260 characters, and
/// paths that are not in their plainest form.
#[test]
fn long_and_indirect_paths_lead_where_they_say() {
    let bench = RealBench::new();
    let fs = bench.fs();
    let mut path = bench.root().to_path_buf();
    for _ in 0..10 {
        path.push("d".repeat(50));
        fs.make_dir(&path).expect("a directory is made");
    }
    path.extend([".", "..", &"d".repeat(50)]);
    let dir = fs.open_dir(&path).expect("a long path opens");
    put(fs, &dir, "7.json", b"");
    let here = fs.open_dir(Path::new(".")).expect("the current directory opens");
    let current = std::env::current_dir().expect("there is a current directory");
    let current = fs.open_dir(&current).expect("it opens by its own path");
    assert_eq!(names(fs, &here), names(fs, &current));
}

/// Guards messages and hosts that match on them: an errno is told by its name.
#[test]
fn errnos_are_told_by_name() {
    let named: BTreeSet<String> = Errno::NAMED.iter().map(ToString::to_string).collect();
    assert_eq!(named.len(), Errno::NAMED.len());
    assert!(named.iter().all(|name| name.starts_with('E') && name.is_ascii()));
    assert_eq!(Errno::Other(4711).to_string(), "errno 4711");
    let error = FsError { op: Op::Link, errno: Errno::EEXIST };
    assert_eq!(error.to_string(), "EEXIST (link)");
}
