//! Counter of bytes read by the scanner, in tests only: tests prove linear time by counting, not by a clock.

#[cfg(test)]
thread_local! {
    static BYTES_READ: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
}

/// Counts a read of `bytes` bytes. Call it before every loop over the text; compiled to nothing outside tests.
#[inline]
pub(super) fn record_read(bytes: usize) {
    #[cfg(test)]
    BYTES_READ.with(|count| count.set(count.get() + bytes as u64));
    #[cfg(not(test))]
    let _ = bytes;
}

/// Bytes read by this thread since the last call.
#[cfg(test)]
pub(super) fn take_bytes_read() -> u64 {
    BYTES_READ.with(std::cell::Cell::take)
}
