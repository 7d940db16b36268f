import Testing

@testable import HearthFunctions

private actor Counter {
    var count = 0
    func increment() async -> Int {
        count += 1
        await Task.yield()
        return count
    }
}

extension SDK {
    @Suite struct Asynchronous {
        private let counter = Counter()

        private func host() throws -> FakeHost {
            try #require(
                FakeHost(
                    Functions {
                        OnCall("yields") { (request: CallableRequest<Int>) in
                            for _ in 0..<request.data { await Task.yield() }
                            return request.data
                        }
                        OnCall("sleeps") { (request: CallableRequest<Int>) in
                            try await Task.sleep(for: .milliseconds(request.data))
                            return "slept"
                        }
                        OnCall("together") { (request: CallableRequest<Int>) in
                            async let half = request.data / 2
                            let sum = await withTaskGroup { group in
                                for number in 1...10 {
                                    group.addTask {
                                        await Task.yield()
                                        return number
                                    }
                                }
                                return await group.reduce(0, +)
                            }
                            return await half + sum
                        }
                        OnCall("elsewhere") { (request: CallableRequest<Int>) in
                            await Task.detached { request.data + 1 }.value
                        }
                        OnCall("actor") { (_: CallableRequest<JSONValue>) in await counter.increment() }
                    }))
        }

        @Test func aFunctionThatNeverWaitsIsAnsweredWithinTheCall() throws {
            let host = try host()
            let id = host.start("yields", "0")
            #expect(host.answers[id] == [.result("0")])
        }

        @Test func waitingGoesThroughTheHostsQueue() throws {
            let host = try host()
            let id = host.start("yields", "3")
            #expect(host.answers[id] == nil)
            #expect(host.answer(of: id) == .result("3"))
        }

        @Test func sleepChildrenDetachedTasksAndActorsWork() throws {
            let host = try host()
            #expect(host.call("sleeps", "5") == .result("\"slept\""))
            #expect(host.call("together", "8") == .result("59"))
            #expect(host.call("elsewhere", "41") == .result("42"))
            #expect(host.call("actor") == .result("1"))
        }

        @Test func manyCallsAreOpenAtATime() throws {
            let host = try host()
            let ids = (0..<500).map { host.start("yields", "\($0 % 7)") }
            for (index, id) in ids.enumerated() { #expect(host.answer(of: id) == .result("\(index % 7)")) }
        }

        @Test func theRequestOutlivesTheHostsMemory() throws {
            let host = try #require(
                FakeHost(
                    Functions {
                        OnCall("late", authPolicy: AuthPolicy { _, _ in await Task.yield(); return true }) {
                            (request: CallableRequest<String>) in
                            await Task.yield()
                            return [request.data, request.auth?.uid ?? "nobody", request.rawRequest.headers["host"] ?? ""]
                        }
                    }))
            let context = #"{"auth":{"uid":"ada","token":{},"rawToken":"t"},"headers":["host","h.example"]}"#
            #expect(host.call("late", "\"data\"", context: context) == .result(#"["data","ada","h.example"]"#))
        }

        @Test func aDeadlineIsAnInstant() throws {
            let host = try #require(
                FakeHost(
                    Functions {
                        OnCall("left") { (request: CallableRequest<JSONValue>) in
                            guard let deadline = request.deadline else { return "none" }
                            return deadline - .now > .seconds(50) && deadline - .now <= .seconds(60) ? "a minute" : "wrong"
                        }
                    }))
            #expect(host.answer(of: host.start("left")) == .result("\"none\""))
            let deadline = MonotonicTime.now + 60_000_000_000
            #expect(host.answer(of: host.start("left", deadline: deadline)) == .result("\"a minute\""))
        }
    }
}
