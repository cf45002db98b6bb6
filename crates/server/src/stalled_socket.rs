//! A socket with a write timeout: a client that stops reading its answer is disconnected, so that it does not hold one
//! of the bounded connections.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use hyper::rt::{Read, ReadBufCursor, Write};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::time::Instant;

use crate::connection_timer::ConnectionTimer;

pub(crate) struct StallCheckedSocket {
    socket: TokioIo<TcpStream>,
    timer: ConnectionTimer,
    /// Longest time in which the client reads nothing at all.
    stall_timeout: Duration,
    /// End of that time, while a write is blocked.
    stall_deadline: Option<Instant>,
}

impl StallCheckedSocket {
    pub(crate) fn new(socket: TcpStream, timer: ConnectionTimer, stall_timeout: Duration) -> StallCheckedSocket {
        StallCheckedSocket { socket: TokioIo::new(socket), timer, stall_timeout, stall_deadline: None }
    }

    /// Fails a blocked write once the deadline has passed; any progress resets the deadline.
    fn check_stall<T>(&mut self, polled: Poll<io::Result<T>>, cx: &mut Context<'_>) -> Poll<io::Result<T>> {
        if polled.is_ready() {
            self.stall_deadline = None;
            return polled;
        }
        let until = *self.stall_deadline.get_or_insert_with(|| Instant::now() + self.stall_timeout);
        self.timer.poll_until(until, cx).map(|()| Err(io::ErrorKind::TimedOut.into()))
    }
}

// Reads have no timeout here: headers and whole requests have theirs.
impl Read for StallCheckedSocket {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: ReadBufCursor<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_read(cx, buf)
    }
}

impl Write for StallCheckedSocket {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.socket).poll_write(cx, bytes);
        self.check_stall(polled, cx)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.socket).poll_write_vectored(cx, slices);
        self.check_stall(polled, cx)
    }

    fn is_write_vectored(&self) -> bool {
        self.socket.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_shutdown(cx)
    }
}
