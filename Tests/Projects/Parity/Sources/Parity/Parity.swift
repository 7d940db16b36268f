import HearthFunctions

struct Numbers: Decodable {
    var first: Double
    var second: Double
}

let greeting = StringParam("GREETING", default: "Hello")
let key = SecretParam("KEY")
let absent = SecretParam("ABSENT")

let functions = Functions(params: [greeting]) {
    OnCall("add") { (request: CallableRequest<Numbers>) in request.data.first + request.data.second }
    OnCall("echo") { (request: CallableRequest<JSONValue>) in request.data }
    OnCall("greet") { (request: CallableRequest<String>) async in
        await Task.yield()
        logger.info("greeted", metadata: ["name": "\(request.data)"])
        return "\(greeting.value), \(request.data)!"
    }
    OnUserCreated("profile") { event in
        guard event.data.displayName != "broken" else { throw HttpsError(.aborted, "it is broken") }
        try await database.reference("profiles/\(event.data.uid)").setValue(.string("\(event.data.email ?? "") \(event.tenantID ?? "")"))
    }
    OnUserDeleted("removal", users: .tenant("blue")) { event in try await database.reference("profiles/\(event.data.uid)").removeValue() }
    OnSchedule("tick", "every 24 hours") { event in
        let place = database.reference("ticks")
        guard try await !place.child("broken").getData().exists() else { throw HttpsError(.aborted, "it is broken") }
        try await place.child("job").setValue(.string("\(event.jobName) \(event.attempt) \(event.scheduleTime.hasSuffix("Z"))"))
    }
    OnCall("nothing") { (_: CallableRequest<JSONValue>) async in }
    OnCall("fails") { (request: CallableRequest<JSONValue>) throws -> Int in
        throw HttpsError(.failedPrecondition, "not now", details: request.data)
    }
    OnCall("who") { (request: CallableRequest<JSONValue>) -> JSONValue in
        ["uid": .string(request.auth?.uid ?? "nobody"), "admin": request.auth?.token["admin"] ?? .null, "app": .string(request.app?.appID ?? "none")]
    }
    OnCall("members", authPolicy: isSignedIn()) { (_: CallableRequest<JSONValue>) in "welcome" }
    OnCall("apps", options: Options(enforceAppCheck: true)) { (_: CallableRequest<JSONValue>) in "welcome" }
    OnCall("countdown") { (request: CallableRequest<Int>, response) in
        for number in stride(from: request.data, to: 0, by: -1) { try await response.sendChunk(number) }
        return "liftoff"
    }
    OnCall("late", options: Options(timeoutSeconds: 1)) { (_: CallableRequest<JSONValue>) async throws -> String in
        try await Task.sleep(for: .seconds(60))
        return "too late"
    }
    OnCall("secret", options: Options(secrets: [key])) { (_: CallableRequest<JSONValue>) in try key.value }
    OnCall("unset") { (_: CallableRequest<JSONValue>) in try absent.value }
    OnCall("tell") { (request: CallableRequest<[String]>) in
        let response = try await messaging.sendEachForMulticast(
            MulticastMessage(tokens: request.data, data: ["score": "3"], notification: .init(title: "Goal", body: "1:0")))
        return response.unregistered
    }
    OnCall("announce") { (request: CallableRequest<String>) in
        _ = try await messaging.subscribe([request.data], toTopic: "news")
        _ = try await messaging.send(Message(.condition(.topic("news") && !.topic("sport")), data: ["n": "1"]))
        return try await messaging.topics(of: request.data).map(\.topic)
    }
    OnCall("observe") { (request: CallableRequest<JSONValue>, response) async throws -> String in
        let place = database.reference(request.data["at"]?.string ?? "")
        let query = request.data["last"]?.int.map { place.queryOrderedByKey().queryLimited(toLast: $0) } ?? place.query
        var count = 0
        for try await snapshot in query.observe(timeout: request.data["milliseconds"]?.int.map { .milliseconds($0) }) {
            let keys = snapshot.children.map { JSONValue.string($0.key ?? "") }
            try await response.sendChunk(["value": snapshot.value, "keys": .array(keys)] as JSONValue)
            count += 1
            try await database.reference("seen").setValue(count)
            if count == request.data["count"]?.int { return "left" }
        }
        return "ended"
    }
    OnRequest("page") { request in
        guard request.method == "POST" else { return Response(text: "\(request.path) \(request.query ?? "-")", status: 405) }
        return Response(json: ["length": JSONValue(request.body.count), "type": .string(request.headers["content-type"] ?? "")])
    }
    OnRequest("pieces") { _, response in
        response.start(status: 201, headers: ["content-type": "text/plain"])
        for number in 1...3 { await response.write("\(number) ") }
    }
    OnValueCreated("shout", ref: "/messages/{id}/text") { (event: DatabaseEvent<String>) in
        try await event.ref.parent?.child("shout").setValue(event.data.uppercased())
    }
    OnValueWritten("count", ref: "/followers/{followed}/{follower}") { event in
        let change = (event.data.after.exists() ? 1 : 0) - (event.data.before.exists() ? 1 : 0)
        try await database.reference("counts/\(event.params["followed"] ?? "")").setValue(ServerValue.increment(change))
    }
    OnValueUpdated("note", ref: "/names/{rest=**}") { (event: DatabaseEvent<Change<JSONValue>>) in
        let place = "\(event.authType.rawValue) \(event.authID ?? "-") \(event.params["rest"] ?? "?")"
        try await database.reference("notes").childByAutoID().setValue("\(place): \(event.data.before) to \(event.data.after)")
    }
    OnValueDeleted("refuse", ref: "/refused/*") { (_: DatabaseEvent<JSONValue>) in throw HttpsError(.aborted, "not this one") }
    OnValueWritten("again", ref: "/again/count") { event in
        guard (event.data.after.value.int ?? 0) > 0 else { return }
        try await event.ref.setValue(ServerValue.increment(1))
    }
}
