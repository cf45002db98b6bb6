//! Measures CPU time, wall time, disk writes and memory of this process.

use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

/// Measured cost of a series of operations.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Figures {
    pub name: String,
    pub operations: usize,
    /// CPU time per operation, of all threads of the process.
    pub cpu_ms_each: f64,
    /// Highest CPU time of the process during one operation. Wall time above it is waiting.
    #[serde(default)]
    pub cpu_ms_max: f64,
    pub wall_ms_median: f64,
    pub wall_ms_p95: f64,
    /// Wall time of the slowest operation.
    pub wall_ms_max: f64,
    pub per_second: f64,
    /// Bytes written to disk per operation, if `/proc` is available.
    pub written_bytes_each: Option<f64>,
    /// Disk syncs per operation, if counted.
    pub disk_syncs_each: Option<f64>,
}

impl Figures {
    pub fn with_name(self, name: &str) -> Figures {
        Figures { name: name.to_owned(), ..self }
    }

    /// Replaces the CPU time by that of the child process which did the work.
    pub fn with_process_cpu(self, spent: Duration) -> Figures {
        let cpu_ms_each = spent.as_secs_f64() * 1e3 / self.operations.max(1) as f64;
        // The other two were measured in this process, which only waited.
        Figures { cpu_ms_each, cpu_ms_max: 0.0, written_bytes_each: None, ..self }
    }

    /// Adds the disk syncs between two counts.
    pub fn with_disk_syncs(self, before: Option<u64>, after: Option<u64>) -> Figures {
        let each = |syncs: u64| syncs as f64 / self.operations.max(1) as f64;
        let disk_syncs_each = after.zip(before).map(|(after, before)| each(after.saturating_sub(before)));
        Figures { disk_syncs_each, ..self }
    }
}

/// Measures a series of operations.
pub struct Meter {
    cpu: Duration,
    wall: Instant,
    written: Option<u64>,
    times: Vec<Duration>,
    cpu_max: Duration,
}

impl Meter {
    pub fn start(operations: usize) -> Meter {
        let times = Vec::with_capacity(operations);
        Meter { cpu: cpu_time(), wall: Instant::now(), written: written_bytes(), times, cpu_max: Duration::ZERO }
    }

    pub fn time_operation<T>(&mut self, work: impl FnOnce() -> T) -> T {
        let (begun, cpu) = (Instant::now(), cpu_time());
        let done = work();
        self.times.push(begun.elapsed());
        self.cpu_max = self.cpu_max.max(cpu_time().saturating_sub(cpu));
        done
    }

    /// Operations measured so far.
    pub fn operation_count(&self) -> usize {
        self.times.len()
    }

    pub fn stop(mut self) -> Figures {
        let (cpu, wall) = (cpu_time().saturating_sub(self.cpu), self.wall.elapsed());
        self.times.sort_unstable();
        let operations = self.times.len();
        let each = |total: Duration| total.as_secs_f64() * 1e3 / operations.max(1) as f64;
        let at = |share: f64| {
            // Index of the quantile, clamped so that 1.0 is the slowest operation.
            let place = ((operations as f64 * share) as usize).min(operations.saturating_sub(1));
            self.times.get(place).map_or(0.0, |time| time.as_secs_f64() * 1e3)
        };
        let written = written_bytes().zip(self.written).map(|(now, before)| now.saturating_sub(before));
        Figures {
            name: String::new(),
            operations,
            cpu_ms_each: each(cpu),
            cpu_ms_max: self.cpu_max.as_secs_f64() * 1e3,
            wall_ms_median: at(0.5),
            wall_ms_p95: at(0.95),
            wall_ms_max: at(1.0),
            per_second: operations as f64 / wall.as_secs_f64().max(f64::EPSILON),
            written_bytes_each: written.map(|bytes| bytes as f64 / operations.max(1) as f64),
            disk_syncs_each: None,
        }
    }
}

/// CPU time of all threads of this process.
pub fn cpu_time() -> Duration {
    let spent = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::new(spent.tv_sec.max(0) as u64, spent.tv_nsec.max(0) as u32)
}

/// Peak resident memory of a process, by its id or `self`; 0 where `/proc` does not say.
pub fn peak_memory_bytes(process: impl std::fmt::Display) -> u64 {
    const KIB: u64 = 1024;
    read_proc_field(&format!("/proc/{process}/status"), "VmHWM:").map_or(0, |kib| kib * KIB)
}

fn written_bytes() -> Option<u64> {
    read_proc_field("/proc/self/io", "write_bytes:")
}

fn read_proc_field(file: &str, name: &str) -> Option<u64> {
    let text = std::fs::read_to_string(file).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()?.parse().ok()
}
