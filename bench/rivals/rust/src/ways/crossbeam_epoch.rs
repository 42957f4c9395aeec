use crate::harness::Way;
use crate::object::Object;
use crossbeam_epoch::{Atomic, Owned, pin};
use std::sync::atomic::Ordering;

/// `pin` for each read.
pub struct Pin(Atomic<Object>);

impl Way for Pin {
    type Reader<'a> = &'a Atomic<Object>;

    fn new(first: u64) -> Self {
        Pin(Atomic::new(Object::new(first)))
    }

    fn reader(&self) -> Self::Reader<'_> {
        &self.0
    }

    #[inline(always)]
    fn with<R>(reader: &mut Self::Reader<'_>, f: impl FnOnce(&Object) -> R) -> R {
        let guard = pin();
        let current = reader.load(Ordering::Acquire, &guard);
        // Sound: it is never null, and destroyed only after this guard.
        f(unsafe { current.deref() })
    }

    fn swap(&self, value: u64) {
        let guard = pin();
        let old = self
            .0
            .swap(Owned::new(Object::new(value)), Ordering::AcqRel, &guard);
        // Sound: no reader can reach it any more.
        unsafe { guard.defer_destroy(old) };
    }
}
