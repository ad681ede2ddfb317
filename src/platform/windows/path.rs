//! Paths in the form in which nothing is left to be interpreted.

use super::error::failed;
use crate::env::{FsError, FsResult, Op};
use crate::errno::Errno;
use std::ffi::OsString;
use std::path::{Component, Path, PathBuf, Prefix};

/// A path in its verbatim form. `.` and `..` are taken out here, since the system would look for
/// files of that name.
pub(super) fn verbatim(op: Op, path: &Path) -> FsResult<PathBuf> {
    let mut whole = path.to_path_buf();
    if !path.is_absolute() {
        whole = std::env::current_dir().map_err(failed(op))?.join(path);
    }
    if !whole.is_absolute() {
        // Relative to the current directory of another drive.
        whole = std::path::absolute(path).map_err(failed(op))?;
    }
    let mut parts = whole.components();
    let mut root = OsString::new();
    match parts.next() {
        Some(Component::Prefix(prefix)) => match prefix.kind() {
            Prefix::Disk(letter) => root.push(format!(r"\\?\{}:\", char::from(letter))),
            Prefix::UNC(server, share) => {
                root.push(r"\\?\UNC\");
                root.push(server);
                root.push(r"\");
                root.push(share);
                root.push(r"\");
            }
            _ => return Ok(whole),
        },
        _ => return Err(FsError { op, errno: Errno::EINVAL }),
    }
    let mut verbatim = PathBuf::from(root);
    for part in parts {
        match part {
            // A colon leads to another stream of a file.
            Component::Normal(name) if name.as_encoded_bytes().contains(&b':') => {
                return Err(FsError { op, errno: Errno::EINVAL });
            }
            Component::Normal(name) => verbatim.push(name),
            Component::ParentDir => drop(verbatim.pop()),
            Component::Prefix(_) | Component::RootDir | Component::CurDir => {}
        }
    }
    Ok(verbatim)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Guards the tree that other workers share: two spellings of one path must lead to one
    /// directory, and a name that the system has its own ideas about to the one that Node.js makes.
    #[test]
    fn paths_are_spelled_out() {
        for (path, expected) in [
            (r"C:\runs\a", r"\\?\C:\runs\a"),
            (r"c:/runs/./b/../a/", r"\\?\C:\runs\a"),
            (r"C:\..\..\runs", r"\\?\C:\runs"),
            (r"C:\", r"\\?\C:\"),
            (r"C:\runs\nul\run. ", r"\\?\C:\runs\nul\run. "),
            (r"\\server\share\runs", r"\\?\UNC\server\share\runs"),
            (r"\\server\share", r"\\?\UNC\server\share\"),
            (r"\\?\C:\runs\a", r"\\?\C:\runs\a"),
        ] {
            let spelled = verbatim(Op::Open, Path::new(path)).expect("a path");
            assert_eq!(spelled.as_os_str(), expected, "{path}");
        }
        for path in [r"C:\runs\x:y", r"C:\x:y\claims"] {
            let refused = verbatim(Op::Mkdir, Path::new(path)).expect_err(path);
            assert_eq!(refused, FsError { op: Op::Mkdir, errno: Errno::EINVAL });
        }
        let current = std::env::current_dir().expect("there is a current directory");
        let current = verbatim(Op::Open, &current).expect("a path");
        assert_eq!(verbatim(Op::Open, Path::new(r"runs\a")), Ok(current.join("runs").join("a")));
    }
}
