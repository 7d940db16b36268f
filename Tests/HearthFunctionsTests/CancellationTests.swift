import Testing

@testable import HearthFunctions

extension SDK {
    @Suite struct Cancellation {
        private func host() throws -> FakeHost {
            try #require(
                FakeHost(
                    Functions {
                        OnCall("sleeps") { (_: CallableRequest<JSONValue>) in try await Task.sleep(for: .seconds(3600)) }
                        OnCall("stubborn") { (_: CallableRequest<JSONValue>) in
                            while !Task.isCancelled { await Task.yield() }
                            return "done all the same"
                        }
                        OnCall("children") { (_: CallableRequest<JSONValue>) in
                            try await withThrowingTaskGroup(of: Void.self) { group in
                                for _ in 0..<3 { group.addTask { try await Task.sleep(for: .seconds(3600)) } }
                                try await group.waitForAll()
                            }
                        }
                        OnCall("throwsItself") { (_: CallableRequest<JSONValue>) in
                            await Task.yield()
                            throw CancellationError()
                        }
                        OnRequest("plain") { _ in
                            try await Task.sleep(for: .seconds(3600))
                            return Response()
                        }
                    }))
        }

        @Test(arguments: ["sleeps", "children", "plain"])
        func aCancelledFunctionAnswersCancelled(_ function: String) throws {
            let host = try host()
            let id = host.start(function)
            #expect(host.answers[id] == nil)
            host.cancel(id)
            #expect(host.answer(of: id) == .error(#"{"code":"cancelled","message":"CANCELLED"}"#))
            #expect(host.lines.isEmpty)
        }

        @Test func anAnswerAfterCancellingIsStillOne() throws {
            let host = try host()
            let id = host.start("stubborn")
            host.cancel(id)
            host.cancel(id)
            #expect(host.answer(of: id) == .result("\"done all the same\""))
            host.cancel(id)
            #expect(host.answers[id]?.count == 1)
        }

        @Test func onlyTheOneIsCancelled() throws {
            let host = try host()
            let (one, other) = (host.start("sleeps"), host.start("sleeps"))
            host.cancel(one)
            #expect(host.answer(of: one) != nil)
            #expect(host.answers[other] == nil)
            host.cancel(99)
            host.shutdown()
            #expect(host.answer(of: other) != nil)
        }

        @Test func itsErrorWithoutCauseIsUnhandled() throws {
            let host = try host()
            #expect(host.call("throwsItself") == .internalError)
            #expect(host.lines.count == 1)
        }
    }
}
