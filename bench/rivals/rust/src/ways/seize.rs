use crate::harness::Way;
use crate::object::Object;
use seize::{Collector, Guard, reclaim};
use std::sync::atomic::{AtomicPtr, Ordering};

/// `Collector::enter` for each read.
pub struct Enter {
    collector: Collector,
    current: AtomicPtr<Object>,
}

impl Way for Enter {
    type Reader<'a> = &'a Enter;

    fn new(first: u64) -> Self {
        Enter {
            collector: Collector::new(),
            current: AtomicPtr::new(Box::into_raw(Box::new(Object::new(first)))),
        }
    }

    fn reader(&self) -> Self::Reader<'_> {
        self
    }

    #[inline(always)]
    fn with<R>(reader: &mut Self::Reader<'_>, f: impl FnOnce(&Object) -> R) -> R {
        let guard = reader.collector.enter();
        let current = guard.protect(&reader.current, Ordering::Acquire);
        // Sound: it is never null, and reclaimed only after this guard.
        f(unsafe { &*current })
    }

    fn swap(&self, value: u64) {
        let new = Box::into_raw(Box::new(Object::new(value)));
        let guard = self.collector.enter();
        let old = guard.swap(&self.current, new, Ordering::AcqRel);
        // Sound: no reader can reach it any more, and it came from a Box.
        unsafe { guard.defer_retire(old, reclaim::boxed) };
    }
}
