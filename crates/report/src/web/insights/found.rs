//! The result of an insight, and values that several insights have.

use crate::web::network::Request;
use serde::Serialize;

/// The judgement of an insight.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// Nothing to improve, or not enough events to know.
    Pass,
    /// A finding without a rule that says whether it is a fault.
    Informative,
    /// A finding.
    Fail,
}

impl State {
    pub(crate) fn fail_if(is_fault: bool) -> Self {
        if is_fault { State::Fail } else { State::Pass }
    }

    pub(crate) fn informative_if(is_finding: bool) -> Self {
        if is_finding { State::Informative } else { State::Pass }
    }
}

/// The result of an insight.
pub(crate) struct Found<T> {
    pub(crate) state: State,
    /// Reason why there are no details.
    pub(crate) why: Option<&'static str>,
    pub(crate) details: T,
}

impl<T> Found<T> {
    pub(crate) fn new(state: State, details: T) -> Self {
        Found { state, why: None, details }
    }

    /// Creates the result of an insight that lacks an event, for the given reason, or that does not
    /// apply.
    pub(crate) fn without(why: Option<&'static str>) -> Self
    where
        T: Default,
    {
        Found { state: State::Pass, why, details: T::default() }
    }
}

/// A request with a finding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Offender {
    /// DevTools' key of the request.
    pub key: String,
    /// URL of the request.
    pub url: String,
}

impl Offender {
    pub(crate) fn of(request: &Request) -> Self {
        Offender { key: request.key.clone(), url: request.url.clone() }
    }
}

/// Rounds like JavaScript: halves up.
pub(crate) fn rounded(number: f64) -> f64 {
    (number + 0.5).floor()
}
