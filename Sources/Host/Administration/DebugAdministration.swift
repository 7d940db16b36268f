import AdminProtocol
import FunctionDispatch
import FunctionWorker

/// The sessions of debuggers (`functions/NAME:debug`). Belongs to the home loop.
final class DebugAdministration {
    private var sessions: [String: DebugSession] = [:]

    private static let sessionsMax = 16

    /// Begins a session.
    func begin(_ function: RegisteredFunction) throws(AdminError) -> DebugState {
        sessions = sessions.filter { !$0.value.hasEnded }
        guard sessions.count < Self.sessionsMax else {
            throw AdminError(.resourceExhausted, "\(Self.sessionsMax) functions are being debugged already")
        }
        let session: DebugSession
        do throws(PluginRefusal) {
            session = try function.pool.debug(function.name)
        } catch {
            throw AdminError(.failedPrecondition, "\(error)")
        }
        let id = String(UInt64.random(in: .min ... .max), radix: 36)
        sessions[id] = session
        return state(of: session, id)
    }

    /// Keeps a session alive, and carries out its action.
    func go(on id: String, _ action: DebugRequest.Action?) throws(AdminError) -> DebugState {
        guard let session = sessions[id] else { throw AdminError(.notFound, "there is no such session of a debugger; it may have ended") }
        session.renew()
        switch action {
        case .continue: session.goOn()
        case .end: session.end("its client has ended it")
        case nil: break
        }
        if session.hasEnded { sessions[id] = nil }
        return state(of: session, id)
    }

    private func state(of session: DebugSession, _ id: String) -> DebugState {
        var state = DebugState(session: id, function: session.function, plugin: session.plugin, pid: session.pid, state: .loading)
        if session.tracer != 0 { state.debugger = session.tracer }
        switch session.state {
        case .loading: break
        case .waiting: state.state = .waiting
        case .running: state.state = .running
        case .ended(let reason): (state.state, state.reason) = (.ended, reason)
        }
        return state
    }
}
