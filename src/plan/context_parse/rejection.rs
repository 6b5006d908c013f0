//! Why a message is not a plan.

/// The first deviation found in a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
pub enum Rejection {
    /// Nothing but white space.
    #[error("empty")]
    Empty,
    /// The header does not begin with a bracket.
    #[error("no opening bracket")]
    NoOpeningBracket,
    /// Another word than "Current plan".
    #[error("wrong header word")]
    WrongWord,
    /// The header does not end with a bracket.
    #[error("no closing bracket")]
    NoClosingBracket,
    /// No dash between version and counts.
    #[error("no separator in the header")]
    NoSeparator,
    /// Version without `v`, or not 1–9 plain digits.
    #[error("bad version")]
    BadVersion,
    /// The header's last sentence is missing.
    #[error("no trailing sentence")]
    NoTrailingSentence,
    /// A count is missing, signed, spaced or not in plain digits.
    #[error("bad counts")]
    BadCounts,
    /// The line of a finished plan is worded otherwise.
    #[error("bad collapsed header")]
    BadCollapse,
    /// Something other than the ids after the line of a finished plan.
    #[error("text after a collapsed header")]
    TextAfterCollapse,
    /// Fewer or more tasks than the header says.
    #[error("step count differs")]
    StepCount,
    /// Fewer or more done tasks than the header says.
    #[error("done count differs")]
    DoneCount,
    /// Fewer or more blocked tasks than the header says.
    #[error("blocked count differs")]
    BlockedCount,
    /// Unknown status word.
    #[error("unknown status")]
    UnknownStatus,
    /// A line that is no task.
    #[error("line without an id and a status")]
    BadLine,
    /// A blank line between tasks.
    #[error("blank line")]
    BlankLine,
    /// An id twice.
    #[error("duplicate id")]
    DuplicateId,
    /// No title.
    #[error("missing title")]
    MissingTitle,
    /// The title is not set off by one space, too long or not on one line.
    #[error("bad title")]
    BadTitle,
    /// The id is too long or has white space, brackets or control characters.
    #[error("bad id")]
    BadId,
    /// The status bracket is open.
    #[error("status bracket not closed")]
    StatusNotClosed,
    /// Done tasks were left out.
    #[error("done steps were omitted")]
    Omission,
    /// More tasks than allowed.
    #[error("too many steps")]
    TooManySteps,
    /// The tail was cut.
    #[error("truncated")]
    Truncated,
    /// The untrusted block does not end.
    #[error("wrapper not closed")]
    WrapperNotClosed,
    /// The untrusted block's first line is malformed.
    #[error("malformed open tag")]
    MalformedOpenTag,
    /// Text after the untrusted block.
    #[error("text after the close tag")]
    TextAfterClose,
    /// Nothing in the untrusted block.
    #[error("empty wrapper")]
    EmptyWrapper,
    /// A header without tasks.
    #[error("header only")]
    HeaderOnly,
    /// The revision line is malformed or out of bounds.
    #[error("bad revision")]
    BadRevision,
    /// The verification line is malformed.
    #[error("bad verification")]
    BadVerification,
    /// The header's flag and the checks disagree.
    #[error("check flag differs")]
    CheckFlag,
    /// Checks that could not have been declared, or with an unknown status or call.
    #[error("bad checks")]
    BadChecks,
    /// The note is too long or not on one line.
    #[error("bad note")]
    BadNote,
    /// More than 32 KiB.
    #[error("message too long")]
    MessageTooLong,
    /// Readable, but not as it would be emitted.
    #[error("not in canonical form")]
    NotCanonical,
}
