import HearthFunctions

/// Observes a place, and streams what it sees. Between two values it can wait for a write, so that tests need no time.
///
/// The data: `at`, `as`, `instance` and a query as for `database`; `milliseconds`: the time; `count`: leave the loop after so many values;
/// `gate`: after each value, wait until this place has the number of values so far; `stop`: cancel the loop when this place has a value;
/// `linger`: work on after the loop until this place has a value; `quiet`: stream the end only.
@Sendable func observing(_ request: CallableRequest<JSONValue>, _ response: CallableResponse) async throws -> JSONValue {
    let step = request.data
    let observation = query(step, at: place(of: step, request.auth)).observe(timeout: step["milliseconds"]?.int.map { .milliseconds($0) })
    let end: JSONValue
    if let stop = step["stop"]?.string {
        end = try await withThrowingTaskGroup(of: JSONValue?.self) { group in
            group.addTask { try await follow(observation, step, response) }
            group.addTask {
                try await waitForValue(at: stop)
                return nil
            }
            var end: JSONValue?
            for try await ended in group {
                end = end ?? ended
                group.cancelAll()
            }
            return end ?? .null
        }
    } else {
        end = try await follow(observation, step, response)
    }
    try await response.sendChunk(["end": end])
    if let linger = step["linger"]?.string { try await waitForValue(at: linger) }
    return end
}

/// Waits with one call at a time, without observing.
private func waitForValue(at path: String) async throws {
    while try await !database.reference(path).getData().exists() { try await Task.sleep(for: .milliseconds(5)) }
}

private func follow(_ observation: DatabaseObservation, _ step: JSONValue, _ response: CallableResponse) async throws -> JSONValue {
    var count = 0
    do {
        for try await snapshot in observation {
            count += 1
            if step["quiet"] != true { try await response.sendChunk(seen(snapshot)) }
            if count == step["count"]?.int { return .string("left") }
            guard let gate = step["gate"]?.string else { continue }
            while try await database.reference(gate).getData(as: Int?.self) ?? 0 < count { try await Task.sleep(for: .milliseconds(5)) }
        }
        return .string("ended")
    } catch let error as DatabaseError {
        return ["refused": .string(error.code.rawValue), "message": .string(error.message), "path": .string(error.path)]
    }
}

/// Observes one place with so many loops at the same time, and streams how many of them have got their first value, then how they have ended.
@Sendable func observingOften(_ request: CallableRequest<JSONValue>, _ response: CallableResponse) async throws -> [String: Int] {
    let place = database.reference(request.data["at"]?.string ?? "")
    return try await withThrowingTaskGroup(of: String.self) { group in
        for _ in 0..<(request.data["loops"]?.int ?? 1) {
            group.addTask {
                do {
                    for try await snapshot in place.observe() where snapshot.exists() { return "seen" }
                    return "ended"
                } catch { return (error as? DatabaseError)?.code.rawValue ?? "\(error)" }
            }
        }
        var ends: [String: Int] = [:]
        for try await end in group {
            if ends[end] == nil { try await response.sendChunk(end) }
            ends[end, default: 0] += 1
        }
        return ends
    }
}
