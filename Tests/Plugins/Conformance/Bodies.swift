import HearthFunctions

struct PlainError: Error {}

struct Countdown: Decodable {
    var from: Int
}

@Sendable func echo(_ request: CallableRequest<JSONValue>) -> JSONValue { request.data }

@Sendable func addNumbers(_ request: CallableRequest<JSONValue>) throws -> JSONValue {
    guard let first = request.data["firstNumber"], let second = request.data["secondNumber"],
        let augend = first.double, let addend = second.double
    else {
        throw HttpsError(.invalidArgument, "firstNumber and secondNumber must be numbers")
    }
    return ["firstNumber": first, "secondNumber": second, "operator": "+", "operationResult": .double(augend + addend)]
}

/// The error that the caller describes.
func requestedError(_ wanted: JSONValue) throws -> HttpsError {
    guard let code = HttpsError.Code(rawValue: wanted["code"]?.string ?? "") else { throw PlainError() }
    return HttpsError(code, wanted["message"]?.string ?? "", details: wanted["details"])
}

@Sendable func contextInfo(_ request: CallableRequest<JSONValue>) -> JSONValue {
    let authorization = request.rawRequest.headers["authorization"] ?? ""
    return [
        "hasAuth": .bool(request.auth != nil),
        "uid": text(request.auth?.uid),
        "tokenSub": text(request.auth?.token["sub"]?.string),
        "rawTokenMatches": .bool(request.auth.map { $0.rawToken == authorization.dropFirst("Bearer ".count) } ?? false),
        "hasApp": .bool(request.app != nil),
        "appId": text(request.app?.appID),
        "instanceIdToken": text(request.instanceIDToken),
        "acceptsStreaming": .bool(request.acceptsStreaming),
    ]
}

/// What App Check says; `alreadyConsumed` only where it says that.
func appInfo(_ request: CallableRequest<JSONValue>) -> JSONValue {
    var info: JSONObject = ["appId": text(request.app?.appID)]
    info["alreadyConsumed"] = request.app?.alreadyConsumed.map { .bool($0) }
    return .object(info)
}

@Sendable func streamsCountdown(_ request: CallableRequest<Countdown>, _ response: CallableResponse) async throws -> String {
    for number in stride(from: request.data.from, to: 0, by: -1) { try await response.sendChunk(["n": number]) }
    return "liftoff"
}

@Sendable func slow(_ request: CallableRequest<JSONValue>) async throws -> String {
    try await Task.sleep(for: .milliseconds(2500))
    return "done"
}

private func text(_ string: String?) -> JSONValue { string.map { .string($0) } ?? .null }
