//! Upkeep over many memories, while somebody else saves: how long does he wait?

use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::ScopedJoinHandle;
use std::time::Duration;

use engine::model::caller::Caller;
use engine::model::id::TenantId;
use engine::model::vocabulary::TtlClass;
use engine::ports::Clock;
use engine::{Engine, Turn, Upkeep, UpkeepDone};
use jiff::{SignedDuration, Timestamp};
use uuid::Uuid;

use super::measure::{Figures, Meter};
use super::process::broken;
use crate::assemble::Session;
use crate::error::Failure;

/// Memories of one agent: its quota.
const PER_AGENT: usize = 10_000;
/// Turns saved at once while filling.
const FILL_TOGETHER: usize = 1_000;
/// One in so many is due when upkeep runs.
const DUE_EVERY: usize = 4;
/// Saves with nobody else at it, to compare with.
const ALONE: usize = 1_000;
/// Bytes handed to the disk to see what it takes by itself: a page; how often at most, and how soon again beside upkeep.
const PAGE_BYTES: usize = 4_096;
const PAGES: usize = 10_000;
const PAGE_EVERY: Duration = Duration::from_millis(20);
/// After which the routine ones are due.
const LATER: SignedDuration = SignedDuration::from_hours(8 * 24);
/// After which the others have faded as well.
const MUCH_LATER: SignedDuration = SignedDuration::from_hours(365 * 24);

/// A clock that is ahead.
struct Ahead {
    clock: Arc<dyn Clock>,
    by: SignedDuration,
}

impl Clock for Ahead {
    fn now(&self) -> Timestamp {
        self.clock.now().checked_add(self.by).unwrap_or(Timestamp::MAX)
    }

    fn fresh_id(&self) -> Uuid {
        self.clock.fresh_id()
    }
}

/// Fills a database with episodes, a part of them due a week later, then keeps house at that time, and again when all
/// have faded, while another thread saves as fast as it can.
pub fn run(session: &Session, count: usize) -> Result<Vec<Figures>, Failure> {
    let filling = fill(session, count)?;
    let disk = disk(session, &AtomicBool::new(false), Duration::ZERO)?.named("a page to the disk");
    let mut figures = vec![filling.named("fill, a thousand turns each"), disk, save_alone(session)?];
    let due = count.div_ceil(DUE_EVERY) as u64;
    figures.extend(keep_house(session, LATER, "due", due, |kept| kept.expired)?);
    let faded = count as u64 - due;
    figures.extend(keep_house(session, MUCH_LATER, "faded", faded, |kept| kept.archived)?);
    Ok(figures)
}

/// One round with somebody saving beside it, then one with nothing left to do.
fn keep_house(
    session: &Session,
    ahead: SignedDuration,
    word: &str,
    due: u64,
    done: impl Fn(&UpkeepDone) -> u64,
) -> Result<Vec<Figures>, Failure> {
    let clock = Arc::new(Ahead { clock: session.engine.clock.clone(), by: ahead });
    let engine = Engine { clock, ..session.engine.clone() };
    let round = || engine.upkeep(session.caller.tenant, Upkeep::default());
    let over = AtomicBool::new(false);
    let (keeping, saving, disk) = std::thread::scope(|scope| {
        let saver = scope.spawn(|| save_meanwhile(&engine, session.caller.tenant, &over));
        // What the disk alone makes anybody wait for just then.
        let disk = scope.spawn(|| disk(session, &over, PAGE_EVERY));
        let mut meter = Meter::start(1);
        let kept = meter.time(round);
        over.store(true, Ordering::Relaxed);
        (kept.map(|kept| (kept, meter.stop())), joined(saver), joined(disk))
    });
    let (kept, keeping) = keeping?;
    // What was saved alone or meanwhile may fade too.
    if done(&kept) < due {
        return Err(Failure::broken("bench.upkeep", format!("{} of {due} {word}", done(&kept))));
    }
    let longest = Figures {
        operations: usize::try_from(kept.transactions).unwrap_or(usize::MAX),
        wall_ms_max: kept.longest.as_secs_f64() * 1e3,
        ..Figures::default()
    };
    let mut idle = Meter::start(1);
    idle.time(round)?;
    Ok(vec![
        keeping.named(&format!("upkeep, {due} {word}")),
        longest.named("its transactions"),
        saving?.named("saves meanwhile"),
        disk?.named("a page to the disk meanwhile"),
        idle.stop().named("upkeep, nothing due"),
    ])
}

fn joined(thread: ScopedJoinHandle<'_, Result<Figures, Failure>>) -> Result<Figures, Failure> {
    thread.join().unwrap_or_else(|_| Err(Failure::broken("bench.upkeep", "a thread broke")))
}

/// What the disk takes for a page in a file beside the database, again and again until it is over.
fn disk(session: &Session, over: &AtomicBool, every: Duration) -> Result<Figures, Failure> {
    let location = session.engine.backend.health()?.location;
    let folder = Path::new(&location).parent().filter(|folder| folder.is_dir());
    let Some(folder) = folder else { return Ok(Figures::default()) };
    let path = folder.join("bench-disk.tmp");
    let mut file = std::fs::File::create(&path).map_err(broken)?;
    let mut meter = Meter::start(0);
    while !over.load(Ordering::Relaxed) && meter.operations() < PAGES {
        meter.time(|| file.write_all(&[0; PAGE_BYTES]).and_then(|()| file.sync_data())).map_err(broken)?;
        std::thread::park_timeout(every);
    }
    std::fs::remove_file(&path).map_err(broken)?;
    Ok(meter.stop())
}

fn fill(session: &Session, count: usize) -> Result<Figures, Failure> {
    let mut meter = Meter::start(count / FILL_TOGETHER + 1);
    let mut from = 0;
    while from < count {
        let to = count.min(from + FILL_TOGETHER);
        let agent = Caller::agent(session.caller.tenant, &format!("bench{}", from / PER_AGENT));
        let turns: Vec<Turn> = (from..to).map(turn).collect();
        meter.time(|| session.engine.remember_turns(&agent, &format!("s{}", from / FILL_TOGETHER), &turns))?;
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
        meter.time(|| session.engine.remember_turns(&agent, "alone", &turns))?;
    }
    Ok(meter.stop().named("saves alone"))
}

/// At the same time as upkeep, so that nothing of it is due.
fn save_meanwhile(engine: &Engine, tenant: TenantId, over: &AtomicBool) -> Result<Figures, Failure> {
    let mut meter = Meter::start(0);
    let mut number = 0;
    while !over.load(Ordering::Relaxed) {
        // Never near a quota, which would be work of its own.
        let name = format!("meanwhile{}", number / (PER_AGENT / 2));
        let agent = Caller::agent(tenant, &name);
        let turns = vec![turn(number * DUE_EVERY + 1)];
        meter.time(|| engine.remember_turns(&agent, &name, &turns))?;
        number += 1;
    }
    Ok(meter.stop())
}
