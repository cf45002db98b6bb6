//! One timer per connection for all its timeouts, which never overlap: headers, request, write. A new timer for each
//! would wake the runtime's timer thread every time.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use hyper::rt::{Sleep, Timer};
use tokio::time::Instant;

use crate::lock::lock_unpoisoned;

/// A connection's timer. It may fire early and is then set again; it never fires late.
#[derive(Clone)]
pub(crate) struct ConnectionTimer(Arc<Mutex<Pin<Box<tokio::time::Sleep>>>>);

impl ConnectionTimer {
    /// First fires after `shortest`, so that a wait as long or longer need not move the deadline.
    pub(crate) fn new(shortest: Duration) -> ConnectionTimer {
        ConnectionTimer(Arc::new(Mutex::new(Box::pin(tokio::time::sleep(shortest)))))
    }

    /// The result of `work`, or `None` if it takes longer than `time`.
    pub(crate) async fn run_within<T>(&self, time: Duration, work: impl Future<Output = T>) -> Option<T> {
        let (mut work, until) = (pin!(work), Instant::now() + time);
        poll_fn(|cx| match work.as_mut().poll(cx) {
            Poll::Ready(answer) => Poll::Ready(Some(answer)),
            Poll::Pending => self.poll_until(until, cx).map(|()| None),
        })
        .await
    }

    /// Ready once `until` has passed. Moves the shared deadline forward only: a later one is set when the timer fires.
    pub(crate) fn poll_until(&self, until: Instant, cx: &mut Context<'_>) -> Poll<()> {
        let mut timer = lock_unpoisoned(&self.0);
        if until < timer.deadline() {
            timer.as_mut().reset(until);
        }
        loop {
            // Registers the waker of this task.
            ready!(timer.as_mut().poll(cx));
            // Fired for an earlier, shorter wait that is over: set it for this one.
            if Instant::now() >= until {
                return Poll::Ready(());
            }
            timer.as_mut().reset(until);
        }
    }
}

/// Used by hyper for the timeout of request headers.
impl Timer for ConnectionTimer {
    fn sleep(&self, time: Duration) -> Pin<Box<dyn Sleep>> {
        self.sleep_until((Instant::now() + time).into_std())
    }

    fn sleep_until(&self, deadline: std::time::Instant) -> Pin<Box<dyn Sleep>> {
        Box::pin(TimerSleep { timer: self.clone(), deadline: Instant::from_std(deadline) })
    }
}

struct TimerSleep {
    timer: ConnectionTimer,
    deadline: Instant,
}

impl Future for TimerSleep {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        self.timer.poll_until(self.deadline, cx)
    }
}

impl Sleep for TimerSleep {}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[tokio::test(start_paused = true)]
    async fn rings_when_each_wait_is_over_whatever_was_waited_for_before() {
        let patience = ConnectionTimer::new(5 * SECOND);
        let forever = std::future::pending::<()>;
        for seconds in [10, 30, 1, 7, 10] {
            let begun = Instant::now();
            assert_eq!(patience.run_within(seconds * SECOND, forever()).await, None);
            assert_eq!(begun.elapsed().as_secs(), u64::from(seconds));
            assert_eq!(patience.run_within(seconds * SECOND, async { 7 }).await, Some(7));
            let begun = Instant::now();
            patience.sleep(seconds * SECOND).await;
            assert_eq!(begun.elapsed().as_secs(), u64::from(seconds));
        }
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_done_in_time_is_answered() {
        let patience = ConnectionTimer::new(5 * SECOND);
        for (takes, answer) in [(9, Some(1)), (11, None), (6, Some(1))] {
            let work = async {
                tokio::time::sleep(takes * SECOND).await;
                1
            };
            assert_eq!(patience.run_within(10 * SECOND, work).await, answer, "{takes}");
        }
    }
}
