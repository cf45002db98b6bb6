//! How the writer's log file is written: in one piece a commit.
//!
//! SQLite writes its log page by page, each in two system calls, and those were a seventh of what a save costs. Here
//! what follows on from what was written before waits in memory until the log is synced, which SQLite does before it
//! tells anybody of a commit. INVARIANT: only the writer opens its log through this, and it runs with
//! `synchronous = full`; without that sync others would be told of pages that are not there yet.
//!
//! Everything but the log goes straight to the file system SQLite comes with. The unsafe lines are SQLite's own
//! interface: pointers it hands out and takes back, each used as its documentation of `sqlite3_vfs` says.
#![allow(unsafe_code)]

use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::OnceLock;

use rusqlite::ffi::{
    self, SQLITE_CANTOPEN, SQLITE_OK, SQLITE_OPEN_WAL, sqlite3_file, sqlite3_int64, sqlite3_io_methods, sqlite3_vfs,
};

/// The name it is opened by.
pub(super) const NAME: &CStr = c"ingrain";

/// Bytes that may wait: twice what a save writes. SQLite's own file takes less than 128 KiB at once.
const WAITING_MAX: usize = 120 * 1024;

/// Makes it known to SQLite, once. False where SQLite has no file system of its own.
pub(super) fn is_ready() -> bool {
    static READY: OnceLock<bool> = OnceLock::new();
    *READY.get_or_init(|| {
        // SAFETY: the default file system lives as long as the process, and so does the leaked copy registered here.
        unsafe {
            let own = ffi::sqlite3_vfs_find(std::ptr::null());
            if own.is_null() {
                return false;
            }
            let mut vfs = *own;
            vfs.zName = NAME.as_ptr();
            vfs.pNext = std::ptr::null_mut();
            vfs.szOsFile += size_of::<Log>() as c_int;
            vfs.xOpen = Some(open);
            ffi::sqlite3_vfs_register(Box::leak(Box::new(vfs)), 0) == SQLITE_OK
        }
    })
}

/// A log file as SQLite sees it; SQLite's own file follows it in memory.
#[repr(C)]
struct Log {
    base: sqlite3_file,
    /// Leaked while the file is open.
    waiting: *mut Waiting,
}

#[derive(Default)]
struct Waiting {
    /// Where in the file it belongs.
    start: sqlite3_int64,
    bytes: Vec<u8>,
}

static METHODS: sqlite3_io_methods = sqlite3_io_methods {
    iVersion: 1,
    xClose: Some(close),
    xRead: Some(read),
    xWrite: Some(write),
    xTruncate: Some(truncate),
    xSync: Some(sync),
    xFileSize: Some(file_size),
    xLock: Some(lock),
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

unsafe extern "C" fn open(
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
        let log = file.cast::<Log>();
        let opened = open(own, name, inner(file), flags, out_flags);
        // Without methods SQLite does not close it, and there is nothing to close.
        (*log).base.pMethods = if opened == SQLITE_OK { &raw const METHODS } else { std::ptr::null() };
        if opened == SQLITE_OK {
            (*log).waiting = Box::into_raw(Box::default());
        }
        opened
    }
}

/// SQLite's own file, behind ours.
unsafe fn inner(file: *mut sqlite3_file) -> *mut sqlite3_file {
    // SAFETY: within the allocation `open` was given.
    unsafe { file.cast::<Log>().add(1).cast() }
}

/// Calls a method of SQLite's own file.
macro_rules! own {
    ($file:ident . $method:ident ( $($argument:expr),* )) => {{
        let inner = inner($file);
        match (*(*inner).pMethods).$method {
            Some(method) => method(inner, $($argument),*),
            None => ffi::SQLITE_IOERR,
        }
    }};
}

/// Writes what waits.
unsafe fn flush(file: *mut sqlite3_file) -> c_int {
    // SAFETY: `waiting` is ours from `open` to `close`, and SQLite uses a file from one thread at a time.
    unsafe {
        let waiting = &mut *(*file.cast::<Log>()).waiting;
        if waiting.bytes.is_empty() {
            return SQLITE_OK;
        }
        let length = waiting.bytes.len() as c_int;
        let written = own!(file.xWrite(waiting.bytes.as_ptr().cast(), length, waiting.start));
        waiting.bytes.clear();
        written
    }
}

unsafe extern "C" fn write(file: *mut sqlite3_file, from: *const c_void, length: c_int, at: sqlite3_int64) -> c_int {
    // SAFETY: as in `flush`; `from` has `length` bytes.
    unsafe {
        let waiting = &mut *(*file.cast::<Log>()).waiting;
        let bytes = std::slice::from_raw_parts(from.cast::<u8>(), length as usize);
        let follows = at == waiting.start + waiting.bytes.len() as sqlite3_int64;
        if !follows || waiting.bytes.len() + bytes.len() > WAITING_MAX {
            let written = flush(file);
            if written != SQLITE_OK {
                return written;
            }
            waiting.start = at;
        }
        waiting.bytes.extend_from_slice(bytes);
        SQLITE_OK
    }
}

/// A method before which what waits is written.
macro_rules! flushed {
    ($name:ident ( $($argument:ident : $kind:ty),* ) => $method:ident) => {
        unsafe extern "C" fn $name(file: *mut sqlite3_file $(, $argument: $kind)*) -> c_int {
            // SAFETY: as in `flush`; the rest is handed on as it came.
            unsafe {
                match flush(file) {
                    SQLITE_OK => own!(file.$method($($argument),*)),
                    failed => failed,
                }
            }
        }
    };
}

/// A method that has nothing to do with what waits.
macro_rules! handed_on {
    ($name:ident ( $($argument:ident : $kind:ty),* ) => $method:ident) => {
        unsafe extern "C" fn $name(file: *mut sqlite3_file $(, $argument: $kind)*) -> c_int {
            // SAFETY: handed on as it came.
            unsafe { own!(file.$method($($argument),*)) }
        }
    };
}

flushed!(read(to: *mut c_void, length: c_int, at: sqlite3_int64) => xRead);
flushed!(truncate(length: sqlite3_int64) => xTruncate);
flushed!(sync(flags: c_int) => xSync);
flushed!(file_size(size: *mut sqlite3_int64) => xFileSize);
handed_on!(lock(level: c_int) => xLock);
handed_on!(unlock(level: c_int) => xUnlock);
handed_on!(check_reserved_lock(answer: *mut c_int) => xCheckReservedLock);
handed_on!(file_control(what: c_int, with: *mut c_void) => xFileControl);
handed_on!(sector_size() => xSectorSize);
handed_on!(device_characteristics() => xDeviceCharacteristics);

unsafe extern "C" fn close(file: *mut sqlite3_file) -> c_int {
    // SAFETY: as in `flush`; after this SQLite uses the file no more.
    unsafe {
        // What no sync followed was never told of, so it may be lost.
        drop(Box::from_raw((*file.cast::<Log>()).waiting));
        own!(file.xClose())
    }
}
