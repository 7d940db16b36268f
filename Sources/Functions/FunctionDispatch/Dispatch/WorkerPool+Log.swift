import Logging
import WorkerProtocol

/// Log lines about workers.
extension WorkerPool {
    /// Logs that a worker ended by itself, was killed, or crashed.
    ///
    /// - Parameters:
    ///   - lost: the functions whose calls were running in it.
    ///   - isTold: whether the crash has an error line of its own. Then this line is a notice.
    func logEnd(of worker: Worker, reason: String, lost: [String], isTold: Bool, _ restarts: RestartPolicy) {
        var metadata = metadata(of: worker)
        metadata["reason"] = "\(reason)"
        let functions = lost.joined(separator: ", ")
        if !lost.isEmpty, metadata["function"] != "\(functions)" { metadata["running"] = "\(functions)" }
        if restarts.hasGivenUp {
            metadata["givenUp"] = "true"
            metadata["nextTrySeconds"] = "\(RestartPolicy.givenUpMilliseconds / 1000)"
        }
        dispatcher.log.log(level: isTold && !restarts.hasGivenUp ? .notice : .error, "an instance ended", metadata: metadata)
    }

    /// The metadata of a log line about a worker, including the function that is running.
    func metadata(of worker: Worker) -> Logger.Metadata {
        var metadata: Logger.Metadata = ["plugin": "\(artifact.name)", "pid": "\(worker.pid)"]
        if let current = worker.blockage?.culprit ?? worker.current {
            metadata["invocation"] = "\(worker.name(of: current))"
            if let function = worker.functionName(of: current) { metadata["function"] = "\(function)" }
        }
        return metadata
    }
}
