//! The floor of the bench: the system calls that a claim cannot do without, made straight from
//! Rust, with nothing around them: no names parsed, no bodies judged, no decisions. What the
//! package costs above this is its own.
//!
//! Reads jobs from standard input, one a line, and answers each with a line of durations in
//! nanoseconds, so that the bench can interleave it with the other contestants:
//!
//! ```text
//! first DIR N FROM      N first claims, of the new runs DIR/<FROM>, DIR/<FROM + 1>, …
//! renew DIR N FENCE     N renewals of the run DIR, whose current fence is FENCE
//! held DIR N FENCE      N looks at the run DIR, held by somebody else at FENCE
//! fence DIR N FENCE     N fence checks of the run DIR, whose current fence is FENCE
//! threads DIR N FENCE   as renew, in two threads on DIR/0 and DIR/1; one duration, of both
//! ```

#[cfg(target_os = "linux")]
fn main() {
    linux::main();
}

#[cfg(not(target_os = "linux"))]
fn main() {
    eprintln!("the floor is measured on Linux only");
    std::process::exit(1);
}

#[cfg(target_os = "linux")]
#[allow(unsafe_code, reason = "bare system calls are what is measured")]
mod linux {
    use std::ffi::{CStr, CString};
    use std::io::{BufRead, Write};
    use std::path::Path;

    /// As much of a directory as one call returns.
    const LISTING_BYTES: usize = 32 * 1024;
    /// The size of a body that the package writes.
    const BODY: &[u8; 76] = &[b' '; 76];
    const KEPT: u64 = 32;

    pub(super) fn main() {
        let stdin = std::io::stdin();
        for line in stdin.lock().lines() {
            let Ok(line) = line else { return };
            let fields: Vec<&str> = line.split(' ').collect();
            let [job, dir, n, number] = fields[..] else { fail("a job has four fields", &line) };
            let (dir, n, number) = (Path::new(dir), parse(n), parse(number));
            let durations_ns: Vec<u64> = match job {
                "first" => (number..number + n).map(|run| timed(|| first(dir, run))).collect(),
                "renew" => (number..number + n).map(|at| timed(|| renew(dir, at))).collect(),
                "held" => (0..n).map(|_| timed(|| held(dir, number))).collect(),
                "fence" => (0..n).map(|_| timed(|| fence_check(dir, number))).collect(),
                "threads" => vec![timed(|| threads(dir, n, number))],
                _ => fail("no such job", job),
            };
            let texts: Vec<String> = durations_ns.iter().map(u64::to_string).collect();
            let mut stdout = std::io::stdout().lock();
            let answered = writeln!(stdout, "[{}]", texts.join(",")).and_then(|()| stdout.flush());
            if answered.is_err() {
                return;
            }
        }
    }

    /// Directories that are not there yet are found missing, made, and opened.
    fn first(base: &Path, run: u64) {
        let run_dir = base.join(run.to_string());
        let claims_dir = run_dir.join("claims");
        // SAFETY: every path is NUL-terminated and outlives the call.
        unsafe {
            libc::open(c_path(&claims_dir).as_ptr(), libc::O_DIRECTORY | libc::O_CLOEXEC);
            libc::mkdir(c_path(&claims_dir).as_ptr(), 0o777);
            done(libc::mkdir(c_path(&run_dir).as_ptr(), 0o777), "mkdir");
            done(libc::mkdir(c_path(&claims_dir).as_ptr(), 0o777), "mkdir");
        }
        let claims = open_dir(&run_dir);
        list(claims);
        publish(claims, 1);
        list(claims);
        exists(claims, &name(1));
        close(claims);
    }

    fn renew(run_dir: &Path, fence: u64) {
        let claims = open_dir(run_dir);
        list(claims);
        read(claims, fence);
        publish(claims, fence + 1);
        list(claims);
        exists(claims, &name(fence + 1));
        if fence > KEPT {
            // SAFETY: the name is NUL-terminated and outlives the call.
            let removed = unsafe { libc::unlinkat(claims, name(fence - KEPT).as_ptr(), 0) };
            done(removed, "unlinkat");
        }
        close(claims);
    }

    fn held(run_dir: &Path, fence: u64) {
        let claims = open_dir(run_dir);
        list(claims);
        read(claims, fence);
        close(claims);
    }

    fn fence_check(run_dir: &Path, fence: u64) {
        let claims = open_dir(run_dir);
        list(claims);
        exists(claims, &name(fence));
        close(claims);
    }

