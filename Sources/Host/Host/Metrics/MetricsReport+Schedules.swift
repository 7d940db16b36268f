import Metrics
import Schedules

extension MetricsReport {
    func writeSchedules(_ figures: ScheduleFigures, to text: inout MetricsText) {
        text.begin("hearth_schedules", .gauge, "Scheduled functions by state.")
        text.sample([("state", "active")], figures.active)
        text.sample([("state", "paused")], figures.paused)
        text.number("hearth_schedule_runs_total", .counter, figures.begun, "Runs of scheduled functions that have begun because they were due.")
        text.number(
            "hearth_schedule_missed_total", .counter, figures.missed,
            "Due times that passed while the host was down or the function still ran, and that got no run of their own.")
        text.begin("hearth_schedule_delay_seconds", .histogram, "From a due time to the start of the function.")
        text.sample([], figures.delays)
    }
}
