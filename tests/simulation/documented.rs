//! The tables of `docs/testing.md`, held to what was found.

use fencelink::sim::{Call, Faults, Report, Scenario, Start};
use std::sync::Mutex;

/// Two tests have a table in the one file.
static FILE: Mutex<()> = Mutex::new(());

/// Asserts that a section's table has these rows, counts aside. With `FENCELINK_WRITE_DOCS=1` the
/// table is written instead.
pub(crate) fn check(section: &str, table: &str) {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/testing.md");
    let _one_at_a_time = FILE.lock();
    #[allow(clippy::disallowed_methods, reason = "a test looks at the repository")]
    let text = std::fs::read_to_string(path).expect("the documentation is there");
    let (begin, end) = (format!("<!-- {section} -->\n"), format!("<!-- end of {section} -->"));
    let (before, rest) = text.split_once(&begin).expect("the table has a beginning");
    let (old, after) = rest.split_once(&end).expect("the table has an end");
    if std::env::var("FENCELINK_WRITE_DOCS").as_deref() == Ok("1") {
        let text = format!("{before}{begin}{table}{end}{after}");
        #[allow(clippy::disallowed_methods, reason = "a test writes the repository when told")]
        std::fs::write(path, text).expect("the documentation can be written");
        return;
    }
    let rows = |table: &str| -> Vec<String> {
        table.lines().map(|line| line.split('|').take(4).collect()).collect()
    };
    assert_eq!(rows(old), rows(table), "to write the table: FENCELINK_WRITE_DOCS=1");
}

pub(crate) fn scenarios_head() -> String {
    "| scenario | workers | volume and faults | states | interleavings |\n\
     |---|---|---|---:|---:|\n"
        .into()
}

/// A scenario as a row.
pub(crate) fn scenario(scenario: &Scenario, report: &Report) -> String {
    let workers = scenario.workers.iter().map(|worker| {
        let mut told = format!("{}: {}", worker.holder, calls(&worker.calls));
        if worker.writes_for.is_some() {
            told = format!("writer: {}", calls(&worker.calls));
        }
        if !worker.after_crash.is_empty() {
            told += &format!("; once killed: {}", calls(&worker.after_crash));
        }
        match worker.behind_ms {
            0 => told,
            behind if behind > 0 => format!("{told}; clock {behind} ms behind"),
            ahead => format!("{told}; clock {} ms ahead", -ahead),
        }
    });
    let workers = workers.filter(|told| !told.ends_with(": ")).collect::<Vec<_>>().join("<br>");
    format!(
        "| {} | {workers} | {} | {} | {:.1e} |\n",
        scenario.name,
        circumstances(scenario).join(", "),
        report.states,
        report.interleavings
    )
}

fn calls(calls: &[Call]) -> String {
    let told = calls.iter().map(|call| match call {
        Call::Acquire { ttl_ms } if *ttl_ms > 0 => "hold",
        Call::Acquire { .. } => "take",
        Call::AcquireFree { .. } => "hold if free",
        Call::PeerAcquire { ttl_ms } if *ttl_ms > 0 => "hold as a peer",
        Call::PeerAcquire { .. } => "take as a peer",
        Call::Release => "release",
        Call::Write => "write",
        Call::WriteUnfenced => "write without a fence",
        Call::Read => "read",
    });
    told.collect::<Vec<_>>().join(", ")
}

fn circumstances(scenario: &Scenario) -> Vec<String> {
    let Faults { crashes, errors, kinds, outages, ticks_ms, always, .. } = &scenario.faults;
    let mut told = Vec::new();
    match scenario.start {
        Start::Nothing => told.push("no directories".into()),
        Start::Free => {}
        Start::Taken { ttl_ms: 0, .. } => told.push("taken by the first, ended".into()),
        Start::Taken { .. } => told.push("held by the first".into()),
    }
    if !scenario.volume.nameless {
        told.push("no nameless files".into());
    }
    if !scenario.volume.links {
        told.push("no hard links".into());
    }
    if scenario.kept_fences != 32 {
        told.push(format!("{} kept", scenario.kept_fences));
    }
    if scenario.rounds != 2 {
        let ending = if scenario.rounds == 1 { "" } else { "s" };
        told.push(format!("{} round{ending}", scenario.rounds));
    }
    if *crashes > 0 {
        told.push(format!("{crashes} killed"));
    }
    if *errors > 0 {
        told.push(format!("{errors} of {kinds:?} errors").to_lowercase());
    }
    if !ticks_ms.is_empty() {
        told.push(format!("clock {ticks_ms:+?} ms"));
    }
    if scenario.volume.power {
        told.push("power lost at any instant".into());
    }
    if *outages > 0 {
        told.push(format!("{outages} outage"));
    }
    if let Some((op, fault)) = always {
        let done = if fault.landed { "done, and answers" } else { "answers" };
        told.push(format!("every {} {done} {}", op.syscall(), fault.errno));
    }
    told
}
