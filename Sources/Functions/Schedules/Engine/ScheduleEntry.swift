import Metrics

/// A schedule while the host runs. Belongs to the home loop.
final class ScheduleEntry {
    let name: String
    /// The state as it is stored.
    var row: ScheduleRow
    /// The function; nil while it cannot run.
    var function: (any ScheduledTarget)?
    /// The time of its place in the heap.
    var next: Int64?
    /// The due time of the run that has begun and is not settled.
    var open: Int64?
    /// A due time that runs however late it is.
    var decided: Int64?
    /// Missed due times up to this one were logged.
    var toldThrough: Int64 = 0

    init(_ row: ScheduleRow) {
        name = row.name
        self.row = row
        open = row.isOpen ? row.due : nil
    }

    /// The moment after which the next due time is.
    var base: Int64 {
        let known = max(row.since, row.due ?? row.since)
        guard function?.declaration.schedule.isInterval == true, let ended = row.ended else { return known }
        return max(known, ended / 1000)
    }

    /// Whether due times are waited for.
    var isActive: Bool { function != nil && !row.isPaused }
}

/// A schedule, for lists.
package struct ScheduleStatus: Sendable {
    package var name: String
    /// Schedule and time zone as declared; nil while the function cannot run.
    package var schedule: String?
    package var timeZone: String?
    /// Seconds since 1970.
    package var nextDue: Int64?
    package var lastDue: Int64?
    /// In milliseconds since 1970.
    package var lastEnd: Int64?
    package var lastError: String?
    package var isPaused: Bool
    package var isRunning: Bool
}

/// Figures of schedules.
package struct ScheduleFigures: Sendable {
    /// Schedules whose due times are waited for, and paused ones.
    package var active = 0
    package var paused = 0
    /// Runs that have begun because they were due.
    package var begun = 0
    /// Due times that passed while the host was down or the function still ran, and that got no run of their own.
    package var missed = 0
    /// From the due time to the start of the first attempt.
    package var delays = DurationHistogram()
}
