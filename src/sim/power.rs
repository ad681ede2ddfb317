//! The loss of power. What was synced survives; of what was not, any part may.
//!
//! Each name by itself stands afterwards for what it stood for at some instant since its directory
//! was last synced. Each file that was changed since it was last synced is afterwards as it was
//! then, or as it was at last, or in between. That is weaker than the journal of any common
//! volume, and what POSIX allows.

use super::fs::{Files, Ino, Inode};
use super::tables::{ContentId, NameId, Tables};

/// More combinations than this are not looked at.
const MOST: usize = 4_096;

impl Files {
    /// All files as they may be found after the loss of power, nothing of them open or unsynced.
    pub(super) fn without_power(&self, tables: &mut Tables) -> Vec<Files> {
        let mut found = vec![self.clone()];
        for (dir, name, stood_for) in self.unsynced_names() {
            branch(&mut found, &stood_for, |files, after| files.put(dir, name, *after));
        }
        for (file, contents) in self.unsynced_contents(tables) {
            branch(&mut found, &contents, |files, content| files.fill(file, *content));
        }
        found.iter_mut().for_each(Files::all_synced);
        found
    }

    /// Each name that was changed since its directory was synced, with all that it stood for.
    fn unsynced_names(&self) -> Vec<(Ino, NameId, Vec<Option<Ino>>)> {
        let mut unsynced: Vec<(Ino, NameId, Vec<Option<Ino>>)> = Vec::new();
        for (ino, dir) in self.directories() {
            for (name, before) in &dir.unsynced {
                match unsynced.last_mut() {
                    Some((last, of, all)) if *last == ino && of == name => all.push(*before),
                    _ => unsynced.push((ino, *name, vec![self.lookup(ino, *name), *before])),
                }
            }
        }
        for (_, _, all) in &mut unsynced {
            all.sort_unstable();
            all.dedup();
        }
        unsynced
    }

    /// Each file with bytes that were not synced, with all that it may be found to hold.
    fn unsynced_contents(&self, tables: &mut Tables) -> Vec<(Ino, Vec<ContentId>)> {
        let files = self.inodes.iter().filter_map(|(ino, inode)| match inode {
            Inode::Regular(file) if file.synced != Some(file.content) => Some((*ino, file)),
            _ => None,
        });
        files
            .map(|(ino, file)| {
                let bytes = tables.bytes(file.content);
                let half = tables.content(&bytes[..bytes.len() / 2]);
                let before = file.synced.unwrap_or_else(|| tables.content(b""));
                let mut contents = vec![file.content, half, before];
                contents.sort_unstable();
                contents.dedup();
                (ino, contents)
            })
            .collect()
    }

    fn put(&mut self, dir: Ino, name: NameId, after: Option<Ino>) {
        for (ino, inode) in &mut self.inodes {
            let (true, Inode::Directory(directory)) = (*ino == dir, inode) else {
                continue;
            };
            directory.entries.retain(|entry| entry.0 != name);
            if let Some(after) = after {
                directory.entries.push((name, after));
                directory.entries.sort_unstable();
            }
        }
    }

    fn fill(&mut self, file: Ino, content: ContentId) {
        for (ino, inode) in &mut self.inodes {
            if let (true, Inode::Regular(regular)) = (*ino == file, inode) {
                regular.lost |= regular.content != content;
                regular.content = content;
            }
        }
    }

    /// Forgets that anything was ever not synced, and closes all files.
    pub(super) fn all_synced(&mut self) {
        for (_, inode) in &mut self.inodes {
            match inode {
                Inode::Directory(directory) => directory.unsynced.clear(),
                Inode::Regular(file) => {
                    file.synced = Some(file.content);
                    file.open = false;
                }
            }
        }
        self.forget_lost_directories();
        self.forget_unreachable();
    }

    /// Drops directories whose own entry was lost, with all below them.
    fn forget_lost_directories(&mut self) {
        loop {
            let before = self.inodes.len();
            let entries = self.directories().flat_map(|(_, dir)| &dir.entries);
            let named: Vec<Ino> = entries.map(|entry| entry.1).chain([Ino::ROOT]).collect();
            self.inodes
                .retain(|(ino, inode)| matches!(inode, Inode::Regular(_)) || named.contains(ino));
            if self.inodes.len() == before {
                return;
            }
        }
    }
}

/// Replaces each of the files found so far by one for each choice.
fn branch<T>(found: &mut Vec<Files>, choices: &[T], choose: impl Fn(&mut Files, &T)) {
    if found.len() * choices.len() > MOST {
        return;
    }
    let chosen = found.iter().flat_map(|files| {
        let choose = &choose;
        choices.iter().map(move |choice| {
            let mut files = files.clone();
            choose(&mut files, choice);
            files
        })
    });
    *found = chosen.collect();
}
