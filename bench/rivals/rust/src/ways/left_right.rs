use crate::harness::Way;
use crate::object::Object;
use left_right::{Absorb, ReadHandle, ReadHandleFactory, WriteHandle};
use std::sync::Mutex;

/// Two copies, of which the writer changes the one that readers have left.
pub struct LeftRight {
    writer: Mutex<WriteHandle<Object, Set>>,
    readers: ReadHandleFactory<Object>,
}

pub struct Set(u64);

impl Absorb<Set> for Object {
    fn absorb_first(&mut self, operation: &mut Set, _: &Self) {
        self.set(operation.0);
    }

    fn sync_with(&mut self, first: &Self) {
        self.set(first.value());
    }
}

impl Way for LeftRight {
    type Reader<'a> = ReadHandle<Object>;

    fn new(first: u64) -> Self {
        let (writer, reader) = left_right::new_from_empty(Object::new(first));
        LeftRight {
            writer: Mutex::new(writer),
            readers: reader.factory(),
        }
    }

    fn reader(&self) -> Self::Reader<'_> {
        self.readers.handle()
    }

    #[inline(always)]
    fn with<R>(reader: &mut Self::Reader<'_>, f: impl FnOnce(&Object) -> R) -> R {
        f(&reader.enter().expect("the writer is there"))
    }

    fn swap(&self, value: u64) {
        let mut writer = self.writer.lock().expect("there is one writer");
        writer.append(Set(value)).publish();
    }
}
