//! Refusals of a listing, and of taking the next run of one.

use super::{ClaimError, Code, ReadError};
use std::ffi::OsStr;
use std::fmt;

/// Why runs were not listed, or the next one was not taken.
#[derive(Clone, PartialEq, Debug)]
pub enum ListError {
    /// A directory could not be listed, or a checkpoint could not be read or used.
    Read(ReadError),
    /// A run's claim could not be read, taken or given back.
    Claim(ClaimError),
}

impl From<ReadError> for ListError {
    fn from(error: ReadError) -> ListError {
        ListError::Read(error)
    }
}

impl From<ClaimError> for ListError {
    fn from(error: ClaimError) -> ListError {
        ListError::Claim(error)
    }
}

impl ListError {
    /// The kind of refusal.
    pub fn code(&self) -> Code {
        match self {
            ListError::Read(error) => error.code(),
            ListError::Claim(error) => error.code(),
        }
    }

    /// Whether the same request can succeed later with nothing repaired.
    pub fn is_retryable(&self) -> bool {
        match self {
            ListError::Read(error) => error.is_retryable(),
            ListError::Claim(error) => error.is_retryable(),
        }
    }

    /// What in the run's directory cannot be read or used: a file's name, or a directory's.
    pub fn file(&self) -> String {
        let name = |dir: Option<&OsStr>| dir.unwrap_or_default().to_string_lossy().into_owned();
        match self {
            ListError::Read(
                ReadError::Storage { file: Some(file), .. } | ReadError::Unusable { file, .. },
            ) => file.clone(),
            ListError::Read(ReadError::Storage { dir, .. }) => name(dir.file_name()),
            ListError::Claim(error) => name(error.claims().file_name()),
        }
    }

    /// What is wrong, in a few words.
    pub fn reason(&self) -> String {
        match self {
            ListError::Read(ReadError::Unusable { why, .. }) => why.to_string(),
            other => other.to_string(),
        }
    }
}

impl fmt::Display for ListError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ListError::Read(error) => error.fmt(out),
            ListError::Claim(error) => error.fmt(out),
        }
    }
}

impl std::error::Error for ListError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            ListError::Read(error) => error.source(),
            ListError::Claim(error) => error.source(),
        }
    }
}
