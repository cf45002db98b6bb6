//! How the writer's log file is written: in one piece a commit.
//!
//! SQLite writes its log page by page, each in two system calls, and those were a seventh of what a save costs. While a
//! commit runs `in_one_piece`, what it writes waits in memory until SQLite syncs the log, which it does before it tells
//! anybody of the commit. INVARIANT: commits run with `synchronous = full`; without that sync others would be told of
//! pages that are not there yet. Whatever is written outside a commit (pages that do not fit into memory, of a
//! transaction that may still be rolled back) is written at once, and what a failed commit left waiting is dropped: by
//! then another process may have written at the same place.
//!
//! Everything but the log goes straight to the file system SQLite comes with. The unsafe lines are SQLite's own
//! interface: pointers it hands out and takes back, each used as its documentation of `sqlite3_vfs` says.
#![allow(unsafe_code)]

use std::cell::RefCell;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::{Mutex, OnceLock};

use crate::sync::lock;
use rusqlite::ffi::{
    self, SQLITE_CANTOPEN, SQLITE_OK, SQLITE_OPEN_WAL, sqlite3_file, sqlite3_int64, sqlite3_io_methods, sqlite3_vfs,
};

/// The name it is opened by.
pub(super) const VFS_NAME: &CStr = c"ingrain";

/// Bytes that may wait: twice what a save writes. SQLite's own file takes less than 128 KiB at once.
const BUFFER_BYTES_MAX: usize = 120 * 1024;

/// Makes it known to SQLite, once. False where SQLite has no file system of its own.
pub(super) fn ensure_registered() -> bool {
    static READY: OnceLock<bool> = OnceLock::new();
    *READY.get_or_init(|| {
        // SAFETY: the default file system lives as long as the process, and so does the leaked copy registered here.
        unsafe {
            let own = ffi::sqlite3_vfs_find(std::ptr::null());
            if own.is_null() {
                return false;
            }
            let mut vfs = *own;
            vfs.zName = VFS_NAME.as_ptr();
            vfs.pNext = std::ptr::null_mut();
            vfs.szOsFile += size_of::<LogFile>() as c_int;
            vfs.xOpen = Some(open_file);
            ffi::sqlite3_vfs_register(Box::leak(Box::new(vfs)), 0) == SQLITE_OK
        }
    })
}

/// Runs a commit, with what it writes to the log in one piece.
pub(super) fn with_buffered_log<T>(commit: impl FnOnce() -> T) -> T {
    /// Room kept from the last commit.
    static SPARE: Mutex<Vec<u8>> = Mutex::new(Vec::new());
    let bytes = std::mem::take(&mut *lock(&SPARE));
    LOG_BUFFER.set(Some(LogBuffer { start: 0, bytes }));
    let committed = commit();
    if let Some(mut waiting) = LOG_BUFFER.take() {
        waiting.bytes.clear();
        *lock(&SPARE) = waiting.bytes;
    }
    committed
}

thread_local! {
    /// What the commit that runs on this thread has written and not synced; none while there is no commit.
    static LOG_BUFFER: RefCell<Option<LogBuffer>> = const { RefCell::new(None) };
}

struct LogBuffer {
    /// Where in the file it belongs.
    start: sqlite3_int64,
    bytes: Vec<u8>,
}

impl LogBuffer {
    /// Takes these bytes if they follow on from what waits and there is room.
    fn try_append(&mut self, bytes: &[u8], at: sqlite3_int64) -> bool {
        let follow = self.bytes.is_empty() || at == self.start + self.bytes.len() as sqlite3_int64;
        let fits = self.bytes.len() + bytes.len() <= BUFFER_BYTES_MAX;
        if follow && fits {
            self.start = if self.bytes.is_empty() { at } else { self.start };
            self.bytes.extend_from_slice(bytes);
        }
        follow && fits
    }
}

/// A log file as SQLite sees it; SQLite's own file follows it in memory.
#[repr(C)]
struct LogFile {
    base: sqlite3_file,
}

static LOG_METHODS: sqlite3_io_methods = sqlite3_io_methods {
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
    // SAFETY: SQLite gives `szOsFile` bytes at `file`: room for a log and for a file of its own behind it.
    unsafe {
        let own = ffi::sqlite3_vfs_find(std::ptr::null());
        let Some(open) = own.as_ref().and_then(|own| own.xOpen) else { return SQLITE_CANTOPEN };
        if flags & SQLITE_OPEN_WAL == 0 {
            return open(own, name, file, flags, out_flags);
        }
        let log = file.cast::<LogFile>();
        let opened = open(own, name, inner_file(file), flags, out_flags);
        // Without methods SQLite does not close it, and there is nothing to close.
        (*log).base.pMethods = if opened == SQLITE_OK { &raw const LOG_METHODS } else { std::ptr::null() };
        opened
    }
}

/// SQLite's own file, behind ours.
unsafe fn inner_file(file: *mut sqlite3_file) -> *mut sqlite3_file {
    // SAFETY: within the allocation `open` was given.
    unsafe { file.cast::<LogFile>().add(1).cast() }
}

/// Calls a method of SQLite's own file.
macro_rules! call_inner {
    ($file:ident . $method:ident ( $($argument:expr),* )) => {{
        let inner = inner_file($file);
        match (*(*inner).pMethods).$method {
            Some(method) => method(inner, $($argument),*),
            None => ffi::SQLITE_IOERR,
        }
    }};
}

/// Writes what waits. A commit has one log, so it is of this file.
unsafe fn flush_buffer(file: *mut sqlite3_file) -> c_int {
    LOG_BUFFER.with_borrow_mut(|waiting| match waiting {
        Some(LogBuffer { start, bytes }) if !bytes.is_empty() => {
            // SAFETY: SQLite's own file is open while ours is, and reads no more than `bytes` has.
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
    let takes =
        || LOG_BUFFER.with_borrow_mut(|waiting| waiting.as_mut().is_some_and(|waiting| waiting.try_append(bytes, at)));
    if takes() {
        return SQLITE_OK;
    }
    // SAFETY: as in `flush_buffer`; the rest is handed on as it came.
    unsafe {
        match flush_buffer(file) {
            SQLITE_OK if takes() => SQLITE_OK,
            SQLITE_OK => call_inner!(file.xWrite(from, length, at)),
            failed => failed,
        }
    }
}

/// A method before which what waits is written.
macro_rules! flush_then {
    ($name:ident ( $($argument:ident : $kind:ty),* ) => $method:ident) => {
        unsafe extern "C" fn $name(file: *mut sqlite3_file $(, $argument: $kind)*) -> c_int {
            // SAFETY: as in `flush_buffer`; the rest is handed on as it came.
            unsafe {
                match flush_buffer(file) {
                    SQLITE_OK => call_inner!(file.$method($($argument),*)),
                    failed => failed,
                }
            }
        }
    };
}

/// A method that has nothing to do with what waits.
macro_rules! forward {
    ($name:ident ( $($argument:ident : $kind:ty),* ) => $method:ident) => {
        unsafe extern "C" fn $name(file: *mut sqlite3_file $(, $argument: $kind)*) -> c_int {
            // SAFETY: handed on as it came.
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
forward!(file_control(what: c_int, with: *mut c_void) => xFileControl);
forward!(sector_size() => xSectorSize);
forward!(device_characteristics() => xDeviceCharacteristics);
