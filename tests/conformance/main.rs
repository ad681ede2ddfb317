//! What every file system under the protocol must do, whoever provides it. The assertions are
//! written against [`bench::Bench`] and know no platform; [`conformance!`] makes tests of all of
//! them for one bench. Here that is the real system on a temporary directory and, with the feature
//! `sim`, the simulated file system.

#![allow(clippy::panic, reason = "that is how a test fails")]
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a test looks at the disk past the door it is testing"
)]

mod bench;
mod dirs;
mod files;
mod links;
mod listing;
mod reading;
#[cfg(feature = "sim")]
mod simulated;
mod system;

/// One test for every assertion, each on a bench of its own.
macro_rules! conformance {
    ($bench:ty) => {
        crate::conformance! { $bench:
            dirs::make_dir_makes_one_and_says_why_not,
            dirs::open_dir_opens_directories_only,
            dirs::an_open_directory_stays_itself_when_its_path_is_taken,
            dirs::nothing_is_created_in_a_removed_directory,
            files::create_is_exclusive,
            files::all_that_is_written_arrives,
            files::unlink_removes_a_name_and_no_directory,
            files::rename_moves_and_replaces,
            files::modification_times_are_epoch_milliseconds,
            files::syncing_succeeds,
            links::one_of_many_threads_wins_each_name,
            links::link_never_replaces,
            links::a_linked_file_outlives_its_first_name,
            links::a_nameless_file_appears_whole_or_not_at_all,
            links::one_of_many_nameless_files_wins_each_name,
            listing::names_are_listed_as_given,
            listing::an_empty_directory_lists_nothing,
            listing::a_repeated_listing_shows_the_present,
            listing::ten_thousand_names_are_listed_once_each,
            listing::a_listing_within_a_listing_cuts_neither_short,
            reading::an_absent_file_is_enoent,
            reading::what_is_not_a_file_is_told_without_blocking,
            reading::a_pipe_keeps_its_bytes,
            reading::the_limit_is_exact,
            reading::large_files_are_read_whole,
            reading::symbolic_links_are_followed_by_read_alone,
        }
    };
    ($bench:ty: $($area:ident::$test:ident),+ $(,)?) => {
        $(
            #[test]
            fn $test() {
                crate::$area::$test(&<$bench as crate::bench::Bench>::new());
            }
        )+
    };
}
pub(crate) use conformance;
