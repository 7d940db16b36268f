import Metrics
import TaskQueues

extension MetricsReport {
    func writeTasks(_ figures: TaskFigures, to set: inout MetricSet) {
        set.begin("hearth_task_queues", .gauge, "Task queues by state.")
        set.sample([("state", "active")], figures.active)
        set.sample([("state", "paused")], figures.paused)
        set.begin("hearth_tasks", .gauge, "Tasks that wait or run, by queue.")
        for (queue, counts) in figures.queues.sorted(by: { $0.key < $1.key }) { set.sample([("queue", queue)], counts.count) }
        set.begin("hearth_task_bytes", .gauge, "The size of these tasks, by queue.")
        for (queue, counts) in figures.queues.sorted(by: { $0.key < $1.key }) { set.sample([("queue", queue)], counts.bytes) }
        set.number("hearth_tasks_held", .gauge, figures.held, "Tasks that are due and wait for the rate of their queue, in memory.")
        set.begin("hearth_task_dispatch_delay_seconds", .histogram, "From the slot of a queue's rate to the begin of the attempt.")
        set.sample([], figures.delays)
    }
}
