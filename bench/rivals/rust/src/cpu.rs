//! The processor time of this process.

use std::mem::MaybeUninit;
use std::time::Duration;

pub fn time() -> Duration {
    let mut usage = MaybeUninit::<libc::rusage>::uninit();
    // Sound: getrusage fills its argument, unless it fails.
    let usage = unsafe {
        let err = libc::getrusage(libc::RUSAGE_SELF, usage.as_mut_ptr());
        assert_eq!(err, 0, "getrusage failed");
        usage.assume_init()
    };
    let duration = |t: libc::timeval| {
        Duration::from_secs(t.tv_sec as u64) + Duration::from_micros(t.tv_usec as u64)
    };
    duration(usage.ru_utime) + duration(usage.ru_stime)
}
