//! Names, paths, file contents and listings, each kept once and spoken of by a small number, so
//! that a state of the world is small, cheap to copy and cheap to compare. What the protocol makes
//! of a name or a body is worked out once for each.

use crate::body::{self, Body};
use crate::names::Name;
use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::hash::Hash;
use std::path::{Component, Path};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

macro_rules! numbers {
    ($($(#[$doc:meta])* $name:ident),+ $(,)?) => {
        $($(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub(crate) struct $name(pub(crate) u32);)+
    };
}

numbers! {
    /// One component of a path.
    NameId,
    /// A whole path.
    PathId,
    /// The bytes of a file.
    ContentId,
    /// What a listing told, in the order of the names' bytes.
    ListId,
}

/// Values by number and numbers by value.
#[derive(Debug)]
struct Interned<T: ?Sized> {
    values: Vec<Arc<T>>,
    numbers: HashMap<Arc<T>, u32>,
}

impl<T: ?Sized + Eq + Hash> Interned<T> {
    fn new() -> Self {
        Interned { values: Vec::new(), numbers: HashMap::new() }
    }

    /// The number of `value`, and whether it is new.
    fn number(&mut self, value: &T) -> (u32, bool)
    where
        for<'a> Arc<T>: From<&'a T>,
    {
        if let Some(number) = self.numbers.get(value) {
            return (*number, false);
        }
        let number = u32::try_from(self.values.len()).expect("fewer than 2^32 values");
        let value: Arc<T> = value.into();
        self.values.push(Arc::clone(&value));
        self.numbers.insert(value, number);
        (number, true)
    }
}

/// All that the worlds of one search have in common.
#[derive(Debug)]
pub(crate) struct Tables {
    names: Interned<OsStr>,
    meanings: Vec<Name>,
    paths: Interned<Path>,
    components: Vec<Arc<[NameId]>>,
    contents: Interned<[u8]>,
    bodies: Vec<Option<Arc<Body>>>,
    lists: Interned<[NameId]>,
}

impl Tables {
    pub(crate) fn new() -> Tables {
        Tables {
            names: Interned::new(),
            meanings: Vec::new(),
            paths: Interned::new(),
            components: Vec::new(),
            contents: Interned::new(),
            bodies: Vec::new(),
            lists: Interned::new(),
        }
    }

    pub(crate) fn name(&mut self, name: &OsStr) -> NameId {
        let (number, new) = self.names.number(name);
        if new {
            self.meanings.push(Name::parse(name.as_encoded_bytes()));
        }
        NameId(number)
    }

    pub(crate) fn name_text(&self, name: NameId) -> &OsStr {
        &self.names.values[name.0 as usize]
    }

    /// What the name stands for in a claims directory.
    pub(crate) fn meaning(&self, name: NameId) -> Name {
        self.meanings[name.0 as usize]
    }

    pub(crate) fn path(&mut self, path: &Path) -> PathId {
        let (number, new) = self.paths.number(path);
        if new {
            let components = path.components().filter_map(|component| match component {
                Component::Normal(name) => Some(name.to_owned()),
                _ => None,
            });
            let components: Vec<OsString> = components.collect();
            let components = components.iter().map(|name| self.name(name)).collect();
            self.components.push(components);
        }
        PathId(number)
    }

    pub(crate) fn path_text(&self, path: PathId) -> &Path {
        &self.paths.values[path.0 as usize]
    }

    /// The components of a path, from the root.
    pub(crate) fn components(&self, path: PathId) -> Arc<[NameId]> {
        Arc::clone(&self.components[path.0 as usize])
    }

    pub(crate) fn content(&mut self, bytes: &[u8]) -> ContentId {
        let (number, new) = self.contents.number(bytes);
        if new {
            self.bodies.push(body::parse(bytes).map(Arc::new));
        }
        ContentId(number)
    }

    pub(crate) fn bytes(&self, content: ContentId) -> Arc<[u8]> {
        Arc::clone(&self.contents.values[content.0 as usize])
    }

    /// What the bytes say as the body of a holding; `None` when they are damaged.
    pub(crate) fn body(&self, content: ContentId) -> Option<&Arc<Body>> {
        self.bodies[content.0 as usize].as_ref()
    }

    /// The bytes of one file followed by those of another.
    pub(crate) fn joined(&mut self, first: ContentId, second: ContentId) -> ContentId {
        let (first, second) = (self.bytes(first), self.bytes(second));
        if first.is_empty() {
            return self.content(&second);
        }
        self.content(&[&first[..], &second[..]].concat())
    }

    /// A listing of these names, in the order of their bytes whatever order they come in.
    pub(crate) fn list(&mut self, mut names: Vec<NameId>) -> ListId {
        self.sort(&mut names);
        ListId(self.lists.number(&names).0)
    }

    pub(crate) fn listed(&self, list: ListId) -> Arc<[NameId]> {
        Arc::clone(&self.lists.values[list.0 as usize])
    }

    /// Sorts by bytes, since numbers depend on what was searched before.
    pub(crate) fn sort(&self, names: &mut [NameId]) {
        names.sort_by(|a, b| self.name_text(*a).cmp(self.name_text(*b)));
    }
}

/// [`Tables`] that several worlds hold on to.
pub(crate) type Shared = Arc<Mutex<Tables>>;

/// Locks the tables. They are whole at every instant, so a panic elsewhere is no reason to stop.
pub(crate) fn locked(tables: &Shared) -> MutexGuard<'_, Tables> {
    tables.lock().unwrap_or_else(PoisonError::into_inner)
}
