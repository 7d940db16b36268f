import AdminProtocol
import HearthJSON
import HTTP

/// Requests about the host and all of its data: `/_/api/host:upgrade`, `/_/api/backup`, `/_/api/restores`.
extension AdminAPI {
    func hostVerb(_ call: AdminCall) async throws(AdminError) -> JSONValue {
        guard call.segments.count == 1, call.verb == "upgrade" else { throw .noSuchResource }
        try call.allow(.post)
        let order = try UpgradeOrder(parsing: call.body)
        return try await found().upgrade(timeoutSeconds: order.timeoutSeconds).json
    }

    /// Handles `backup`: an archive of all data.
    func backup(_ call: AdminCall) async throws(AdminError) {
        guard call.segments.count == 1, call.verb == nil else { throw .noSuchResource }
        try call.allow(.post)
        try await BackupAnswer(call.exchange, loop, log: log).send(data: try found().dataDirectory, project: project)
    }

    /// Handles `restores`, `restores/ID`, `restores/ID:apply`.
    func restores(_ call: AdminCall) async throws(AdminError) -> JSONValue {
        let control = try found()
        switch (call.segments.count, call.verb) {
        case (1, nil):
            try call.allow(.post)
            return RestoreStart(restore: try await control.beginRestore()).json
        case (2, nil) where call.exchange.method == .delete:
            try await control.removeRestore(call.segments[1])
            return [:]
        case (2, nil):
            try call.allow(.put, .delete)
            let offset = try call.number("offset", default: 0, in: 0...(1 << 50))
            return RestoreProgress(receivedBytes: try await control.writeRestore(call.segments[1], offset: offset, call.bytes)).json
        case (2, "apply"):
            try call.allow(.post)
            return try await control.applyRestore(call.segments[1]).json
        default: throw .noSuchResource
        }
    }

    private func found() throws(AdminError) -> any HostControl {
        guard let control else { throw AdminError(.unavailable, "the host is starting; try again") }
        return control
    }
}
