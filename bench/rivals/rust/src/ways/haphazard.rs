use crate::harness::Way;
use crate::object::Object;
use haphazard::{AtomicPtr, HazardPointer};

/// A hazard pointer in each thread, set for each read and reset after it.
pub struct Hazard(AtomicPtr<Object>);

impl Way for Hazard {
    type Reader<'a> = (&'a AtomicPtr<Object>, HazardPointer<'static>);

    fn new(first: u64) -> Self {
        Hazard(AtomicPtr::from(Box::new(Object::new(first))))
    }

    fn reader(&self) -> Self::Reader<'_> {
        (&self.0, HazardPointer::new())
    }

    #[inline(always)]
    fn with<R>(reader: &mut Self::Reader<'_>, f: impl FnOnce(&Object) -> R) -> R {
        let (current, hazard) = reader;
        let result = f(current.safe_load(hazard).expect("it is never null"));
        hazard.reset_protection();
        result
    }

    fn swap(&self, value: u64) {
        let old = self.0.swap(Box::new(Object::new(value)));
        // Sound: it is retired this once.
        unsafe { old.expect("it is never null").retire() };
    }
}
