//! Threads, clock and writer, the same for every way.

use crate::cpu;
use crate::object::{Object, most_alive};
use std::fmt;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Reads between two looks at the clock.
const BATCH: u64 = 8192;

/// A way to share an object.
pub trait Way: Sync {
    /// The state that a thread keeps from read to read.
    type Reader<'a>
    where
        Self: 'a;

    fn new(first: u64) -> Self;

    /// Called on the thread that will read.
    fn reader(&self) -> Self::Reader<'_>;

    /// Takes the guard, calls `f` with the current object, gives the guard back.
    fn with<R>(reader: &mut Self::Reader<'_>, f: impl FnOnce(&Object) -> R) -> R;

    /// Puts an object of that value in place of the current one.
    fn swap(&self, value: u64);
}

pub struct Arguments {
    pub way: String,
    threads: usize,
    time: Duration,
    swaps: u64,
}

impl Arguments {
    pub fn parse(words: impl Iterator<Item = String>) -> Result<Arguments, String> {
        let words: Vec<String> = words.collect();
        let [way, threads, milliseconds, swaps] = words.as_slice() else {
            return Err(format!("{} arguments", words.len()));
        };
        let number = |name: &str, word: &String, least: u64| match word.parse::<u64>() {
            Ok(n) if n >= least => Ok(n),
            _ => Err(format!("{name} {word:?} is not a number from {least}")),
        };
        Ok(Arguments {
            way: way.clone(),
            threads: number("THREADS", threads, 1)? as usize,
            time: Duration::from_millis(number("MILLISECONDS", milliseconds, 1)?),
            swaps: number("SWAPS", swaps, 0)?,
        })
    }
}

pub struct Sample {
    reads: u64,
    ns: f64,    // for a read of all threads together
    cpu: f64,   // processor time of a read, with the writer's, in ns
    swaps: f64, // a second
    most: i64,  // objects alive at a time
}

impl fmt::Display for Sample {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Sample {
            reads,
            ns,
            cpu,
            swaps,
            most,
        } = self;
        write!(
            f,
            "{reads} {ns:.6} ns/op {cpu:.6} cpu-ns/op {swaps:.1} swaps/s {most} objects"
        )
    }
}

/// Lets all threads begin at once.
struct Gate {
    parties: usize,
    arrived: AtomicUsize,
    start: OnceLock<(Instant, Duration)>, // with the processor time until then
}

impl Gate {
    fn pass(&self) -> Instant {
        if self.arrived.fetch_add(1, Ordering::AcqRel) + 1 == self.parties {
            return self.start.get_or_init(|| (Instant::now(), cpu::time())).0;
        }
        loop {
            if let Some((start, _)) = self.start.get() {
                return *start;
            }
            thread::yield_now();
        }
    }
}

pub fn measure<W: Way>(arguments: &Arguments) -> Sample {
    let way = W::new(1);
    let writers = usize::from(arguments.swaps > 0);
    let gate = Gate {
        parties: arguments.threads + writers,
        arrived: AtomicUsize::new(0),
        start: OnceLock::new(),
    };
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        let writer = (writers > 0).then(|| scope.spawn(|| write(&way, arguments, &gate, &done)));
        let readers: Vec<_> = (0..arguments.threads)
            .map(|_| scope.spawn(|| read(&way, arguments.time, &gate)))
            .collect();
        let (mut reads, mut rate) = (0, 0.0);
        for reader in readers {
            let (n, elapsed) = reader.join().expect("a reader failed");
            reads += n;
            rate += n as f64 / elapsed.as_nanos() as f64;
        }
        let (_, before) = gate.start.get().expect("the clock has run");
        let cpu = cpu::time() - *before;
        done.store(true, Ordering::Release);
        Sample {
            reads,
            ns: 1.0 / rate,
            cpu: cpu.as_nanos() as f64 / reads as f64,
            swaps: writer.map_or(0.0, |writer| writer.join().expect("the writer failed")),
            most: most_alive(),
        }
    })
}

/// Returns how many reads one thread did, in which time.
fn read<W: Way>(way: &W, time: Duration, gate: &Gate) -> (u64, Duration) {
    let mut reader = way.reader();
    let warm_up = Instant::now();
    while warm_up.elapsed() < time / 4 {
        batch::<W>(&mut reader);
    }
    let start = gate.pass();
    let mut reads = 0;
    while start.elapsed() < time {
        batch::<W>(&mut reader);
        reads += BATCH;
    }
    (reads, start.elapsed())
}

/// Values only grow, so the values of all reads lie between the one before and
/// the one after them, and their sum does too.
fn batch<W: Way>(reader: &mut W::Reader<'_>) {
    let before = W::with(reader, Object::value);
    let sum = sum::<W>(reader, BATCH);
    let after = W::with(reader, Object::value);
    assert!(
        before * BATCH <= sum && sum <= after * BATCH,
        "{BATCH} reads between value {before} and value {after} add up to {sum}"
    );
}

#[inline(never)]
fn sum<W: Way>(reader: &mut W::Reader<'_>, reads: u64) -> u64 {
    let mut sum = 0u64;
    for _ in 0..reads {
        sum = sum.wrapping_add(W::with(reader, Object::first));
    }
    sum
}

/// Swaps at the rate asked for and returns the rate reached. Swaps that come too
/// late are left out, not made up for.
fn write<W: Way>(way: &W, arguments: &Arguments, gate: &Gate, done: &AtomicBool) -> f64 {
    let period = Duration::from_nanos(1_000_000_000 / arguments.swaps);
    let start = gate.pass();
    let mut next = start;
    let mut swaps = 0;
    while !done.load(Ordering::Acquire) {
        way.swap(swaps + 2);
        swaps += 1;
        next += period;
        let now = Instant::now();
        if next > now {
            thread::sleep(next - now);
        } else {
            next = now;
        }
    }
    swaps as f64 / start.elapsed().as_secs_f64()
}
