use crate::harness::Way;
use crate::object::Object;
use parking_lot::RwLock;

/// One object, overwritten under the write lock.
pub struct Lock(RwLock<Object>);

impl Way for Lock {
    type Reader<'a> = &'a RwLock<Object>;

    fn new(first: u64) -> Self {
        Lock(RwLock::new(Object::new(first)))
    }

    fn reader(&self) -> Self::Reader<'_> {
        &self.0
    }

    #[inline(always)]
    fn with<R>(reader: &mut Self::Reader<'_>, f: impl FnOnce(&Object) -> R) -> R {
        f(&reader.read())
    }

    fn swap(&self, value: u64) {
        self.0.write().set(value);
    }
}
