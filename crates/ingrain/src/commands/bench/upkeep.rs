//! `bench upkeep`: duration of upkeep over many memories, and the waiting time of concurrent saves.

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
use engine::{Engine, Turn, UpkeepOptions, UpkeepReport};
use jiff::{SignedDuration, Timestamp};
use uuid::Uuid;

use super::measure::{Figures, Meter};
use super::process::process_failure;
use crate::assemble::Session;
use crate::error::Failure;

/// Memories per agent; equal to its quota.
const PER_AGENT: usize = 10_000;
/// Turns per batch while filling.
const TURNS_PER_BATCH: usize = 1_000;
/// One in this many memories is due when upkeep runs.
const DUE_EVERY: usize = 4;
/// Saves without concurrent work, for comparison.
const SAVES_ALONE: usize = 1_000;
/// Probe of the disk alone: page size, most writes, and pause between writes during upkeep.
const PAGE_BYTES: usize = 4_096;
const PAGES_MAX: usize = 10_000;
const PAGE_EVERY: Duration = Duration::from_millis(20);
/// Time after which routine turns have expired.
const DUE_AFTER: SignedDuration = SignedDuration::from_hours(8 * 24);
/// Time after which all other turns have faded.
const FADED_AFTER: SignedDuration = SignedDuration::from_hours(365 * 24);

/// Clock with an offset into the future.
struct ShiftedClock {
    clock: Arc<dyn Clock>,
    offset: SignedDuration,
}

impl Clock for ShiftedClock {
    fn now(&self) -> Timestamp {
        self.clock.now().checked_add(self.offset).unwrap_or(Timestamp::MAX)
    }

    fn fresh_id(&self) -> Uuid {
        self.clock.fresh_id()
    }
}

/// Fills a database with episodes, then runs upkeep when a part has expired and again when all have faded, each time
/// while another thread saves as fast as it can.
pub fn run(session: &Session, count: usize) -> Result<Vec<Figures>, Failure> {
    let filling = fill_turns(session, count)?;
    let disk = measure_disk(session, &AtomicBool::new(false), Duration::ZERO)?.with_name("a page to the disk");
    let mut figures = vec![filling.with_name("fill, 1000 turns each"), disk, measure_lone_saves(session)?];
    let due = count.div_ceil(DUE_EVERY) as u64;
    figures.extend(measure_upkeep(session, DUE_AFTER, "due", due, |report| report.expired)?);
    let faded = count as u64 - due;
    figures.extend(measure_upkeep(session, FADED_AFTER, "faded", faded, |report| report.archived)?);
    Ok(figures)
}

/// Measures one round of upkeep with concurrent saves, then one with nothing due.
fn measure_upkeep(
    session: &Session,
    ahead: SignedDuration,
    word: &str,
    due: u64,
    done: impl Fn(&UpkeepReport) -> u64,
) -> Result<Vec<Figures>, Failure> {
    let clock = Arc::new(ShiftedClock { clock: session.engine.clock.clone(), offset: ahead });
    let engine = session.engine.with_clock(clock);
    let round = || engine.upkeep(session.caller.tenant, UpkeepOptions::default());
    let stop = AtomicBool::new(false);
    let (upkeep, saving, disk) = std::thread::scope(|scope| {
        let saver = scope.spawn(|| measure_concurrent_saves(&engine, session.caller.tenant, &stop));
        // Tells waiting for the disk from waiting for upkeep.
        let disk = scope.spawn(|| measure_disk(session, &stop, PAGE_EVERY));
        let mut meter = Meter::start(1);
        let report = meter.time_operation(round);
        // Before the result is looked at: after a failure the scope would wait for both threads forever.
        stop.store(true, Ordering::Relaxed);
        (report.map(|report| (report, meter.stop())), join_thread(saver), join_thread(disk))
    });
    let (report, upkeep) = upkeep?;
    // At least: memories of the concurrent saver may fade too.
    if done(&report) < due {
        return Err(Failure::system_error("bench.upkeep", format!("{} of {due} {word}", done(&report))));
    }
    // Upkeep works in short transactions; the longest one is how long a save may have to wait.
    let longest = Figures {
        operations: usize::try_from(report.transactions).unwrap_or(usize::MAX),
        wall_ms_max: report.longest.as_secs_f64() * 1e3,
        ..Figures::default()
    };
    let mut idle = Meter::start(1);
    idle.time_operation(round)?;
    Ok(vec![
        upkeep.with_name(&format!("upkeep, {due} {word}")),
        longest.with_name("its transactions"),
        saving?.with_name("saves meanwhile"),
        disk?.with_name("a page to the disk meanwhile"),
        idle.stop().with_name("upkeep, nothing due"),
    ])
}

