//! The one act that decides: `link(2)` to the fence's name, of a file that is already whole.
//! Exactly one caller creates the name, and there is no instant at which the name exists and its
//! body does not.
//!
//! An error of `link` does not say who won: network volumes report failures of links they made,
//! and successes of none. So the body carries a nonce, and whoever is in doubt reads the name.
//! There is no fallback to anything weaker than `link`.

use crate::body;
use crate::claim::Claims;
use crate::directory::Durability;
use crate::env::{Contents, FsError, World};
use crate::errno::Errno;
use crate::error::ClaimError;
use crate::names;
#[cfg(feature = "sim")]
use crate::sim::wrong;
use crate::types::{Fence, Holder, Millis};
use std::ffi::OsStr;

/// Who created the fence's name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Published {
    /// This caller. Whether the fence is still the highest is for the next listing to say.
    Won,
    /// Somebody else, or the volume says so.
    Lost,
}

/// Publishes a holding at `fence`.
pub(crate) fn publish<W: World>(
    claims: &Claims<'_, W>,
    fence: Fence,
    holder: &Holder,
    expires_at: Millis,
) -> Result<Published, ClaimError> {
    let nonce = names::unique(claims.world)
        .map_err(|cause| claims.failed(Some(fence), "tell this attempt from others", cause))?;
    let attempt = Attempt {
        claims,
        fence,
        body: body::write(holder, expires_at, &nonce),
        name: names::holding(fence),
        nonce,
    };
    mutant!(CreatedThenWritten => return wrong::create_then_write(claims, fence, &attempt.body));
    mutant!(PublishedByRename => return wrong::rename_over(claims, fence, &attempt.body));
    mutant!(LockFile => return wrong::under_a_lock(claims, fence, &attempt.body));
    match attempt.link_nameless()? {
        Some(published) => Ok(published),
        None => attempt.link_named(),
    }
}

/// Who a fence's name belongs to, by its body.
enum Owner {
    Ourselves,
    SomebodyElse,
    Nobody,
}

struct Attempt<'a, 'w, W: World> {
    claims: &'a Claims<'w, W>,
    fence: Fence,
    name: String,
    body: Vec<u8>,
    nonce: String,
}

impl<W: World> Attempt<'_, '_, W> {
    /// Links a file that never had a name, so that a crash leaves nothing behind. `None` where
    /// this volume cannot do so, or could not this time, and the name is still free.
    fn link_nameless(&self) -> Result<Option<Published>, ClaimError> {
        mutant!(NoNameless => return Ok(None));
        let (world, dir) = (self.claims.world, &self.claims.dir);
        let Ok(mut file) = world.create_nameless(dir) else {
            return Ok(None);
        };
        if self.fill(&mut file).is_err() {
            return Ok(None);
        }
        match world.link_nameless(&file, dir, OsStr::new(&self.name)) {
            Ok(()) => Ok(Some(Published::Won)),
            Err(_) => Ok(match self.owner()? {
                Owner::Ourselves => Some(Published::Won),
                Owner::SomebodyElse => Some(Published::Lost),
                Owner::Nobody => None,
            }),
        }
    }

    /// Links a scratch file that has a name of its own, and removes that name again.
    fn link_named(&self) -> Result<Published, ClaimError> {
        mutant!(ScratchNamedForFence => {
            return wrong::share_scratch(self.claims, self.fence, &self.body);
        });
        let scratch = names::scratch(&self.nonce);
        let scratch = OsStr::new(&scratch);
        let linked = self.write_scratch(scratch).and_then(|()| self.link_scratch(scratch));
        if !matches!(linked, Err(ClaimError::ScratchTaken { .. })) {
            // A name that stays is litter, which a later taker removes by its age.
            let _ = self.claims.world.unlink(&self.claims.dir, scratch);
        }
        linked
    }

    fn write_scratch(&self, scratch: &OsStr) -> Result<(), ClaimError> {
        let world = self.claims.world;
        let mut file = match world.create(&self.claims.dir, scratch) {
            Ok(file) => file,
            Err(cause) if cause.errno == Errno::EEXIST => {
                let claims = self.claims.path();
                return Err(ClaimError::ScratchTaken { claims, fence: self.fence });
            }
            Err(cause) => return Err(self.failed("write a run claim", cause)),
        };
        let written = self.fill(&mut file).and_then(|()| world.close(file));
        written.map_err(|cause| self.failed("write a run claim", cause))
    }

    fn link_scratch(&self, scratch: &OsStr) -> Result<Published, ClaimError> {
        let linked = self.claims.world.link(&self.claims.dir, scratch, OsStr::new(&self.name));
        let Err(cause) = linked else {
            return Ok(Published::Won);
        };
        mutant!(WeakerThanLink => return wrong::rename_scratch(self.claims, scratch, self.fence));
        match self.owner()? {
            Owner::Ourselves => Ok(Published::Won),
            Owner::SomebodyElse => Ok(Published::Lost),
            Owner::Nobody if cause.errno == Errno::EEXIST => Ok(Published::Lost),
            Owner::Nobody if cause.errno.denies_hard_links() => Err(ClaimError::NoHardLinks {
                claims: self.claims.path(),
                fence: self.fence,
                cause,
            }),
            Owner::Nobody => Err(self.failed("publish a run claim", cause)),
        }
    }

    fn fill(&self, file: &mut W::File) -> Result<(), FsError> {
        mutant!(WriteUnchecked => if self.claims.world.write(file, &self.body).is_err() {
            return Ok(());
        });
        self.claims.world.write(file, &self.body)?;
        mutant!(FileNotSynced => return Ok(()));
        match self.claims.durability {
            Durability::Process => Ok(()),
            Durability::Power => self.claims.world.sync(file),
        }
    }

    /// Settles a doubt by reading what stands at the fence's name.
    fn owner(&self) -> Result<Owner, ClaimError> {
        mutant!(DoubtIsLost => return Ok(Owner::SomebodyElse));
        mutant!(DoubtIsWon => return Ok(Owner::Ourselves));
        let (world, dir) = (self.claims.world, &self.claims.dir);
        match world.read(dir, OsStr::new(&self.name), body::LIMIT) {
            Ok(Contents::Bytes(bytes)) => {
                mutant!(OwnerByHolder => if wrong::same_holder(&bytes, &self.body) {
                    return Ok(Owner::Ourselves);
                });
                let nonce = body::parse(&bytes).and_then(|body| body.nonce);
                let own = nonce.is_some_and(|nonce| nonce == self.nonce);
                Ok(if own { Owner::Ourselves } else { Owner::SomebodyElse })
            }
            Ok(Contents::NotAFile | Contents::TooLarge) => Ok(Owner::SomebodyElse),
            Err(cause) if cause.errno == Errno::ENOENT => Ok(Owner::Nobody),
            Err(cause) => Err(self.failed("find out who won a run claim", cause)),
        }
    }

    fn failed(&self, doing: &'static str, cause: FsError) -> ClaimError {
        self.claims.failed(Some(self.fence), doing, cause)
    }
}
