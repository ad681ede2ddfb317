//! Every name that the protocol puts on disk: how it is written and how it is recognised. Nothing
//! else in the crate knows what a name looks like.
//!
//! A holding's name is its fence and nothing else, so that all takers of one fence meet at one
//! name, and the order of holdings is never hidden by damage to a body.

use crate::env::{Entropy, FsResult};
use crate::types::Fence;
use std::path::{Path, PathBuf};

/// The directory of a run's holdings, within the run's directory.
pub const CLAIMS: &str = "claims";

/// The directory of a run's checkpoints, within the run's directory.
pub const CHECKPOINTS: &str = "checkpoints";

/// The directory of a run's sub-runs, within the run's directory.
pub const CHILDREN: &str = "children";

const RUN_START: &str = "run_";
const FILE_END: &str = ".json";
const SCRATCH_START: &str = ".tmp-";
const STAGED_START: &str = ".tmp-w";
const FENCE_DIGITS: usize = 15;

/// A run's claims directory.
pub fn claims_dir(run_dir: &Path) -> PathBuf {
    run_dir.join(CLAIMS)
}

/// A run's checkpoints directory.
pub fn checkpoints_dir(run_dir: &Path) -> PathBuf {
    run_dir.join(CHECKPOINTS)
}

/// A run's sub-runs, each a directory in this one.
pub fn children_dir(run_dir: &Path) -> PathBuf {
    run_dir.join(CHILDREN)
}

/// Whether a directory of this name is a run's.
pub fn is_run(name: &[u8]) -> bool {
    name.starts_with(RUN_START.as_bytes())
}

/// A run's directory: at the top, or one level below the run that it belongs to.
pub fn run_dir(base: &Path, parent_run: Option<&str>, run: &str) -> PathBuf {
    match parent_run {
        Some(parent) => children_dir(&base.join(parent)).join(run),
        None => base.join(run),
    }
}

/// The directories that hold the entries by which a run's own directories are found, from its own
/// up to the one that all runs are under.
pub fn way_to(run_dir: &Path) -> impl Iterator<Item = &Path> {
    let is_sub_run = run_dir.parent().and_then(Path::file_name).is_some_and(|dir| dir == CHILDREN);
    let above = run_dir.ancestors().take(if is_sub_run { 4 } else { 2 });
    above.map(|dir| if dir.as_os_str().is_empty() { Path::new(".") } else { dir })
}

/// What a name in a claims directory stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Name {
    /// A published fence.
    Holding(Fence),
    /// A checkpoint write of that fence that is not visible yet.
    Staged(Fence),
    /// A file that nobody reads.
    Scratch,
    /// Somebody else's; left alone.
    Foreign,
}

impl Name {
    /// Recognises a whole name, given as the bytes the platform has for it.
    pub fn parse(name: &[u8]) -> Name {
        if let Some(rest) = name.strip_prefix(STAGED_START.as_bytes()) {
            let digits = rest.split(|byte| *byte == b'-').next().unwrap_or_default();
            if let (Some(fence), true) = (parse_fence(digits), digits.len() < rest.len()) {
                return Name::Staged(fence);
            }
        }
        if name.starts_with(SCRATCH_START.as_bytes()) {
            return Name::Scratch;
        }
        let digits = name.strip_suffix(FILE_END.as_bytes());
        digits.and_then(parse_fence).map_or(Name::Foreign, Name::Holding)
    }
}

/// One to fifteen ASCII digits, the whole of it.
fn parse_fence(digits: &[u8]) -> Option<Fence> {
    if digits.is_empty() || digits.len() > FENCE_DIGITS {
        return None;
    }
    let mut number = 0u64;
    for digit in digits {
        if !digit.is_ascii_digit() {
            return None;
        }
        number = number * 10 + u64::from(digit - b'0');
    }
    Fence::new(number)
}

/// Whether the name of a holding has zeros in front, as no worker of this protocol writes it.
pub fn is_padded(holding: &[u8]) -> bool {
    holding.starts_with(b"0") && holding != b"0.json"
}

/// The name under which `fence` is published.
pub fn holding(fence: Fence) -> String {
    mutant!(ExpiryInName => return crate::sim::wrong::name_with_expiry(fence));
    format!("{fence}{FILE_END}")
}

/// What tells one attempt from every other, of this process and any: process, count, randomness.
/// Fails when the system has no randomness to give.
pub fn unique(entropy: &impl Entropy) -> FsResult<String> {
    let random = entropy.random()?;
    Ok(format!("{}-{}-{random:016x}", entropy.process_id(), entropy.count()))
}

/// The name of the scratch file of an attempt that [`unique`] named.
pub fn scratch(unique: &str) -> String {
    format!("{SCRATCH_START}{unique}")
}

