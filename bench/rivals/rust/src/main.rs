//! Measures reads of a shared object that a writer replaces, with crates that
//! are made for it. `rivals WAY THREADS MILLISECONDS SWAPS` takes one sample and
//! prints it in a line: the way, the number of reads, and pairs of value and
//! unit. The programs in C and Go take the same arguments and do the same work.

mod cpu;
mod harness;
mod object;
mod ways;

use harness::{Arguments, measure};

fn main() {
    let arguments = match Arguments::parse(std::env::args().skip(1)) {
        Ok(arguments) => arguments,
        Err(wrong) => {
            eprintln!("rivals: {wrong}; usage: rivals WAY THREADS MILLISECONDS SWAPS");
            std::process::exit(2);
        }
    };
    let sample = match arguments.way.as_str() {
        "arc-swap" => measure::<ways::arc_swap::Load>(&arguments),
        "arc-swap-cache" => measure::<ways::arc_swap::Cached>(&arguments),
        "crossbeam-epoch" => measure::<ways::crossbeam_epoch::Pin>(&arguments),
        "seize" => measure::<ways::seize::Enter>(&arguments),
        "haphazard" => measure::<ways::haphazard::Hazard>(&arguments),
        "left-right" => measure::<ways::left_right::LeftRight>(&arguments),
        "parking-lot" => measure::<ways::parking_lot::Lock>(&arguments),
        way => {
            eprintln!("rivals: there is no way {way:?}");
            std::process::exit(2);
        }
    };
    println!("{} {sample}", arguments.way);
}
