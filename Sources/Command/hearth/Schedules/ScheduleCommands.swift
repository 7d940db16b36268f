import AdminProtocol
import ArgumentParser
import CommandClient
import HearthJSON

/// The admin API for schedules.
struct SchedulesClient {
    let client: HostClient

    func list() throws(ClientFailure) -> ScheduleList { try client.administer(ScheduleList.self, "GET", "schedules") }

    func run(_ name: String, wait: Bool) throws(ClientFailure) -> ScheduleRunAnswer {
        try client.administer(ScheduleRunAnswer.self, "POST", place(name, "run"), ScheduleRunRequest(wait: wait).json)
    }

    func setPaused(_ isPaused: Bool, _ name: String) throws(ClientFailure) -> SchedulePauseAnswer {
        try client.administer(SchedulePauseAnswer.self, "POST", place(name, isPaused ? "pause" : "resume"), [:])
    }

    private func place(_ name: String, _ verb: String) -> String { "schedules/\(PercentCoding.encoded(name)):\(verb)" }
}

/// `hearth schedules:list`: lists scheduled functions.
struct SchedulesList: HostCommand {
    static let configuration = CommandConfiguration(
        commandName: "schedules:list", abstract: "Lists scheduled functions with their next and last runs.",
        discussion: """
            Examples:
              hearth schedules:list
              hearth schedules:list --json
            """)

    @OptionGroup var connection: ConnectionOptions

    func perform(_ client: HostClient) throws(ClientFailure) -> Outcome {
        let list = try SchedulesClient(client: client).list()
        guard !list.schedules.isEmpty else { return Outcome(text: "No scheduled functions.", json: list.json) }
        let rows = list.schedules.map { entry in
            [
                entry.name, entry.schedule ?? "-", entry.timeZone ?? "-", entry.running ? "\(entry.state), running" : entry.state,
                entry.next ?? "-", entry.lastDue ?? "-", entry.lastEnd == nil ? "-" : entry.lastError ?? "ok",
            ]
        }
        let heading = ["FUNCTION", "SCHEDULE", "TIME ZONE", "STATE", "NEXT", "LAST", "RESULT"]
        return Outcome(text: TextTable.lines([heading] + rows).joined(separator: "\n"), json: list.json)
    }
}

/// `hearth schedules:run`: runs a scheduled function now.
struct SchedulesRun: HostCommand {
    static let configuration = CommandConfiguration(
        commandName: "schedules:run", abstract: "Runs a scheduled function now, also if it is paused.",
        discussion: """
            The run is stored first, and a failed one is repeated as the schedule says. Due times stay as they are.

            Examples:
              hearth schedules:run nightly
              hearth schedules:run nightly --no-wait
            """)

    @Argument(help: ArgumentHelp("The function.", valueName: "name"))
    var name: String

    @Flag(name: .customLong("no-wait"), help: "Do not wait for the end of the first attempt.")
    var noWait = false

    @OptionGroup var connection: ConnectionOptions

    func perform(_ client: HostClient) throws(ClientFailure) -> Outcome {
        let answer = try SchedulesClient(client: client).run(name, wait: !noWait)
        switch answer.outcome {
        case "succeeded": return Outcome(text: "\(name) has run", json: answer.json)
        case "failed": throw ClientFailure(.refused(status: 500), "\(name) failed: \(answer.error ?? "unknown")")
        default: return Outcome(text: "\(name) will run", json: answer.json)
        }
    }
}

/// `hearth schedules:pause`: pauses a schedule.
struct SchedulesPause: HostCommand {
    static let configuration = CommandConfiguration(
        commandName: "schedules:pause", abstract: "Pauses a schedule until it is resumed, also beyond restarts and deployments.",
        discussion: """
            A run that has begun may end.

            Example:
              hearth schedules:pause nightly
            """)

    @Argument(help: ArgumentHelp("The function.", valueName: "name"))
    var name: String

    @OptionGroup var connection: ConnectionOptions

    func perform(_ client: HostClient) throws(ClientFailure) -> Outcome {
        let answer = try SchedulesClient(client: client).setPaused(true, name)
        return Outcome(text: "\(answer.name) is paused", json: answer.json)
    }
}

/// `hearth schedules:resume`: resumes a schedule.
struct SchedulesResume: HostCommand {
    static let configuration = CommandConfiguration(
        commandName: "schedules:resume", abstract: "Resumes a paused schedule. Due times of the pause are not caught up.",
        discussion: """
            Example:
              hearth schedules:resume nightly
            """)

    @Argument(help: ArgumentHelp("The function.", valueName: "name"))
    var name: String

    @OptionGroup var connection: ConnectionOptions

    func perform(_ client: HostClient) throws(ClientFailure) -> Outcome {
        let answer = try SchedulesClient(client: client).setPaused(false, name)
        return Outcome(text: "\(answer.name) is active", json: answer.json)
    }
}
