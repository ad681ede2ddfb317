//! The simulated file system, held to the same as the real one, so that what the simulation finds
//! or does not find is true of real volumes: once as a local volume, once as one without nameless
//! files.

use crate::bench::{Bench, Odd};
use fencelink::env::Fs;
use fencelink::sim::{Direct, Volume, World};
use std::ffi::OsString;
use std::path::Path;

/// Some instant.
const CLOCK_MS: i64 = 1_764_430_255_123;

struct SimulatedBench<const NAMELESS: bool> {
    world: World<Direct>,
}

impl<const NAMELESS: bool> Bench for SimulatedBench<NAMELESS> {
    type Fs = World<Direct>;

    const NAMELESS: bool = NAMELESS;

    const TELLS_ENOTDIR: bool = true;

    fn new() -> Self {
        let volume = Volume { nameless: NAMELESS, links: true, power: true };
        SimulatedBench { world: World::new(volume, CLOCK_MS) }
    }

    fn fs(&self) -> &World<Direct> {
        &self.world
    }

    fn root(&self) -> &Path {
        Path::new("/")
    }

    fn difficult_names(&self) -> Vec<OsString> {
        ["7.json.bak", "0x10.json", " 8.json", "٧.json", "é"].map(OsString::from).into()
    }

    fn odd(&self, name: &str, odd: Odd) -> bool {
        // No run of the simulation has pipes, sockets or devices in it.
        odd == Odd::Directory && self.world.make_dir(&self.root().join(name)).is_ok()
    }

    fn symlink(&self, _name: &str, _target: &str) -> bool {
        false
    }

    fn pipe_with(&self, _name: &str, _bytes: &[u8], _meanwhile: &dyn Fn()) -> Option<Vec<u8>> {
        None
    }

    fn move_dir(&self, from: &str, to: &str) -> bool {
        self.world.move_dir(from, to);
        true
    }

    fn remove_dir(&self, name: &str) -> bool {
        self.world.remove_dir(name);
        true
    }
}

mod local {
    crate::conformance!(super::SimulatedBench<true>);
}

mod remote {
    crate::conformance!(super::SimulatedBench<false>);
}
