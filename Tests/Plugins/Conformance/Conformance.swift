import HearthFunctions

/// The functions that the cases of the callable protocol are written for, each doing what the table says of it.
let functions = Functions {
    OnCall("echo", echo)
    OnCall("returnsNothing") { (_: CallableRequest<JSONValue>) in }
    OnCall("addNumbers", addNumbers)
    OnCall("throwsError") { (request: CallableRequest<JSONValue>) throws -> JSONValue in throw try requestedError(request.data) }
    OnCall("throwsPlain") { (_: CallableRequest<JSONValue>) throws -> JSONValue in throw PlainError() }
    OnCall("throwsUnknownCode") { (_: CallableRequest<JSONValue>) throws -> JSONValue in
        throw try requestedError(["code": "THIS_IS_NOT_VALID", "message": "m"])
    }
    OnCall("returnsInt64") { (request: CallableRequest<String>) in
        guard let number = Int64(request.data) else { throw PlainError() }
        return number
    }
    OnCall("returnsNaN") { (_: CallableRequest<JSONValue>) in Double.nan }
    OnCall("returnsInfinity") { (_: CallableRequest<JSONValue>) in Double.infinity }
    OnCall("contextInfo", contextInfo)
    OnCall("requiresAuth") { (request: CallableRequest<JSONValue>) in
        guard let user = request.auth else {
            throw HttpsError(.failedPrecondition, "The function must be called while authenticated.")
        }
        return user.uid
    }
    OnCall("policySignedIn", authPolicy: isSignedIn()) { (_: CallableRequest<JSONValue>) in 42 }
    OnCall("enforcesAppCheck", enforceAppCheck: true) { (request: CallableRequest<JSONValue>) in appInfo(request) }
    OnCall("consumesAppCheck", enforceAppCheck: true, consumeAppCheckToken: true) { (request: CallableRequest<JSONValue>) in
        appInfo(request)
    }
    OnCall("streamsCountdown", streamsCountdown)
    OnCall("streamsThenThrows") { (_: CallableRequest<JSONValue>, response) -> JSONValue in
        try await response.sendChunk("partial")
        throw HttpsError(.aborted, "stopped")
    }
    OnCall("slowStream", heartbeatSeconds: 1, heartbeatStyle: .comment, slow)
    OnCall("slowStreamQuiet", heartbeatSeconds: .off, slow)
    OnCall("corsFixed", cors: "https://app.example.com", echo)
    OnCall("corsListOne", cors: ["https://app.example.com"], echo)
    OnCall("corsList", cors: ["https://app.example.com", "https://b.example.com"], echo)
    OnCall("corsRegex", cors: .matching("example\\.com$"), echo)
    OnCall("corsFalse", cors: false, echo)
    OnCall("v1Echo", generation: .first, echo)
    OnCall("database", databaseStep)
    triggers
    traces
}

@c(hearth_plugin_entry)
public func entry(_ host: UnsafeRawPointer) -> UnsafeRawPointer? { functions.attach(to: host) }
