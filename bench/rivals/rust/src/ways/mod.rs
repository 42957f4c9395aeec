//! The crates, each used as its documentation shows.

pub mod arc_swap;
pub mod crossbeam_epoch;
pub mod haphazard;
pub mod left_right;
pub mod parking_lot;
pub mod seize;
