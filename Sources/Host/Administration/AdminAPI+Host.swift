import AdminProtocol
import HearthJSON
import HTTP

/// The host itself and all of its data: `/_/api/host:upgrade`, `/_/api/backup`, `/_/api/restores`.
extension AdminAPI {
    func hostVerb(_ call: AdminCall) throws(AdminError) {
        switch (call.segments.count, call.verb) {
        case (1, "upgrade"): try upgrade(call)
        default: throw .noSuchResource
        }
    }

    /// `backup`: an archive of all data.
    func backup(_ call: AdminCall) throws(AdminError) {
        guard call.segments.count == 1, call.verb == nil else { throw .noSuchResource }
        try call.allow(.post)
        BackupAnswer.begin(call.exchange, data: try found().dataDirectory, project: project, on: loop)
    }

    /// `restores`, `restores/ID`, `restores/ID:apply`.
    func restores(_ call: AdminCall) throws(AdminError) {
        let control = try found()
        switch (call.segments.count, call.verb) {
        case (1, nil):
            try call.allow(.post)
            control.beginRestore(on: loop) { call.answer($0) { .object(["restore": .string($0)]) } }
        case (2, nil) where call.exchange.method == .delete:
            control.removeRestore(call.segments[1])
            call.answer([:])
        case (2, nil):
            try call.allow(.put, .delete)
            let offset = try call.number("offset", default: 0, in: 0...(1 << 50))
            control.writeRestore(call.segments[1], offset: offset, call.bytes, on: loop) {
                call.answer($0) { .object(["receivedBytes": .int(Int64($0))]) }
            }
        case (2, "apply"):
            try call.allow(.post)
            control.applyRestore(call.segments[1], on: loop) { result in
                call.answer(result) { .object(["members": .int(Int64($0.members)), "kept": .string($0.kept), "pid": .int(Int64($0.upgrade.pid))]) }
            }
        default: throw .noSuchResource
        }
    }

    private func found() throws(AdminError) -> any HostControl {
        guard let control else { throw AdminError(.unavailable, "the host is starting; try again") }
        return control
    }

    private func upgrade(_ call: AdminCall) throws(AdminError) {
        try call.allow(.post)
        var timeoutSeconds = 60
        if let seconds = call.body["timeoutSeconds"] {
            guard let number = seconds.int, (1...3600).contains(number) else {
                throw AdminError(.invalidArgument, "timeoutSeconds must be a number from 1 to 3600")
            }
            timeoutSeconds = number
        }
        try found().upgrade(timeoutSeconds: timeoutSeconds, on: loop) { result in
            switch result {
            case .success(let report):
                call.answer([
                    "pid": .int(Int64(report.pid)), "milliseconds": .int(Int64(report.milliseconds)),
                    "heldMilliseconds": .int(Int64(report.heldMilliseconds)), "gapMilliseconds": .int(Int64(report.gapMilliseconds)),
                ])
            case .failure(let failure): call.refuse(AdminError(.failedPrecondition, failure.description))
            }
        }
    }
}

extension AdminCall {
    /// Answers with what became of something.
    fileprivate func answer<Value>(_ result: Result<Value, AdminError>, _ json: (Value) -> JSONValue) {
        switch result {
        case .success(let value): answer(json(value))
        case .failure(let error): refuse(error)
        }
    }
}
