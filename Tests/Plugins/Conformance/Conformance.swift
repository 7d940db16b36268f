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
    OnCall("enforcesAppCheck", options: Options(enforceAppCheck: true)) { (request: CallableRequest<JSONValue>) in appInfo(request) }
    OnCall("consumesAppCheck", options: Options(enforceAppCheck: true, consumeAppCheckToken: true)) { (request: CallableRequest<JSONValue>) in
        appInfo(request)
    }
    OnCall("streamsCountdown", streamsCountdown)
    OnCall("streamsThenThrows") { (_: CallableRequest<JSONValue>, response) -> JSONValue in
        try await response.sendChunk("partial")
        throw HttpsError(.aborted, "stopped")
    }
    OnCall("slowStream", options: Options(heartbeatSeconds: 1, heartbeatStyle: .comment), slow)
    OnCall("slowStreamQuiet", options: Options(heartbeatSeconds: .off), slow)
    OnCall("corsFixed", options: Options(cors: "https://app.example.com"), echo)
    OnCall("corsListOne", options: Options(cors: ["https://app.example.com"]), echo)
    OnCall("corsList", options: Options(cors: ["https://app.example.com", "https://b.example.com"]), echo)
    OnCall("corsRegex", options: Options(cors: .matching("example\\.com$")), echo)
    OnCall("corsFalse", options: Options(cors: false), echo)
    OnCall("v1Echo", generation: .first, echo)
    OnCall("database", databaseStep)
    OnCall("administerUsers", usersStep)
    OnCall("usersRaw", usersRaw)
    OnCall("observe", observing)
    OnCall("observeOften", observingOften)
    triggers
    traces
    OnRequest("web", routes: Web.routes)
}
