//! A SQLite VFS that buffers the write-ahead log during a commit and writes it in one system call.
//!
//! SQLite writes its log page by page, with two system calls each, which took a seventh of the time of a save. Inside
//! [`with_buffered_log`], log writes stay in memory until SQLite syncs the log, which it does before it publishes the
//! commit in the shared index. INVARIANT: commits run with `synchronous = full`; without that sync other processes
//! would be pointed to pages that are not in the file yet. Writes outside a commit (pages of a transaction that no
//! longer fit into the cache) go to the file at once. What a failed commit left in the buffer is dropped: by then
//! another process may have written at the same position.
//!
//! Everything but the log is passed on to the VFS that SQLite comes with. The unsafe code is the C interface of SQLite:
//! pointers it hands out and takes back, used as the documentation of `sqlite3_vfs` requires.
#![allow(unsafe_code)]

use std::cell::RefCell;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::{Mutex, OnceLock};

use crate::sync::lock;
use rusqlite::ffi::{
    self, SQLITE_CANTOPEN, SQLITE_OK, SQLITE_OPEN_WAL, sqlite3_file, sqlite3_int64, sqlite3_io_methods, sqlite3_vfs,
};

/// The name to open connections with.
pub(super) const VFS_NAME: &CStr = c"ingrain";

/// Size of the buffer: twice what a save writes. SQLite's own VFS takes less than 128 KiB per write.
const BUFFER_BYTES_MAX: usize = 120 * 1024;

/// Registers the VFS, once per process. Returns false where SQLite has no default VFS to build on.
pub(super) fn ensure_registered() -> bool {
    static READY: OnceLock<bool> = OnceLock::new();
    *READY.get_or_init(|| {
        // SAFETY: the default VFS lives as long as the process, and so does the leaked copy registered here.
        unsafe {
            let default_vfs = ffi::sqlite3_vfs_find(std::ptr::null());
            if default_vfs.is_null() {
                return false;
            }
            let mut vfs = *default_vfs;
            vfs.zName = VFS_NAME.as_ptr();
            vfs.pNext = std::ptr::null_mut();
            vfs.szOsFile += size_of::<LogFile>() as c_int;
            vfs.xOpen = Some(open_file);
            ffi::sqlite3_vfs_register(Box::leak(Box::new(vfs)), 0) == SQLITE_OK
        }
    })
}

/// Runs a commit whose writes to the log are buffered.
pub(super) fn with_buffered_log<T>(commit: impl FnOnce() -> T) -> T {
    /// The allocation of the last commit, reused.
    static SPARE: Mutex<Vec<u8>> = Mutex::new(Vec::new());
    let bytes = std::mem::take(&mut *lock(&SPARE));
    LOG_BUFFER.set(Some(LogBuffer { start: 0, bytes }));
    let committed = commit();
    if let Some(mut buffer) = LOG_BUFFER.take() {
        buffer.bytes.clear();
        *lock(&SPARE) = buffer.bytes;
    }
    committed
}

thread_local! {
    /// Log writes of the commit that runs on this thread and are not synced yet; `None` outside a commit.
    static LOG_BUFFER: RefCell<Option<LogBuffer>> = const { RefCell::new(None) };
}

struct LogBuffer {
    /// Offset of `bytes` in the file.
    start: sqlite3_int64,
    bytes: Vec<u8>,
}

impl LogBuffer {
    /// Appends the bytes if they continue the buffered ones and there is room.
    fn try_append(&mut self, bytes: &[u8], at: sqlite3_int64) -> bool {
        let is_adjacent = self.bytes.is_empty() || at == self.start + self.bytes.len() as sqlite3_int64;
        let fits = self.bytes.len() + bytes.len() <= BUFFER_BYTES_MAX;
        if is_adjacent && fits {
            self.start = if self.bytes.is_empty() { at } else { self.start };
            self.bytes.extend_from_slice(bytes);
        }
        is_adjacent && fits
    }
}

/// A log file as SQLite sees it. The file object of the default VFS follows it in the same allocation.
#[repr(C)]
struct LogFile {
    base: sqlite3_file,
}

static LOG_METHODS: sqlite3_io_methods = sqlite3_io_methods {
    // Version 1 has no shared-memory methods; SQLite calls those on the database file only.
    iVersion: 1,
    xClose: Some(close),
    xRead: Some(read),
    xWrite: Some(write_log),
    xTruncate: Some(truncate),
    xSync: Some(sync),
    xFileSize: Some(file_size),
    xLock: Some(lock_file),
    xUnlock: Some(unlock),
    xCheckReservedLock: Some(check_reserved_lock),
    xFileControl: Some(file_control),
    xSectorSize: Some(sector_size),
    xDeviceCharacteristics: Some(device_characteristics),
    xShmMap: None,
    xShmLock: None,
    xShmBarrier: None,
    xShmUnmap: None,
    xFetch: None,
    xUnfetch: None,
};

