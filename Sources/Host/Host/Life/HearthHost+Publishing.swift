import Accounts
import Configuration
import Deployment
import EventDelivery
import EventLoop
import FunctionDispatch
import FunctionWorker
import Logging
import RealtimeDatabase
import Schedules
import TaskQueues

/// The functions that the host serves.
extension HearthHost {
    /// Publishes functions to the triggers and to every loop; returns when all loops know them.
    func publish(_ publication: Publication) async {
        let events = EventFunctions(publication, project: configuration.project)
        // Functions are published repeatedly; a reason is logged when it is new.
        // A host that takes over serves what was served before, and deploys changes afterwards.
        let isReady = deployer.isLocalKnown || takeover != nil
        // Until all functions are known, users are neither created nor deleted. That ends before functions decide about sign-ups: an operation
        // that one of them refuses in part raises events too.
        if isReady { accounts.useTriggers(events.users) }
        let scheduled = schedules.engine.use(publication, isReady: isReady)
        let queues = tasks.engine.use(publication, isReady: isReady)
        let problems = events.problems + scheduled.problems + blocking.use(publication, isComplete: isReady)
        for problem in problems where !eventProblems.contains(problem) {
            log.error("a function is left out", metadata: ["reason": "\(problem)"])
        }
        eventProblems = problems
        database.database.useTriggers(events.table, isComplete: isReady)
        delivery.publish(
            events.targets.merging(scheduled.targets) { $1 }.merging(queues) { $1 }, waiting: events.waiting, isComplete: publication.isComplete)
        _ = await home.concurrently(shards) { shard in
            await shard.publish(publication.functions, isReady: isReady)
        }
    }

    /// The served functions, in the order of names.
    var functions: [RegisteredFunction] { deployer.live.functions }

    /// The reasons why functions are left out.
    var refusals: [PluginRefusal] {
        deployer.leftOut.sorted { $0.key < $1.key }.flatMap(\.value) + deployer.problems.sorted { $0.key < $1.key }.map(\.value)
    }
}
