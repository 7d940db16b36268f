import Synchronization
import Testing

@testable import HearthFunctions

/// A condition that a function reports to its test.
private final class Flag: Sendable {
    let isSet = Atomic(false)
}

extension SDK {
    @Suite struct Observing {
        private static let first = #"{"changed":true,"value":{"a":1},"mark":"m1"}"#
        private static let second = #"{"changed":true,"value":null,"mark":"m2"}"#

        private func observe(
            _ answers: [String], last: (isOK: Bool, body: String), _ observation: DatabaseObservation, count: Int = .max
        ) throws -> (calls: [String], answer: FakeHost.Answer?) {
            let host = try #require(
                FakeHost(
                    Functions {
                        OnCall("f") { (_: CallableRequest<JSONValue>) async -> [JSONValue] in
                            var seen: [JSONValue] = []
                            do throws(DatabaseError) {
                                for try await snapshot in observation {
                                    seen.append(snapshot.value)
                                    if seen.count == count { break }
                                }
                            } catch {
                                seen.append(.string(error.description))
                            }
                            return seen
                        }
                    }))
            host.serviceAnswers = answers.map { (true, $0) }
            host.serviceAnswer = last
            let answer = host.call("f")
            return (host.serviceCalls, answer)
        }

        private static func refusal(_ reason: String) -> (isOK: Bool, body: String) {
            (false, #"{"code":"x","message":"why","details":{"reason":"\#(reason)","path":"/r"}}"#)
        }

        /// A call without the part that differs each time.
        private func withoutID(_ call: String) -> String {
            guard let start = call.firstRange(of: #","id":""#) else { return call }
            return String(call[..<start.lowerBound] + call[start.upperBound...].drop { $0 != "\"" }.dropFirst())
        }

        @Test func eachCallHasTheMarkOfTheValueBefore() throws {
            let (calls, answer) = try observe([Self.first, #"{"changed":false}"#, Self.second], last: Self.refusal("permission-denied"),
                database.instance("other").acting(asUser: "u").reference("r").observe())
            #expect(answer == .result(#"[{"a":1},null,"permission-denied at /r: why"]"#))
            let start = #"1 database.observe {"path":"/r","instance":"other","auth":{"uid":"u","token":{}},"form":"export""#
            #expect(
                calls.map(withoutID) == [
                    start + "}", start + #","mark":"m1"}"#, start + #","mark":"m1"}"#, start + #","mark":"m2"}"#,
                ])
            #expect(Set(calls).count == 4)
        }

        @Test func nothingIsAskedAfterTheLoopIsLeft() throws {
            let (calls, answer) = try observe([Self.first, Self.second], last: (true, Self.first), database.reference("r").observe(), count: 2)
            #expect(answer == .result(#"[{"a":1},null]"#))
            #expect(calls.count == 2)
        }

        @Test func queriesAndTheTimeReachTheService() throws {
            let observation = database.reference("r").queryLimited(toLast: 2).observe(timeout: .seconds(3600))
            let (calls, _) = try observe([Self.first, Self.second], last: (true, Self.first), observation, count: 2)
            #expect(calls.first == #"1 database.observe {"path":"/r","form":"export","query":{"orderBy":"$priority","limitToLast":2}}"#)
            let milliseconds = calls.last?.firstMatch(of: /"timeoutMilliseconds":(\d+)}/)?.1
            #expect((3_500_000...3_600_000).contains(milliseconds.flatMap { Int($0) } ?? 0))
        }

        @Test func theFirstValueIsGivenEvenWithoutTime() throws {
            let (calls, answer) = try observe([Self.first], last: Self.refusal("internal"), database.reference("r").observe(timeout: .zero))
            #expect(answer == .result(#"[{"a":1}]"#))
            #expect(calls.count == 1)
        }

        @Test func theEndOfTheInvocationIsTheEndOfTheLoop() throws {
            let (_, answer) = try observe([Self.first], last: Self.refusal("cancelled"), database.reference("r").observe())
            #expect(answer == .result(#"[{"a":1}]"#))
        }

        @Test(arguments: ["too-large", "too-many-observers", "unavailable", "unknown-instance"])
        func refusalsAreThrown(_ reason: String) throws {
            let (calls, answer) = try observe([Self.first], last: Self.refusal(reason), database.reference("r").observe())
            #expect(answer == .result(#"[{"a":1},"\#(reason) at /r: why"]"#))
            #expect(calls.count == 2)
        }

        @Test func aContradictionIsRefusedWithoutACall() throws {
            let (calls, answer) = try observe([], last: (true, "null"), database.reference("r").queryLimited(toFirst: 0).observe())
            #expect(answer == .result(#"["invalid-argument at /r: The limit of a query is 1 or more, and this one's is 0."]"#))
            #expect(calls.isEmpty)
        }

        @Test func aCancelledTaskEndsItsWait() throws {
            let host = try #require(
                FakeHost(
                    Functions {
                        OnCall("f") { (_: CallableRequest<JSONValue>) async throws -> Int in
                            var count = 0
                            for try await _ in database.reference("r").observe() { count += 1 }
                            return count
                        }
                    }))
            host.serviceAnswers = [(true, Self.first)]
            host.holdsServiceCalls = true
            let id = host.start("f")
            host.answerHeldCall()
            host.run { host.serviceCalls.count == 2 }
            host.cancel(id)
            host.run { host.serviceCalls.count == 3 }
            let wait = try #require(host.serviceCalls[1].firstMatch(of: /"id":"([^"]+)"/)?.1)
            #expect(host.serviceCalls[2] == #"1 database.unobserve {"id":"\#(wait)"}"#)
            #expect(host.answers[id] == nil)
            // The host answers the wait, then the call that has ended it.
            host.serviceAnswers = [(true, #"{"changed":false}"#), (true, "null")]
            host.answerHeldCall()
            host.answerHeldCall()
            #expect(host.answer(of: id) == .result("1"))
            #expect(host.serviceCalls.count == 3)
        }

        @Test func aCancelledTaskAsksNoMore() throws {
            let hasSeen = Flag()
            let host = try #require(
                FakeHost(
                    Functions {
                        OnCall("f") { (_: CallableRequest<JSONValue>) async throws -> Int in
                            var count = 0
                            for try await _ in database.reference("r").observe() {
                                count += 1
                                hasSeen.isSet.store(true, ordering: .relaxed)
                                while !Task.isCancelled { await Task.yield() }
                            }
                            return count
                        }
                    }))
            host.serviceAnswer = (true, Self.first)
            let id = host.start("f")
            host.run { hasSeen.isSet.load(ordering: .relaxed) }
            host.cancel(id)
            #expect(host.answer(of: id) == .result("1"))
            #expect(host.serviceCalls.count == 1)
        }
    }
}
