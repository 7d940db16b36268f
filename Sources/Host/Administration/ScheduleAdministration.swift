import AdminProtocol
import EventLoop
import HearthJSON
import HTTP
import Logs
import RealtimeDatabase
import Schedules

/// `schedules`: lists schedules, runs their functions, pauses and resumes them; and `schedules/dead-letters`. Can be used from every loop.
package struct ScheduleAdministration: Sendable {
    private let engine: LoopBound<ScheduleEngine>
    private let outbox: any OutboxAccess
    private let home: EventLoop

    /// - Parameter outbox: the outbox of the runs.
    package init(_ engine: ScheduleEngine, outbox: any OutboxAccess, home: EventLoop) {
        self.engine = LoopBound(engine, loop: home)
        self.outbox = outbox
        self.home = home
    }

    func answer(_ call: AdminCall, on loop: EventLoop) async throws(AdminError) -> JSONValue {
        if call.segments.count > 1, call.segments[1] == "dead-letters", call.verb.map({ $0 == "replay" || $0 == "delete" }) ?? true {
            return try await DeadLetterAdministration(outbox: outbox, loop: loop, depth: 2).handle(call)
        }
        let request = HomeCall(call)
        return try await home.perform { [engine] () async throws(AdminError) in try await Self.handle(request, engine.value) }
    }

    private static func handle(_ call: HomeCall, _ engine: ScheduleEngine) async throws(AdminError) -> JSONValue {
        switch (call.segments.count, call.verb) {
        case (1, nil):
            try call.allow(.get)
            do throws(ScheduleEngine.Refusal) {
                return ScheduleList(schedules: try await engine.listed().map { ScheduleListEntry($0) }).json
            } catch {
                throw AdminError(error, "")
            }
        case (2, "run"):
            try call.allow(.post)
            return try await run(call.segments[1], try ScheduleRunRequest(parsing: call.body), engine).json
        case (2, "pause"), (2, "resume"):
            try call.allow(.post)
            let (name, isPaused) = (call.segments[1], call.verb == "pause")
            do throws(ScheduleEngine.Refusal) {
                try await engine.setPaused(isPaused, name)
            } catch {
                throw AdminError(error, name)
            }
            return SchedulePauseAnswer(name: name, paused: isPaused).json
        default: throw .noSuchResource
        }
    }

    private static func run(
        _ name: String, _ request: ScheduleRunRequest, _ engine: ScheduleEngine
    ) async throws(AdminError) -> ScheduleRunAnswer {
        do throws(ScheduleEngine.Refusal) {
            let (event, outcome) = try await engine.run(name, waits: request.wait)
            switch outcome {
            case .succeeded: return ScheduleRunAnswer(event: event, outcome: "succeeded", error: nil)
            case .failed(let error): return ScheduleRunAnswer(event: event, outcome: "failed", error: error)
            case .begun: return ScheduleRunAnswer(event: event, outcome: "begun", error: nil)
            }
        } catch {
            throw AdminError(error, name)
        }
    }
}

extension AdminError {
    fileprivate init(_ refusal: ScheduleEngine.Refusal, _ name: String) {
        switch refusal {
        case .unknown: self.init(.notFound, "there is no schedule \(name); `hearth schedules:list` lists all")
        case .cannotRun: self.init(.unavailable, "\(name) cannot run now; `hearth functions:list` says why")
        case .unavailable: self.init(.unavailable, "the host is starting or stopping, or the store of schedules fails; try again")
        case .store(let reason): self.init(.unavailable, "the store of schedules cannot be used: \(reason)")
        }
    }
}

extension ScheduleListEntry {
    fileprivate init(_ status: ScheduleStatus) {
        let state = status.isPaused ? "paused" : status.schedule == nil ? "waiting" : "active"
        self.init(name: status.name, state: state, running: status.isRunning)
        schedule = status.schedule
        timeZone = status.timeZone
        next = status.nextDue.map { Self.time($0 * 1000) }
        lastDue = status.lastDue.map { Self.time($0 * 1000) }
        lastEnd = status.lastEnd.map(Self.time)
        lastError = status.lastError
    }

    private static func time(_ milliseconds: Int64) -> String { WallClock(unixMilliseconds: milliseconds).rfc3339 }
}
