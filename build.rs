//! Tells the linker how an addon is loaded; nothing to do for the plain crate.

fn main() {
    #[cfg(feature = "node")]
    napi_build::setup();
}