/// The name of a checkpoint write staged under `fence` by an attempt that [`unique`] named.
pub fn staged(fence: Fence, unique: &str) -> String {
    format!("{STAGED_START}{fence}-{unique}")
}

/// The file of a checkpoint.
pub fn checkpoint(id: &str) -> String {
    format!("{id}{FILE_END}")
}

/// Whether a name in a checkpoints directory is a checkpoint's.
pub fn is_checkpoint(name: &[u8]) -> bool {
    name.ends_with(FILE_END.as_bytes())
}

/// Whether a name in a checkpoints directory is that of a write that is not done.
pub fn is_scratch(name: &[u8]) -> bool {
    name.starts_with(SCRATCH_START.as_bytes()) && !is_checkpoint(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::env::{FsError, Op};
    use crate::errno::Errno;

    fn fence(number: u64) -> Fence {
        Fence::new(number).expect("a safe integer")
    }

    /// Guards the one pattern of a holding: a name that merely looks numeric must not move the
    /// counter, or a stray file could hand a run to nobody for ever.
    #[test]
    fn only_one_to_fifteen_ascii_digits_and_json_make_a_holding() {
        for (name, number) in [
            ("1.json", 1),
            ("007.json", 7),
            ("0.json", 0),
            ("999999999999999.json", 999_999_999_999_999),
        ] {
            assert_eq!(Name::parse(name.as_bytes()), Name::Holding(fence(number)), "{name}");
        }
        for name in [
            "0x10.json",
            "1e3.json",
            " 7.json",
            "7.json ",
            "7.JSON",
            "7.json\n",
            "7\n.json",
            "7",
            ".json",
            "+7.json",
            "-7.json",
            ".7.json",
            "7.json.bak",
            "1234567890123456.json",
            "0000000000000007.json",
            "٧.json",
            "7.0.json",
            "x.json",
            "",
            "7.jso",
            "json",
        ] {
            assert_eq!(Name::parse(name.as_bytes()), Name::Foreign, "{name:?}");
        }
    }

    /// Guards the seal: a staged write must be told from scratch, with its fence, or a taker
    /// would leave a stale write to be renamed later.
    #[test]
    fn staged_writes_and_scratch_are_told_apart() {
        assert_eq!(Name::parse(staged(fence(12), "9-0-ab").as_bytes()), Name::Staged(fence(12)));
        assert_eq!(Name::parse(scratch("9-0-ab").as_bytes()), Name::Scratch);
        for name in [".tmp-", ".tmp-w", ".tmp-w-1", ".tmp-w12", ".tmp-wx-1", ".tmp-999-1-abc-7"] {
            assert_eq!(Name::parse(name.as_bytes()), Name::Scratch, "{name}");
        }
        assert_eq!(Name::parse(b".tm"), Name::Foreign);
        assert_eq!(Name::parse(b".tmp-7.json"), Name::Scratch);
    }

    /// Guards the way to a run against the loss of power: an entry that is missed loses all below.
    #[test]
    fn the_way_to_a_run_ends_where_all_runs_are() {
        let way = |run_dir: PathBuf| {
            way_to(&run_dir)
                .map(|dir| dir.to_string_lossy().replace(std::path::MAIN_SEPARATOR, "/"))
                .collect::<Vec<_>>()
        };
        let base = Path::new("/base");
        assert_eq!(way(run_dir(base, None, "run_1")), ["/base/run_1", "/base"]);
        assert_eq!(
            way(run_dir(base, Some("run_1"), "run_2")),
            ["/base/run_1/children/run_2", "/base/run_1/children", "/base/run_1", "/base"]
        );
        assert_eq!(way(PathBuf::from("run_1")), ["run_1", "."]);
    }

    /// Guards attempts from one another: of two processes, of one process, and of one that was
    /// cloned or comes back under the same number.
    #[test]
    fn what_is_unique_has_process_count_and_randomness() {
        struct Fixed(FsResult<u64>);
        impl Entropy for Fixed {
            fn process_id(&self) -> u32 {
                7
            }
            fn count(&self) -> u64 {
                3
            }
            fn random(&self) -> FsResult<u64> {
                self.0
            }
        }
        assert_eq!(unique(&Fixed(Ok(0xab))), Ok("7-3-00000000000000ab".into()));
        let refused = FsError { op: Op::Random, errno: Errno::EIO };
        assert_eq!(unique(&Fixed(Err(refused))), Err(refused));
    }

    #[test]
    fn a_name_written_is_recognised() {
        for number in [0, 1, 33, 999_999_999_999_999] {
            let written = holding(fence(number));
            assert_eq!(Name::parse(written.as_bytes()), Name::Holding(fence(number)));
            assert!(!is_padded(written.as_bytes()), "{written}");
            assert!(is_padded(format!("0{written}").as_bytes()), "0{written}");
        }
    }
}