    fn threads(base: &Path, n: u64, fence: u64) {
        std::thread::scope(|scope| {
            for run in ["0", "1"] {
                scope.spawn(move || (fence..fence + n).for_each(|at| renew(&base.join(run), at)));
            }
        });
    }

    fn open_dir(run_dir: &Path) -> i32 {
        let path = c_path(&run_dir.join("claims"));
        // SAFETY: the path is NUL-terminated and outlives the call.
        done(unsafe { libc::open(path.as_ptr(), libc::O_DIRECTORY | libc::O_CLOEXEC) }, "open")
    }

    /// From the beginning to the call that says that there is no more.
    fn list(dir: i32) {
        let mut buffer = [0u8; LISTING_BYTES];
        // SAFETY: the buffer is as long as the call is told, and outlives it.
        unsafe {
            libc::lseek(dir, 0, libc::SEEK_SET);
            let at = buffer.as_mut_ptr();
            while done64(libc::syscall(libc::SYS_getdents64, dir, at, LISTING_BYTES), "getdents64")
                > 0
            {}
        }
    }

    fn read(dir: i32, fence: u64) {
        let mut body = [0u8; 4096];
        // SAFETY: the buffer is as long as the call is told; name and status outlive their calls.
        unsafe {
            let flags = libc::O_RDONLY | libc::O_NONBLOCK | libc::O_CLOEXEC;
            let file = done(libc::openat(dir, name(fence).as_ptr(), flags), "openat");
            let mut status = std::mem::zeroed::<libc::stat>();
            done(libc::fstat(file, &raw mut status), "fstat");
            done64(libc::read(file, body.as_mut_ptr().cast(), body.len()) as i64, "read");
            close(file);
        }
    }

    /// A nameless file, whole before it gets its name.
    fn publish(dir: i32, fence: u64) {
        // SAFETY: names and body are NUL-terminated or of the length told, and outlive the calls.
        unsafe {
            let flags = libc::O_TMPFILE | libc::O_WRONLY | libc::O_CLOEXEC;
            let file = done(libc::openat(dir, c".".as_ptr(), flags, 0o666), "openat O_TMPFILE");
            done64(libc::write(file, BODY.as_ptr().cast(), BODY.len()) as i64, "write");
            let from = text(format!("/proc/self/fd/{file}"));
            let to = name(fence);
            let follow = libc::AT_SYMLINK_FOLLOW;
            done(libc::linkat(libc::AT_FDCWD, from.as_ptr(), dir, to.as_ptr(), follow), "linkat");
            close(file);
        }
    }

    fn exists(dir: i32, name: &CStr) {
        // SAFETY: the name is NUL-terminated, and it and the status outlive the call.
        unsafe {
            let mut status = std::mem::zeroed::<libc::stat>();
            let flags = libc::AT_SYMLINK_NOFOLLOW;
            done(libc::fstatat(dir, name.as_ptr(), &raw mut status, flags), "fstatat");
        }
    }

    fn close(file: i32) {
        // SAFETY: the descriptor is open, and nobody uses it after this.
        done(unsafe { libc::close(file) }, "close");
    }

    fn timed(work: impl FnOnce()) -> u64 {
        let before = now_ns();
        work();
        now_ns() - before
    }

    fn now_ns() -> u64 {
        let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: the struct outlives the call.
        done(unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut now) }, "clock_gettime");
        now.tv_sec.unsigned_abs() * 1_000_000_000 + now.tv_nsec.unsigned_abs()
    }

    fn name(fence: u64) -> CString {
        text(format!("{fence}.json"))
    }

    fn c_path(path: &Path) -> CString {
        text(path.to_string_lossy().into_owned())
    }

    fn text(text: String) -> CString {
        CString::new(text).unwrap_or_else(|_| fail("a NUL in", "a path"))
    }

    fn parse(text: &str) -> u64 {
        text.parse().unwrap_or_else(|_| fail("not a number", text))
    }

    fn done(answer: i32, call: &str) -> i32 {
        done64(i64::from(answer), call);
        answer
    }

    fn done64(answer: i64, call: &str) -> i64 {
        if answer < 0 {
            fail(call, &std::io::Error::last_os_error().to_string());
        }
        answer
    }

    fn fail(what: &str, which: &str) -> ! {
        eprintln!("floor: {what}: {which}");
        std::process::exit(1);
    }
}
