import Metrics
import Schedules

extension MetricsReport {
    func writeSchedules(_ figures: ScheduleFigures, to set: inout MetricSet) {
        set.begin("hearth_schedules", .gauge, "Scheduled functions by state.")
        set.sample([("state", "active")], figures.active)
        set.sample([("state", "paused")], figures.paused)
        set.number("hearth_schedule_runs_total", .counter, figures.begun, "Runs of scheduled functions that have begun because they were due.")
        set.number(
            "hearth_schedule_missed_total", .counter, figures.missed,
            "Due times that passed while the host was down or the function still ran, and that got no run of their own.")
        set.begin("hearth_schedule_delay_seconds", .histogram, "From a due time to the start of the function.")
        set.sample([], figures.delays)
    }
}
