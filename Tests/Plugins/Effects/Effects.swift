import HearthFunctions

// Functions with effects outside their own process: requests to other servers.
let functions = Functions {
    OnCall("fetches", fetch)
    OnCall("fetchesBriefly", options: Options(timeoutSeconds: 1), fetch)
    OnCall("updatesOnce") { (call: CallableRequest<JSONValue>) async throws -> JSONValue in
        do throws(DatabaseError) {
            let instance = call.data["instance"]?.string.map { database.instance($0) }
            return .bool(try await once(call.data["id"]?.string ?? "", update: call.data["update"] ?? [:], in: instance))
        } catch {
            return .string(error.code.rawValue)
        }
    }
    // Counts, then fails as often as /failures says, so that its event is delivered again.
    OnValueCreated("counts", ref: "/posts/{id}", retry: true) { event in
        let isFirst = try await once(event.id, update: ["counted": ServerValue.increment(1)])
        try await database.reference("deliveries").childByAutoID().setValue(.bool(isFirst))
        let failures = database.reference("failures")
        guard let left = try await failures.getData().value.int, left > 0 else { return }
        try await failures.setValue(.int(Int64(left - 1)))
        throw HttpsError(.aborted, "not yet")
    }
    // Calls the service with the payload as it is.
    OnCall("caches") { (call: CallableRequest<JSONValue>) async -> JSONValue in
        do {
            return try await services.call("cache", call.data["method"]?.string ?? "", call.data["payload"] ?? [:])
        } catch {
            return ["error": ((error as? HttpsError)?.details as? JSONValue)?["reason"] ?? "?"]
        }
    }
    OnCall("cachesTyped") { (_: CallableRequest<JSONValue>) async throws -> JSONValue in
        try await cache.set("typed", ["a": 1], ttlSeconds: 60)
        let value = try await cache.get("typed", as: [String: Int].self)
        let isNew = try await cache.setIfAbsent("typed", "other")
        let sum = try await cache.increment("sum", by: 5)
        let wasThere = try await cache.delete("typed")
        let gone = try await cache.get("typed", as: JSONValue.self)
        return [.int(Int64(value?["a"] ?? 0)), .bool(isNew), .int(Int64(sum)), .bool(wasThere), .bool(gone == nil)]
    }
    OnCall("fetchesHere", options: Options(allowedHosts: ["localhost"]), fetch)
}

/// Sends the request that the caller describes, once, several times at once, or cancelled after a while.
private func fetch(_ call: CallableRequest<JSONValue>) async throws -> JSONValue {
    let request = httpRequest(call.data)
    if let times = call.data["times"]?.int { return await fetch(request, times: times) }
    guard let seconds = call.data["cancelAfterSeconds"]?.double else { return await outcome(of: request) }
    let task = Task { await outcome(of: request) }
    try await Task.sleep(for: .seconds(seconds))
    task.cancel()
    return await task.value
}

private func fetch(_ request: HTTPRequest, times: Int) async -> JSONValue {
    await withTaskGroup(of: JSONValue.self) { group in
        for _ in 0..<times { group.addTask { await outcome(of: request) } }
        var (statuses, errors): ([JSONValue], [JSONValue]) = ([], [])
        for await outcome in group {
            if let status = outcome["status"] { statuses.append(status) }
            if let error = outcome["error"] { errors.append(error) }
        }
        return ["statuses": .array(statuses), "errors": .array(errors)]
    }
}

private func httpRequest(_ data: JSONValue) -> HTTPRequest {
    var request = HTTPRequest(url: data["url"]?.string ?? "")
    if let method = data["method"]?.string { request.method = method }
    if let body = data["body"]?.string { request.body = Array(body.utf8) }
    for (name, value) in data["headers"]?.object ?? [:] { request.headers.append(name, value.string ?? "") }
    if let seconds = data["timeoutSeconds"]?.double { request.timeoutSeconds = seconds }
    if let retries = data["retries"]?.int { request.retries = retries }
    if let redirects = data["redirects"]?.int { request.redirects = redirects }
    request.responseBytesMax = data["responseBytesMax"]?.int
    return request
}

private func outcome(of request: HTTPRequest) async -> JSONValue {
    do throws(HTTPError) {
        let answer = try await http.send(request)
        return [
            "status": .int(Int64(answer.status)), "body": .string(answer.text), "url": .string(answer.url),
            "attempts": .int(Int64(answer.attempts)),
            "headers": .array(answer.headers.map { [.string($0.name), .string($0.value)] }),
        ]
    } catch {
        return ["error": .string(error.code.rawValue), "message": .string(error.message)]
    }
}
