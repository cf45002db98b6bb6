//! Upkeep over many memories, while somebody else saves: how long does he wait?

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use engine::caller::Caller;
use engine::vocabulary::TtlClass;
use engine::{Engine, Turn, Upkeep};
use jiff::SignedDuration;

use super::measure::{Figures, Meter};
use crate::assemble::Session;
use crate::clock::SystemClock;
use crate::error::Failure;

/// Memories of one agent: its quota.
const PER_AGENT: usize = 10_000;
/// Turns saved at once while filling.
const FILL_TOGETHER: usize = 1_000;
/// One in so many is due when upkeep runs.
const DUE_EVERY: usize = 4;
/// Saves with nobody else at it, to compare with.
const ALONE: usize = 200;
/// After which the routine ones are due.
const LATER: SignedDuration = SignedDuration::from_hours(8 * 24);

/// Fills a database with episodes, a part of them due a week later, then keeps house at that time while another thread
/// saves as fast as it can.
pub fn run(session: &Session, count: usize) -> Result<Vec<Figures>, Failure> {
    let filling = fill(session, count)?;
    let alone = save_alone(session)?;
    let later = session.engine.clock.now().checked_add(LATER).unwrap_or(jiff::Timestamp::MAX);
    let engine = Engine { clock: Arc::new(SystemClock::new(Some(later))), ..session.engine.clone() };
    let done = AtomicBool::new(false);
    let (keeping, saving) = std::thread::scope(|scope| {
        let saver = scope.spawn(|| save_meanwhile(session, &done));
        let mut meter = Meter::start(1);
        let kept = meter.time(|| engine.upkeep(session.caller.tenant, Upkeep::default()));
        done.store(true, Ordering::Relaxed);
        let saved = saver.join().unwrap_or_else(|_| Err(Failure::broken("bench.upkeep", "the saver broke")));
        (kept.map(|kept| (kept, meter.stop())), saved)
    });
    let (kept, keeping) = keeping?;
    let due = count.div_ceil(DUE_EVERY) as u64;
    if kept.expired != due {
        return Err(Failure::broken("bench.upkeep", format!("{} of {due} expired", kept.expired)));
    }
    // Nothing is due any more: what an idle round costs.
    let mut idle = Meter::start(1);
    idle.time(|| engine.upkeep(session.caller.tenant, Upkeep::default()))?;
    Ok(vec![
        filling.named("fill, a thousand turns each"),
        alone.named("saves alone"),
        keeping.named(&format!("upkeep, {due} of {count} due")),
        saving?.named("saves meanwhile"),
        idle.stop().named("upkeep, nothing due"),
    ])
}

fn fill(session: &Session, count: usize) -> Result<Figures, Failure> {
    let mut meter = Meter::start(count / FILL_TOGETHER + 1);
    let mut from = 0;
    while from < count {
        let to = count.min(from + FILL_TOGETHER);
        let agent = Caller::agent(session.caller.tenant, &format!("bench{}", from / PER_AGENT));
        let turns = (from..to).map(turn).collect();
        meter.time(|| session.engine.remember_turns(&agent, &format!("s{}", from / FILL_TOGETHER), turns))?;
        from = to;
    }
    Ok(meter.stop())
}

fn turn(number: usize) -> Turn {
    let class = if number.is_multiple_of(DUE_EVERY) { TtlClass::Routine } else { TtlClass::Remember };
    let content = format!("watch {number}: pier {} was quiet, lamp {} was lit", number % 97, number % 89);
    Turn { content, ttl: Some(class), importance: Some(0.5), ..Turn::default() }
}

/// What a save waits for its disk with nobody else at it.
fn save_alone(session: &Session) -> Result<Figures, Failure> {
    let agent = Caller::agent(session.caller.tenant, "alone");
    let mut meter = Meter::start(ALONE);
    for number in 0..ALONE {
        let turns = vec![turn(number * DUE_EVERY + 1)];
        meter.time(|| session.engine.remember_turns(&agent, "alone", turns))?;
    }
    Ok(meter.stop())
}

fn save_meanwhile(session: &Session, done: &AtomicBool) -> Result<Figures, Failure> {
    let agent = Caller::agent(session.caller.tenant, "meanwhile");
    let mut meter = Meter::start(0);
    let mut number = 0;
    while !done.load(Ordering::Relaxed) {
        let turns = vec![turn(number * DUE_EVERY + 1)];
        meter.time(|| session.engine.remember_turns(&agent, "meanwhile", turns))?;
        number += 1;
    }
    Ok(meter.stop())
}
