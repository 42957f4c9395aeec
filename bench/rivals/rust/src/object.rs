//! The object that is shared, and what readers check of it.

use std::sync::atomic::{AtomicI64, Ordering::Relaxed};

const WORDS: usize = 8;

/// What an object holds once it is freed: larger than any value.
const FREED: u64 = u64::MAX >> 16;

static ALIVE: AtomicI64 = AtomicI64::new(0);
static MOST: AtomicI64 = AtomicI64::new(0);

/// Eight words that all hold the same value. The writer counts the values up
/// from 1.
pub struct Object {
    words: [u64; WORDS],
}

impl Object {
    pub fn new(value: u64) -> Object {
        let alive = ALIVE.fetch_add(1, Relaxed) + 1;
        MOST.fetch_max(alive, Relaxed);
        Object {
            words: [value; WORDS],
        }
    }

    /// Overwrites the value in place.
    pub fn set(&mut self, value: u64) {
        self.words = [value; WORDS];
    }

    /// The one word that a measured read reads. Volatile, so that the compiler
    /// neither drops the read nor does two at once.
    #[inline(always)]
    pub fn first(&self) -> u64 {
        unsafe { std::ptr::read_volatile(&self.words[0]) }
    }

    /// The value, of which it panics if the words do not agree.
    pub fn value(&self) -> u64 {
        let first = self.first();
        for word in &self.words {
            let word = unsafe { std::ptr::read_volatile(word) };
            assert!(
                word == first && 0 < word && word < FREED,
                "read {word} and {first} in one object: it was freed or overwritten"
            );
        }
        first
    }
}

impl Clone for Object {
    fn clone(&self) -> Object {
        Object::new(self.value())
    }
}

impl Drop for Object {
    fn drop(&mut self) {
        for word in &mut self.words {
            unsafe { std::ptr::write_volatile(word, FREED) };
        }
        ALIVE.fetch_sub(1, Relaxed);
    }
}

/// The most objects that there were at a time.
pub fn most_alive() -> i64 {
    MOST.load(Relaxed)
}
