//! How many bytes the scanner reads, counted in tests only: linear time is proven by counting, not by a clock.

#[cfg(test)]
thread_local! {
    static BYTES_READ: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
}

/// Notes that so many bytes are about to be read once more.
#[inline]
pub(super) fn record_read(bytes: usize) {
    #[cfg(test)]
    BYTES_READ.with(|count| count.set(count.get() + bytes as u64));
    #[cfg(not(test))]
    let _ = bytes;
}

/// The bytes read since the last call.
#[cfg(test)]
pub(super) fn take_bytes_read() -> u64 {
    BYTES_READ.with(std::cell::Cell::take)
}