unsafe extern "C" fn open_file(
    _: *mut sqlite3_vfs,
    name: *const c_char,
    file: *mut sqlite3_file,
    flags: c_int,
    out_flags: *mut c_int,
) -> c_int {
    // SAFETY: SQLite allocates `szOsFile` bytes at `file`: room for a `LogFile` and the default VFS's file behind it.
    unsafe {
        let default_vfs = ffi::sqlite3_vfs_find(std::ptr::null());
        let Some(open) = default_vfs.as_ref().and_then(|vfs| vfs.xOpen) else { return SQLITE_CANTOPEN };
        if flags & SQLITE_OPEN_WAL == 0 {
            return open(default_vfs, name, file, flags, out_flags);
        }
        let log = file.cast::<LogFile>();
        let opened = open(default_vfs, name, inner_file(file), flags, out_flags);
        // With null methods SQLite does not call close, and a failed open leaves nothing to close.
        (*log).base.pMethods = if opened == SQLITE_OK { &raw const LOG_METHODS } else { std::ptr::null() };
        opened
    }
}

/// The file object of the default VFS, behind ours.
unsafe fn inner_file(file: *mut sqlite3_file) -> *mut sqlite3_file {
    // SAFETY: within the allocation that `open_file` was given.
    unsafe { file.cast::<LogFile>().add(1).cast() }
}

/// Calls a method of the file of the default VFS.
macro_rules! call_inner {
    ($file:ident . $method:ident ( $($argument:expr),* )) => {{
        let inner = inner_file($file);
        match (*(*inner).pMethods).$method {
            Some(method) => method(inner, $($argument),*),
            None => ffi::SQLITE_IOERR,
        }
    }};
}

/// Writes the buffer to the file. A commit writes to one log only, so the buffer belongs to this file.
unsafe fn flush_buffer(file: *mut sqlite3_file) -> c_int {
    LOG_BUFFER.with_borrow_mut(|buffer| match buffer {
        Some(LogBuffer { start, bytes }) if !bytes.is_empty() => {
            // SAFETY: the inner file is open while ours is, and reads `bytes.len()` bytes.
            let written = unsafe { call_inner!(file.xWrite(bytes.as_ptr().cast(), bytes.len() as c_int, *start)) };
            bytes.clear();
            written
        }
        _ => SQLITE_OK,
    })
}

unsafe extern "C" fn write_log(
    file: *mut sqlite3_file,
    from: *const c_void,
    length: c_int,
    at: sqlite3_int64,
) -> c_int {
    // SAFETY: `from` has `length` bytes.
    let bytes = unsafe { std::slice::from_raw_parts(from.cast::<u8>(), length as usize) };
    let try_buffer =
        || LOG_BUFFER.with_borrow_mut(|buffer| buffer.as_mut().is_some_and(|buffer| buffer.try_append(bytes, at)));
    if try_buffer() {
        return SQLITE_OK;
    }
    // SAFETY: as in `flush_buffer`; the arguments are passed on unchanged.
    unsafe {
        match flush_buffer(file) {
            // Empty now, so only a write larger than the whole buffer, or one outside a commit, does not fit.
            SQLITE_OK if try_buffer() => SQLITE_OK,
            SQLITE_OK => call_inner!(file.xWrite(from, length, at)),
            failed => failed,
        }
    }
}

/// Defines a method that writes the buffer first, then calls the inner file.
macro_rules! flush_then {
    ($name:ident ( $($argument:ident : $kind:ty),* ) => $method:ident) => {
        unsafe extern "C" fn $name(file: *mut sqlite3_file $(, $argument: $kind)*) -> c_int {
            // SAFETY: as in `flush_buffer`; the arguments are passed on unchanged.
            unsafe {
                match flush_buffer(file) {
                    SQLITE_OK => call_inner!(file.$method($($argument),*)),
                    failed => failed,
                }
            }
        }
    };
}

/// Defines a method that calls the inner file and leaves the buffer alone.
macro_rules! forward {
    ($name:ident ( $($argument:ident : $kind:ty),* ) => $method:ident) => {
        unsafe extern "C" fn $name(file: *mut sqlite3_file $(, $argument: $kind)*) -> c_int {
            // SAFETY: the arguments are passed on unchanged.
            unsafe { call_inner!(file.$method($($argument),*)) }
        }
    };
}

flush_then!(read(to: *mut c_void, length: c_int, at: sqlite3_int64) => xRead);
flush_then!(truncate(length: sqlite3_int64) => xTruncate);
flush_then!(sync(flags: c_int) => xSync);
flush_then!(file_size(size: *mut sqlite3_int64) => xFileSize);
forward!(close() => xClose);
forward!(lock_file(level: c_int) => xLock);
forward!(unlock(level: c_int) => xUnlock);
forward!(check_reserved_lock(answer: *mut c_int) => xCheckReservedLock);
forward!(file_control(operation: c_int, argument: *mut c_void) => xFileControl);
forward!(sector_size() => xSectorSize);
forward!(device_characteristics() => xDeviceCharacteristics);
