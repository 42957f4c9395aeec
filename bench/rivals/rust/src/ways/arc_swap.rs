use crate::harness::Way;
use crate::object::Object;
use arc_swap::{ArcSwap, Cache};
use std::sync::Arc;

/// `ArcSwap::load` for each read.
pub struct Load(ArcSwap<Object>);

impl Way for Load {
    type Reader<'a> = &'a ArcSwap<Object>;

    fn new(first: u64) -> Self {
        Load(ArcSwap::from_pointee(Object::new(first)))
    }

    fn reader(&self) -> Self::Reader<'_> {
        &self.0
    }

    #[inline(always)]
    fn with<R>(reader: &mut Self::Reader<'_>, f: impl FnOnce(&Object) -> R) -> R {
        f(&reader.load())
    }

    fn swap(&self, value: u64) {
        self.0.store(Arc::new(Object::new(value)));
    }
}

/// A `Cache` in each thread, which looks for a newer object at each read.
pub struct Cached(ArcSwap<Object>);

impl Way for Cached {
    type Reader<'a> = Cache<&'a ArcSwap<Object>, Arc<Object>>;

    fn new(first: u64) -> Self {
        Cached(ArcSwap::from_pointee(Object::new(first)))
    }

    fn reader(&self) -> Self::Reader<'_> {
        Cache::new(&self.0)
    }

    #[inline(always)]
    fn with<R>(reader: &mut Self::Reader<'_>, f: impl FnOnce(&Object) -> R) -> R {
        f(reader.load())
    }

    fn swap(&self, value: u64) {
        self.0.store(Arc::new(Object::new(value)));
    }
}
