package import HearthJSON

/// `POST functions/NAME:debug`: begins a session of a debugger without `session`, and otherwise keeps it alive.
package struct DebugRequest: AdminMessage {
    package enum Action: String, Codable, Sendable {
        /// Lets the worker take calls without a debugger.
        case `continue`
        case end
    }

    package var session: String?
    package var action: Action?

    package init(session: String? = nil, action: Action? = nil) {
        self.session = session
        self.action = action
    }

    /// Reads and checks a request.
    package init(parsing body: JSONValue) throws(AdminError) {
        if let session = body["session"] {
            guard let text = session.string else { throw .invalid("session must be the id of a session") }
            self.session = text
        }
        guard let action = body["action"] else { return }
        guard session != nil, let known = action.string.flatMap(Action.init) else {
            throw .invalid("action must be \"continue\" or \"end\", of a session")
        }
        self.action = known
    }
}

/// The state of a session.
package struct DebugState: AdminMessage {
    package enum Phase: String, Codable, Sendable { case loading, waiting, running, ended }

    package var session: String
    package var function: String
    package var plugin: String
    /// The worker's process id.
    package var pid: Int32
    package var state: Phase
    /// The debugger's process id, if one is attached.
    package var debugger: Int32?
    /// The reason for the end.
    package var reason: String?

    package init(session: String, function: String, plugin: String, pid: Int32, state: Phase) {
        self.session = session
        self.function = function
        self.plugin = plugin
        self.pid = pid
        self.state = state
    }
}
