//! Exit codes are an interface.

use std::process::ExitCode;

use crate::invocation::Failure;

/// How an invocation ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Exit {
    /// All is as expected.
    Expected,
    /// Something was found.
    Findings,
    /// Bad arguments or files.
    Usage,
    /// Nothing ran.
    Nothing,
    /// A host could not be started.
    Host,
    /// hopcheck itself failed.
    Harness,
}

impl Exit {
    const fn code(self) -> u8 {
        match self {
            Self::Expected => 0,
            Self::Findings => 1,
            Self::Usage => 2,
            Self::Nothing => 3,
            Self::Host => 4,
            Self::Harness => 5,
        }
    }

    /// Which of two wins: 5, 2, 4, 1, 3, 0.
    const fn rank(self) -> u8 {
        match self {
            Self::Expected => 0,
            Self::Nothing => 1,
            Self::Findings => 2,
            Self::Host => 3,
            Self::Usage => 4,
            Self::Harness => 5,
        }
    }

    /// The one that wins.
    pub(super) fn or(self, other: Self) -> Self {
        if other.rank() > self.rank() { other } else { self }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

impl From<&Failure> for Exit {
    fn from(failure: &Failure) -> Self {
        match failure {
            Failure::Usage(_) | Failure::Files(_) => Self::Usage,
            Failure::Host(_) => Self::Host,
            Failure::Harness(_) => Self::Harness,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_graver_code_wins() {
        let order = [Exit::Harness, Exit::Usage, Exit::Host, Exit::Findings, Exit::Nothing, Exit::Expected];
        for (at, graver) in order.iter().enumerate() {
            for lesser in &order[at..] {
                assert_eq!(lesser.or(*graver), *graver);
                assert_eq!(graver.or(*lesser), *graver);
            }
        }
    }
}
