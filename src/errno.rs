//! System errors by their errno(3) names, the same on every platform, so that the protocol, its
//! messages and the simulated file system speak one language.

use std::fmt;

macro_rules! errnos {
    ($($name:ident),+ $(,)?) => {
        /// A system error. The names are those of errno(3); Windows errors are given the name of
        /// their nearest relative by `platform/windows.rs`.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        #[allow(clippy::upper_case_acronyms, reason = "the field writes errnos so")]
        #[allow(missing_docs, reason = "errno(3) documents them")]
        pub enum Errno {
            $($name,)+
            /// Any other, by its number on this platform.
            Other(i32),
        }

        impl Errno {
            /// Every errno that has a name here, for tests that must try them all.
            pub const NAMED: &'static [Errno] = &[$(Errno::$name),+];

            /// The errno of a number of this platform's own. `EOPNOTSUPP` is `ENOTSUP` by another
            /// number on some, and means the same here.
            #[cfg(unix)]
            pub(crate) fn from_raw(raw: i32) -> Errno {
                if raw == libc::EOPNOTSUPP { return Errno::ENOTSUP; }
                $(if raw == libc::$name { return Errno::$name; })+
                Errno::Other(raw)
            }
        }

        impl fmt::Display for Errno {
            fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self {
                    $(Errno::$name => out.write_str(stringify!($name)),)+
                    Errno::Other(raw) => write!(out, "errno {raw}"),
                }
            }
        }
    };
}

errnos!(
    E2BIG,
    EACCES,
    EAGAIN,
    EBADF,
    EBUSY,
    ECONNABORTED,
    ECONNREFUSED,
    ECONNRESET,
    EDEADLK,
    EDOM,
    EDQUOT,
    EEXIST,
    EFAULT,
    EFBIG,
    EHOSTDOWN,
    EHOSTUNREACH,
    EILSEQ,
    EINTR,
    EINVAL,
    EIO,
    EISDIR,
    ELOOP,
    EMFILE,
    EMLINK,
    ENAMETOOLONG,
    ENETDOWN,
    ENETUNREACH,
    ENFILE,
    ENODEV,
    ENOENT,
    ENOLCK,
    ENOMEM,
    ENOSPC,
    ENOSYS,
    ENOTCONN,
    ENOTDIR,
    ENOTEMPTY,
    ENOTSUP,
    ENXIO,
    EOVERFLOW,
    EPERM,
    EPIPE,
    EPROTO,
    EROFS,
    ESHUTDOWN,
    ESTALE,
    ETIMEDOUT,
    ETXTBSY,
    EXDEV,
);

impl Errno {
    /// Whether the same call can succeed later with nothing repaired: the system ran out of a
    /// thing that comes back, or was interrupted.
    pub fn is_passing(self) -> bool {
        use Errno::*;
        matches!(self, EMFILE | ENFILE | EINTR | EAGAIN | EBUSY | ESTALE)
    }

    /// Whether `link` says by it that this volume has no hard links to decide a race with.
    pub(crate) fn denies_hard_links(self) -> bool {
        use Errno::*;
        matches!(self, EPERM | ENOTSUP | ENOSYS | EXDEV | EMLINK)
    }
}
