import Testing

@testable import HearthFunctions

extension SDK {
    @Suite struct Transactions {
        private struct Stop: Error {}

        private func host() throws -> FakeHost {
            try #require(
                FakeHost(
                    Functions {
                        OnCall("counts") { (_: CallableRequest<JSONValue>) in
                            try await database.reference("n").runTransaction { (count: Int?) in (count ?? 0) + 1 }
                        }
                        OnCall("takes") { (_: CallableRequest<JSONValue>) in
                            let outcome = try await database.reference("n").runTransaction { (owner: String?) -> TransactionResult<String> in
                                owner == nil ? .success(withValue: "me") : .abort
                            }
                            return ["\(outcome.isCommitted)", outcome.value]
                        }
                        OnCall("throws") { (_: CallableRequest<JSONValue>) in
                            do {
                                try await database.reference("n").runTransaction { (_: JSONValue?) -> JSONValue? in throw Stop() }
                            } catch is Stop { return "stopped" }
                            return "went on"
                        }
                        OnCall("removes") { (_: CallableRequest<JSONValue>) in
                            try await database.reference("n").runTransaction { (_: JSONValue?) -> JSONValue? in nil }
                        }
                        OnCall("takesAnything") { (_: CallableRequest<JSONValue>) in
                            try await database.reference("n").runTransaction { (value: JSONValue?) -> TransactionResult<JSONValue> in
                                value == nil ? .success(withValue: "new") : .abort
                            }.value
                        }
                        OnCall("givesUp") { (_: CallableRequest<JSONValue>) in
                            do {
                                try await database.reference("n").runTransaction { (count: Int?) in (count ?? 0) + 1 }
                            } catch let error as DatabaseError { return error.code.rawValue }
                            return ""
                        }
                    }))
        }

        @Test func theBlockSeesTheNewestValueEachTime() throws {
            let host = try host()
            host.serviceAnswers = [
                (true, #"{"value":null,"etag":"null_etag"}"#), (true, #"{"committed":false,"value":7,"etag":"e7"}"#),
                (true, #"{"committed":true,"value":8}"#),
            ]
            #expect(host.call("counts") == .result("8"))
            #expect(
                host.serviceCalls == [
                    #"1 database.get {"path":"/n","etag":true}"#,
                    #"1 database.transaction {"path":"/n","value":1,"etag":"null_etag"}"#,
                    #"1 database.transaction {"path":"/n","value":8,"etag":"e7"}"#,
                ])
        }

        @Test func aBlockMayLeaveEverythingAsItIs() throws {
            let host = try host()
            host.serviceAnswers = [(true, #"{"value":"you","etag":"e"}"#)]
            #expect(host.call("takes") == .result(#"["false","you"]"#))
            host.serviceAnswers = [(true, #"{"value":null,"etag":"null_etag"}"#), (true, #"{"committed":true,"value":"me"}"#)]
            #expect(host.call("takes") == .result(#"["true","me"]"#))
            host.serviceAnswers = [(true, #"{"value":null,"etag":"null_etag"}"#)]
            #expect(host.call("throws") == .result("\"stopped\""))
            #expect(host.serviceCalls.count == 4)
        }

        @Test func nothingIsNilForAnyType() throws {
            let host = try host()
            host.serviceAnswers = [(true, #"{"value":null,"etag":"null_etag"}"#), (true, #"{"committed":true,"value":"new"}"#)]
            #expect(host.call("takesAnything") == .result("\"new\""))
        }

        @Test func nilRemoves() throws {
            let host = try host()
            host.serviceAnswers = [(true, #"{"value":{"a":1},"etag":"e"}"#), (true, #"{"committed":true,"value":null}"#)]
            #expect(host.call("removes") == .result("null"))
            #expect(host.serviceCalls.last == #"1 database.transaction {"path":"/n","value":null,"etag":"e"}"#)
        }

        @Test func afterTwentyFiveTriesItGivesUp() throws {
            let host = try host()
            host.serviceAnswer = (true, #"{"committed":false,"value":7,"etag":"e7"}"#)
            #expect(host.call("givesUp") == .result("\"contention\""))
            #expect(host.serviceCalls.count == 26)
        }
    }
}
