import HearthFunctions

struct Mail: Codable {
    var to: String
    var text: String
}

struct Welcome: Decodable {
    var name: String
}

/// A task that a test enqueues by a function.
struct Order: Decodable {
    var queue: String
    var data: JSONValue?
    var id: String?
    var delay: Double?
    var time: String?
    var deadline: Double?
    var headers: [String: String]?
}

// The functions of docs/tasks.md, and others for tests.
let functions = Functions {
    OnTaskDispatched(
        "sendMail", retryConfig: RetryConfig(maxAttempts: 5, minBackoffSeconds: 10), rateLimits: RateLimits(maxDispatchesPerSecond: 2)
    ) { (request: TaskRequest<Mail>) in
        try await database.reference("sent/\(request.id)").setValue(["to": .string(request.data.to), "text": .string(request.data.text)])
    }
    OnCall("welcome") { (request: CallableRequest<Welcome>) in
        let mail = Mail(to: "\(request.data.name)@example.com", text: "Hello")
        try await tasks.queue("sendMail").enqueue(mail, options: TaskOptions(id: "welcome-\(request.data.name)"))
    }

    OnTaskDispatched("note") { (request: TaskRequest<JSONValue>) in try await note("note", request) }
    OnTaskDispatched("steady", rateLimits: RateLimits(maxDispatchesPerSecond: 20)) { (request: TaskRequest<JSONValue>) in
        try await note("steady", request)
    }
    // Fails as often as /failures says, and counts down.
    OnTaskDispatched(
        "flaky", retryConfig: RetryConfig(maxAttempts: 3, minBackoffSeconds: 0.1, maxBackoffSeconds: 0.1)
    ) { (request: TaskRequest<JSONValue>) in
        try await note("flaky", request)
        try await failIfAsked()
    }
    // Waits so long for its next attempt that nothing of it stays in memory.
    OnTaskDispatched("patient", retryConfig: RetryConfig(maxAttempts: 3, minBackoffSeconds: 30)) { (request: TaskRequest<JSONValue>) in
        try await note("patient", request)
        try await failIfAsked()
    }
    // End when /go exists.
    OnTaskDispatched("pair", rateLimits: RateLimits(maxConcurrentDispatches: 2), options: Options(timeoutSeconds: 120)) {
        (request: TaskRequest<JSONValue>) in try await noteAndWait("pair", request)
    }
    OnTaskDispatched("slow", options: Options(timeoutSeconds: 120)) { (request: TaskRequest<JSONValue>) in
        try await noteAndWait("slow", request)
    }
    OnTaskDispatched("hasty", retryConfig: RetryConfig(maxAttempts: 1), options: Options(timeoutSeconds: 1)) {
        (request: TaskRequest<JSONValue>) in try await noteAndWait("hasty", request)
    }
    OnTaskDispatched("typed", retryConfig: RetryConfig(maxAttempts: 1)) { (request: TaskRequest<Mail>) in
        try await database.reference("sent/\(request.id)").setValue(.string(request.data.to))
    }

    OnCall("enqueue") { (request: CallableRequest<Order>) in
        let order = request.data
        let options = TaskOptions(
            scheduleDelaySeconds: order.delay, scheduleTime: order.time, dispatchDeadlineSeconds: order.deadline, id: order.id,
            headers: order.headers)
        return try await tasks.queue(order.queue).enqueue(order.data ?? .null, options: options)
    }
    OnCall("withdraw") { (request: CallableRequest<Order>) in try await tasks.queue(request.data.queue).delete(request.data.id ?? "") }
}

private func note(_ name: String, _ request: TaskRequest<JSONValue>) async throws {
    var headers = JSONObject()
    for (field, value) in request.headers { headers[field] = .string(value) }
    var noted: JSONObject = [
        "id": .string(request.id), "data": request.data, "queue": .string(request.queueName), "retryCount": .int(Int64(request.retryCount)),
        "executionCount": .int(Int64(request.executionCount)), "scheduledTime": .string(request.scheduledTime), "headers": .object(headers),
        "at": [".sv": "timestamp"],
    ]
    noted["previousResponse"] = request.previousResponse.map { .int(Int64($0)) }
    noted["retryReason"] = request.retryReason.map { .string($0) }
    try await database.reference("runs/\(name)").childByAutoID().setValue(.object(noted))
}

private func noteAndWait(_ name: String, _ request: TaskRequest<JSONValue>) async throws {
    try await note(name, request)
    while try await !database.reference("go").getData().exists() { try await Task.sleep(for: .milliseconds(20)) }
    try await database.reference("ended").childByAutoID().setValue(.string(request.id))
}

private func failIfAsked() async throws {
    let failures = database.reference("failures")
    guard let left = try await failures.getData().value.int, left > 0 else { return }
    try await failures.setValue(.int(Int64(left - 1)))
    throw HttpsError(.aborted, "not yet")
}
