import HearthTesting
import Testing

@testable import Parity

private func refusal(_ body: () async throws -> Void) async throws -> HttpsError {
    do { try await body() } catch let error as HttpsError { return error }
    throw TestFailure("nothing was thrown")
}

@Suite struct FunctionTests {
    @Test(arguments: TestTransport.everywhere) func callables(_ transport: TestTransport) async throws {
        try await functions.test(transport, secrets: ["KEY": "s"]) { app in
            #expect(try await app.call("add", ["first": 3, "second": 4], as: Double.self) == 7)
            let values: JSONValue = ["a": [1, 9007199254740993, JSONValue(UInt64.max), -0.5, nil, "é"], "b": [:]]
            #expect(try await app.call("echo", values) == values)
            #expect(try await app.call("nothing") == .null)
            let error = try await refusal { try await app.call("fails", ["left": [1]]) }
            #expect(error.code == .failedPrecondition && error.message == "not now" && error.details as? JSONValue == ["left": [1]])
            let shape = try await refusal { try await app.call("add", ["first": 3]) }
            #expect(shape.code == .invalidArgument && shape.message == "data.second is missing.")
            #expect(try await refusal { try await app.call("absent") }.code == .notFound)
        }
    }

    @Test(arguments: TestTransport.everywhere) func users(_ transport: TestTransport) async throws {
        try await functions.test(transport, secrets: ["KEY": "s"]) { app in
            try await app.deliver(.created(AuthUserRecord(uid: "ada", email: "ada@example.com", tenantID: "blue")))
            #expect(try await database.reference("profiles/ada").getData().value == "ada@example.com blue")
            try await app.deliver(.deleted(AuthUserRecord(uid: "ada", tenantID: "blue")))
            #expect(try await database.reference("profiles/ada").getData().exists() == false)
            await #expect(throws: TestFailure("profile failed for the user eve: aborted: it is broken")) {
                try await app.deliver(.created(AuthUserRecord(uid: "eve", displayName: "broken")))
            }
            await #expect(throws: TestFailure("No function runs when the user eve is deleted.")) {
                try await app.deliver(.deleted(AuthUserRecord(uid: "eve")))
            }
        }
    }

    @Test(arguments: TestTransport.everywhere) func callers(_ transport: TestTransport) async throws {
        try await functions.test(transport, secrets: ["KEY": "s"]) { app in
            #expect(try await app.call("who") == ["uid": "nobody", "admin": nil, "app": "none"])
            let user = TestUser("ada", claims: ["admin": true])
            #expect(try await app.call("who", auth: user, app: "1:123:web:abc") == ["uid": "ada", "admin": true, "app": "1:123:web:abc"])
            #expect(try await app.call("members", auth: "ada") == "welcome")
            #expect(try await refusal { try await app.call("members") }.code == .permissionDenied)
            #expect(try await app.call("apps", app: "1:123:web:abc") == "welcome")
            let error = try await refusal { try await app.call("apps") }
            #expect(error.code == .unauthenticated && error.message == "Unauthenticated")
        }
    }

    @Test(arguments: TestTransport.everywhere) func streamsAndDeadlines(_ transport: TestTransport) async throws {
        try await functions.test(transport, secrets: ["KEY": "s"]) { app in
            let (messages, result) = try await app.stream("countdown", 3)
            #expect(messages == [3, 2, 1] && result == "liftoff")
            #expect(try await app.call("countdown", 3) == "liftoff")
            #expect(try await refusal { try await app.call("late") }.code == .deadlineExceeded)
        }
    }

    /// The log, once it has such a line: the lines of a host may arrive after its answers.
    private func logs(of app: TestApp, with isWanted: (TestLogLine) -> Bool) async throws -> [TestLogLine] {
        for _ in 0..<500 {
            let lines = try await app.logs()
            if lines.contains(where: isWanted) { return lines }
            try await Task.sleep(for: .milliseconds(20))
        }
        return try await app.logs()
    }

    @Test(arguments: TestTransport.everywhere) func parametersAndSecrets(_ transport: TestTransport) async throws {
        try await functions.test(transport, secrets: ["KEY": "s"]) { app in
            #expect(try await app.call("greet", "Ada") == "Hello, Ada!")
            let greeted = try await logs(of: app) { $0.function == "greet" }.filter { $0.function == "greet" }
            #expect(greeted.map(\.message) == ["greeted"])
            #expect(greeted.first?.fields == ["name": "Ada"])
            let unknown = try await refusal { try await app.call("greeet") }
            #expect(unknown.code == .notFound && unknown.message == "There is no callable function greeet.")
            let error = try await refusal { try await app.call("unset") }
            #expect(error.code == .internal && error.message == "INTERNAL")
            let isTold: (TestLogLine) -> Bool = { $0.level == .error && $0.message.contains("The secret ABSENT is not set") }
            #expect(try await logs(of: app, with: isTold).contains(where: isTold))
        }
        try await functions.test(transport, environment: ["GREETING": "Good \"day\"\\"], secrets: ["KEY": "s3cr$t"]) { app in
            let greeting = try await app.call("greet", "Ada"), secret = try await app.call("secret")
            #expect(greeting == "Good \"day\"\\, Ada!" && secret == "s3cr$t")
        }
    }

    @Test(arguments: TestTransport.everywhere) func plainHTTP(_ transport: TestTransport) async throws {
        try await functions.test(transport, secrets: ["KEY": "s"]) { app in
            let refused = try await app.request("page", path: "/a/b?c=d")
            #expect(refused.status == 405 && refused.text == "/a/b c=d")
            let taken = try await app.request("page", method: "POST", headers: ["Content-Type": "text/x"], body: "body")
            #expect(taken.status == 200)
            #expect(try taken.json() == ["length": 4, "type": "text/x"])
            let pieces = try await app.request("pieces")
            #expect(pieces.status == 201 && pieces.text == "1 2 3 " && pieces.headers["content-type"] == "text/plain")
        }
    }

    @Test(arguments: TestTransport.everywhere) func messages(_ transport: TestTransport) async throws {
        try await functions.test(transport, secrets: ["KEY": "s"]) { app in
            let phone = try await app.registerDevice(), gone = try await app.registerDevice()
            try await gone.unregister()
            #expect(try await app.call("tell", JSONValue.array([.string(phone.token), .string(gone.token)])) == [.string(gone.token)])
            let received = try await phone.messages()
            #expect(received.count == 1)
            #expect(received.first?["data"] == ["score": "3"] && received.first?["notification"]?["title"] == "Goal")
            #expect(try await app.call("announce", .string(phone.token)) == ["news"])
            var news: [JSONValue] = []
            while news.isEmpty { news = try await phone.messages().filter { $0["data"] == ["n": "1"] } }
            #expect(news.count == 1)
        }
    }

    @Test(arguments: TestTransport.everywhere) func schedulesRun(_ transport: TestTransport) async throws {
        try await functions.test(transport, secrets: ["KEY": "s"]) { app in
            try await app.runSchedule("tick")
            #expect(try await database.reference("ticks/job").getData().value == "firebase-schedule-tick-us-central1 1 true")
            try await database.reference("ticks/broken").setValue(true)
            await #expect(throws: TestFailure("tick failed: aborted: it is broken")) { try await app.runSchedule("tick") }
            await #expect(throws: TestFailure("There is no scheduled function nothing.")) { try await app.runSchedule("nothing") }
        }
    }
}