fn join_thread(thread: ScopedJoinHandle<'_, Result<Figures, Failure>>) -> Result<Figures, Failure> {
    thread.join().unwrap_or_else(|_| Err(Failure::system_error("bench.upkeep", "a thread panicked")))
}

/// Measures writes and syncs of one page in a file next to the database, until stopped. Empty for a server database.
fn measure_disk(session: &Session, stop: &AtomicBool, every: Duration) -> Result<Figures, Failure> {
    let location = session.engine.database().health()?.location;
    let folder = Path::new(&location).parent().filter(|folder| folder.is_dir());
    let Some(folder) = folder else { return Ok(Figures::default()) };
    let path = folder.join("bench-disk.tmp");
    let mut file = std::fs::File::create(&path).map_err(process_failure)?;
    let mut meter = Meter::start(0);
    while !stop.load(Ordering::Relaxed) && meter.operation_count() < PAGES_MAX {
        meter
            .time_operation(|| file.write_all(&[0; PAGE_BYTES]).and_then(|()| file.sync_data()))
            .map_err(process_failure)?;
        // Nothing unparks this thread; the call only sleeps.
        std::thread::park_timeout(every);
    }
    std::fs::remove_file(&path).map_err(process_failure)?;
    Ok(meter.stop())
}

fn fill_turns(session: &Session, count: usize) -> Result<Figures, Failure> {
    let mut meter = Meter::start(count / TURNS_PER_BATCH + 1);
    let mut from = 0;
    while from < count {
        let to = count.min(from + TURNS_PER_BATCH);
        let agent = Caller::agent(session.caller.tenant, &format!("bench{}", from / PER_AGENT));
        let turns: Vec<Turn> = (from..to).map(generate_turn).collect();
        meter.time_operation(|| {
            session.engine.remember_turns(&agent, &format!("s{}", from / TURNS_PER_BATCH), &turns)
        })?;
        from = to;
    }
    Ok(meter.stop())
}

fn generate_turn(number: usize) -> Turn {
    let class = if number.is_multiple_of(DUE_EVERY) { TtlClass::Routine } else { TtlClass::Remember };
    let content = format!("watch {number}: pier {} was quiet, lamp {} was lit", number % 97, number % 89);
    Turn { content, ttl: Some(class), importance: Some(0.5), ..Turn::default() }
}

/// Measures saves without concurrent work.
fn measure_lone_saves(session: &Session) -> Result<Figures, Failure> {
    let agent = Caller::agent(session.caller.tenant, "alone");
    let mut meter = Meter::start(SAVES_ALONE);
    for number in 0..SAVES_ALONE {
        // Never a multiple of `DUE_EVERY`, so none of these turns is routine.
        let turns = vec![generate_turn(number * DUE_EVERY + 1)];
        meter.time_operation(|| session.engine.remember_turns(&agent, "alone", &turns))?;
    }
    Ok(meter.stop().with_name("saves alone"))
}

/// Measures saves during upkeep. They use the clock of upkeep, so that none of them is due.
fn measure_concurrent_saves(engine: &Engine, tenant: TenantId, stop: &AtomicBool) -> Result<Figures, Failure> {
    let mut meter = Meter::start(0);
    let mut number = 0;
    while !stop.load(Ordering::Relaxed) {
        // A new agent before the quota is reached, because archiving over quota would be measured too.
        let name = format!("meanwhile{}", number / (PER_AGENT / 2));
        let agent = Caller::agent(tenant, &name);
        let turns = vec![generate_turn(number * DUE_EVERY + 1)];
        meter.time_operation(|| engine.remember_turns(&agent, &name, &turns))?;
        number += 1;
    }
    Ok(meter.stop())
}
