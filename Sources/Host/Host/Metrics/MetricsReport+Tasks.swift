import Metrics
import TaskQueues

extension MetricsReport {
    func writeTasks(_ figures: TaskFigures, to text: inout MetricsText) {
        text.begin("hearth_task_queues", .gauge, "Task queues by state.")
        text.sample([("state", "active")], figures.active)
        text.sample([("state", "paused")], figures.paused)
        text.begin("hearth_tasks", .gauge, "Tasks that wait or run, by queue.")
        for (queue, counts) in figures.queues.sorted(by: { $0.key < $1.key }) { text.sample([("queue", queue)], counts.count) }
        text.begin("hearth_task_bytes", .gauge, "The size of these tasks, by queue.")
        for (queue, counts) in figures.queues.sorted(by: { $0.key < $1.key }) { text.sample([("queue", queue)], counts.bytes) }
        text.number("hearth_tasks_held", .gauge, figures.held, "Tasks that are due and wait for the rate of their queue, in memory.")
        text.begin("hearth_task_dispatch_delay_seconds", .histogram, "From the slot of a queue's rate to the begin of the attempt.")
        text.sample([], figures.delays)
    }
}
