import Glibc
import HearthTesting
import Testing

private let functions = Functions {
    OnCall("read") { (_: CallableRequest<JSONValue>) in try await database.reference("a").getData().value }
    OnCall("write") { (request: CallableRequest<JSONValue>) in
        try await database.acting(as: request.auth).reference("by/\(request.auth?.uid ?? "nobody")").setValue(true)
    }
    OnCall("send") { (request: CallableRequest<String>) in
        do throws(MessagingError) {
            return try await messaging.send(Message(.topic(request.data), data: ["a": "1"]))
        } catch { throw HttpsError(error) }
    }
    OnCall("own") { (request: CallableRequest<JSONValue>) in try await services.call("weather", "today", request.data) }
    OnCall("threads") { (_: CallableRequest<JSONValue>) in
        try await withThrowingTaskGroup(of: Int.self) { group in
            for number in 0..<20 {
                group.addTask {
                    try await Task.sleep(for: .milliseconds(1))
                    try await database.reference("sum").setValue(ServerValue.increment(number))
                    return number
                }
            }
            return try await group.reduce(0, +)
        }
    }
    OnCall("project") { (_: CallableRequest<JSONValue>) in Project.id }
    OnValueCreated("writer", ref: "/by/{uid}") { event in
        let writer = "\(event.authType.rawValue) \(event.authID ?? "-") \(event.attempt)"
        try await database.reference("seen/\(event.params["uid"] ?? "")").setValue(writer)
    }
    OnValueCreated("slow", ref: "/slow/{id}") { event in
        try await Task.sleep(for: .milliseconds(20))
        try await database.reference("done").childByAutoID().setValue(event.params["id"] ?? "")
    }
}

// Beside the other suites of the SDK, since the boundary has one host at a time in a process.
extension SDK {
    @Suite struct InMemoryTests {
        @Test func eachTestHasItsOwnDatabase() async throws {
            for value in [JSONValue.int(1), .int(2)] {
                try await functions.test { app in
                    let before = try await app.call("read")
                    try await database.reference("a").setValue(value)
                    let after = try await app.call("read")
                    #expect(before == .null && after == value)
                }
            }
        }

        @Test func testsThatRunAtTheSameTimeDoNotMeet() async throws {
            try await withThrowingTaskGroup(of: JSONValue.self) { group in
                for number in 0..<8 {
                    group.addTask {
                        try await functions.test { app in
                            try await database.reference("a").setValue(.int(Int64(number)))
                            await Task.yield()
                            return try await app.call("read")
                        }
                    }
                }
                var seen: Set<JSONValue> = []
                for try await value in group { seen.insert(value) }
                #expect(seen.count == 8)
            }
        }

        @Test func aTestInsideOfATestIsRefused() async throws {
            try await functions.test { _ in
                await #expect(throws: TestFailure.self) { try await functions.test { _ in } }
            }
        }

        @Test func writersAreToldInEvents() async throws {
            try await functions.test { app in
                try await app.call("write", auth: "ada")
                try await app.call("write")
                try await database.reference("by/admin").setValue(true)
                try await app.waitForEvents()
                let seen = try await database.reference("seen").getData().value
                #expect(seen == ["ada": "app_user ada 1", "nobody": "unauthenticated - 1", "admin": "admin - 1"])
            }
        }

        @Test func eventsAreWaitedFor() async throws {
            try await functions.test { app in
                try await database.reference("slow").setValue(["a": 1, "b": 1, "c": 1])
                try await app.waitForEvents()
                let done = try await database.reference("done").getData().childrenCount
                #expect(done == 3)
            }
        }

        @Test func functionsMayUseManyThreads() async throws {
            try await functions.test { app in
                let sum = try await app.call("threads")
                #expect(sum == 190)
                let stored = try await database.reference("sum").getData().value
                #expect(stored == 190)
            }
        }

        @Test func servicesCanBeReplaced() async throws {
            try await functions.test { app in
                _ = try await app.call("send", "news")
                let sent = await app.memory?.sentMessages()
                #expect(sent == [["topic": "news", "data": ["a": "1"]]])
                await app.memory?.stub("messaging") { _, _ in throw HttpsError(.unavailable, "The service is down.") }
                await #expect(throws: HttpsError.self) { try await app.call("send", "news") }
                await app.memory?.stub("weather") { method, payload in [.string(method), payload] }
                let weather = try await app.call("own", "Bern")
                #expect(weather == ["today", "Bern"])
                await app.memory?.stub("database") { method, _ in method == "get" ? ["value": 5] : nil }
                let read = try await app.call("read")
                #expect(read == 5)
            }
        }

        @Test func variablesAreSetForTheTestOnly() async throws {
            try await functions.test(project: "demo-other", environment: ["TESTING_VARIABLE": "x"]) { app in
                let project = try await app.call("project")
                #expect(project == "demo-other")
                #expect(getenv("TESTING_VARIABLE") != nil)
            }
            #expect(getenv("TESTING_VARIABLE") == nil && getenv("GCLOUD_PROJECT") == nil)
        }

        @Test func whatIsMissingIsNamed() async throws {
            let secretive = Functions { OnCall("f", options: Options(secrets: ["API_KEY"])) { (_: CallableRequest<JSONValue>) in 1 } }
            await #expect(throws: TestFailure("The function f needs the secret API_KEY: give it with test(secrets:).")) {
                try await secretive.test { _ in }
            }
            let twice = Functions {
                OnCall("f") { (_: CallableRequest<JSONValue>) in 1 }
                OnCall("f") { (_: CallableRequest<JSONValue>) in 2 }
            }
            await #expect(throws: TestFailure("The functions are not valid: see standard error.")) { try await twice.test { _ in } }
            await #expect(throws: TestFailure("/nowhere/hearth is not a program that can be run; HEARTH names the program hearth.")) {
                try await functions.test(.host(program: "/nowhere/hearth")) { _ in }
            }
            try await functions.test { app in
                await #expect(throws: TestFailure("There is no plain HTTP function read.")) { try await app.request("read") }
            }
        }
    }
}
