import HearthFunctions
import HearthTesting
import Testing

private let functions = Functions {
    OnCall("weather") { (request: CallableRequest<String>) async throws -> JSONValue in
        do throws(HTTPError) {
            let answer = try await http.get("https://api.example.com/weather?city=\(request.data)", headers: ["X-Key": "k"])
            return ["status": .int(Int64(answer.status)), "body": (try? answer.json()) ?? .null, "url": .string(answer.url)]
        } catch {
            return ["error": .string(error.code.rawValue)]
        }
    }
    OnCall("posts") { (request: CallableRequest<[String: String]>) async throws -> String in
        var message = HTTPRequest(method: "POST", url: "https://api.example.com/", timeoutSeconds: 1000, retries: 2, redirects: 0)
        try message.setBody(json: request.data)
        return try await http.send(message).text
    }
    OnCall("counts") { (request: CallableRequest<String>) async throws -> Bool in
        try await once(request.data, update: ["count": ServerValue.increment(1)])
    }
    OnCall("remembers") { (request: CallableRequest<String>) async throws -> JSONValue in
        if let known = try await cache.get(request.data, as: Int.self) { return .int(Int64(known)) }
        let isNew = try await cache.setIfAbsent(request.data, 7, ttlSeconds: 60)
        return .bool(isNew)
    }
}

// Beside the other suites of the SDK, since the boundary has one host at a time in a process.
extension SDK {
    /// Effects of functions outside their process, in memory.
    @Suite struct EffectsTests {
        @Test func requestsAreAnsweredByTheTest() async throws {
            try await functions.test { app in
                await app.memory?.answerHTTP { request in
                    guard request.url.hasSuffix("Bern") else { throw HTTPError(.unreachable, "No such host.") }
                    return HTTPResponse(headers: ["Content-Type": "application/json"], text: #"{"degrees": 21}"#)
                }
                let url = "https://api.example.com/weather?city=Bern"
                let (bern, rome) = (try await app.call("weather", "Bern"), try await app.call("weather", "Rome"))
                #expect(bern == ["status": 200, "body": ["degrees": 21], "url": .string(url)])
                #expect(rome == ["error": "unreachable"])
                let sent = await app.memory?.sentRequests() ?? []
                #expect(sent.map(\.url) == [url, "https://api.example.com/weather?city=Rome"])
                #expect(sent.first?.headers["x-key"] == "k" && sent.first?.body == nil)
            }
        }

        @Test func anUpdateIsPerformedOnce() async throws {
            try await functions.test { app in
                let (first, second) = (try await app.call("counts", "a"), try await app.call("counts", "a"))
                let third = try await app.call("counts", "b")
                #expect((first, second, third) == (true, false, true))
                let count = try await database.reference("count").getData().value
                #expect(count == 2)
            }
        }

        @Test func valuesOfTheCacheEnd() async throws {
            try await functions.test { app in
                let (first, second) = (try await app.call("remembers", "k"), try await app.call("remembers", "k"))
                await app.memory?.advanceCache(seconds: 61)
                let third = try await app.call("remembers", "k")
                #expect((first, second, third) == (true, 7, true))
            }
        }

        @Test func nothingIsSentFromMemory() async throws {
            try await functions.test { app in
                let answer = try await app.call("weather", "Bern")
                #expect(answer == ["error": "denied"])
            }
        }

        @Test func requestsHaveTheirOptionsAndTheTimeOfTheCall() async throws {
            try await functions.test { app in
                await app.memory?.answerHTTP { request in
                    let seconds = request.timeoutSeconds
                    #expect(seconds > 50 && seconds <= 60)
                    #expect(request.retries == 2 && request.redirects == 0 && request.headers["content-type"] == "application/json")
                    return HTTPResponse(status: 201, body: request.body ?? [])
                }
                let echo = try await app.call("posts", ["a": "ä"])
                #expect(echo == #"{"a":"ä"}"#)
            }
        }
    }
}
