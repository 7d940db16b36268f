import Testing

@testable import HearthFunctions

private struct Post: Encodable {
    var text: String
    var at = ServerValue.timestamp
}

extension SDK {
    /// Calls of functions to the host's database service: the payloads that arrive there.
    @Suite struct DatabaseWriting {
        /// Runs `body` as a function and returns what it asked of the service, and the function's answer.
        private func asked(
            _ answers: (isOK: Bool, body: String)..., body: @escaping @Sendable (CallableRequest<JSONValue>) async throws -> Void
        ) throws -> (calls: [String], answer: FakeHost.Answer?) {
            let host = try #require(FakeHost(Functions { OnCall("f", body) }))
            host.serviceAnswer = (true, "null")
            host.serviceAnswers = answers
            let context = #"{"auth":{"uid":"u1","token":{"admin":true},"rawToken":"x"}}"#
            let answer = host.call("f", "null", context: context)
            return (host.serviceCalls, answer)
        }

        @Test func valuesOfAnyTypeAreSet() throws {
            let place = database.reference("rooms//blue/")
            let (calls, answer) = try asked { _ in
                try await place.setValue(["text": "hello", "likes": 0, "tags": ["a", nil]])
                try await place.setValue(Post(text: "x"))
                try await place.setValue(5)
                try await place.setValue(nil)
                try await place.setValue(Int?.none)
                try await place.setValue("x", andPriority: 3)
                try await place.setPriority("p")
                try await place.removeValue()
            }
            #expect(answer == .result("null"))
            #expect(
                calls == [
                    #"1 database.set {"path":"/rooms/blue","value":{"text":"hello","likes":0,"tags":["a",null]}}"#,
                    #"1 database.set {"path":"/rooms/blue","value":{"text":"x","at":{".sv":"timestamp"}}}"#,
                    #"1 database.set {"path":"/rooms/blue","value":5}"#,
                    #"1 database.set {"path":"/rooms/blue","value":null}"#,
                    #"1 database.set {"path":"/rooms/blue","value":null}"#,
                    #"1 database.set {"path":"/rooms/blue","value":"x","priority":3}"#,
                    #"1 database.setPriority {"path":"/rooms/blue","priority":"p"}"#,
                    #"1 database.remove {"path":"/rooms/blue"}"#,
                ])
        }

        @Test func severalPlacesAreUpdatedAtOnce() throws {
            let (calls, _) = try asked { _ in
                try await database.reference().updateChildValues([
                    "posts/p": ["text": "hi"], "users/u/posts/p": true, "count": 2, "old": nil,
                ])
                try await database.reference("posts").updateChildValues(["p": Post(text: "y")])
                try await database.reference("n").setValue(["a": ServerValue.increment(2)])
                try await database.reference("n").setValue(ServerValue.increment(0.5))
            }
            #expect(
                calls == [
                    #"1 database.update {"path":"/","value":{"posts/p":{"text":"hi"},"users/u/posts/p":true,"#
                        + #""count":2,"old":null}}"#,
                    #"1 database.update {"path":"/posts","value":{"p":{"text":"y","at":{".sv":"timestamp"}}}}"#,
                    #"1 database.set {"path":"/n","value":{"a":{".sv":{"increment":2}}}}"#,
                    #"1 database.set {"path":"/n","value":{".sv":{"increment":0.5}}}"#,
                ])
        }

        @Test func callsSayOnWhoseBehalfAndWhere() throws {
            let (calls, _) = try asked { request in
                try await database.acting(as: request.auth).reference("a").setValue(1)
                try await database.acting(as: nil).reference("a").child("b").setValue(1)
                let other = database.instance("archive").acting(asUser: "u2")
                try await other.reference("a").parent?.removeValue()
                try await other.actingAsAdministrator().reference("a").root.removeValue()
            }
            #expect(
                calls == [
                    #"1 database.set {"path":"/a","auth":{"uid":"u1","token":{"admin":true}},"value":1}"#,
                    #"1 database.set {"path":"/a/b","auth":null,"value":1}"#,
                    #"1 database.remove {"path":"/","instance":"archive","auth":{"uid":"u2","token":{}}}"#,
                    #"1 database.remove {"path":"/","instance":"archive"}"#,
                ])
        }

        @Test func refusalsAreTyped() throws {
            let refusal = #"{"code":"permission-denied","message":"Permission denied","details":{"reason":"permission-denied","path":"/a"}}"#
            let index = #"{"code":"failed-precondition","message":"m","details":{"reason":"index-not-defined"}}"#
            let (_, answer) = try asked((false, refusal), (false, index), (false, "{}"), (false, "")) { _ in
                for expected in ["permission-denied at /a: Permission denied", "index-not-defined at /b: m", "internal at /b: The database"] {
                    do throws(DatabaseError) {
                        try await database.reference("b").removeValue()
                        Issue.record("nothing was thrown")
                    } catch {
                        #expect(error.description.hasPrefix(expected))
                    }
                }
                do throws(DatabaseError) {
                    try await database.reference("b").setValue(["a": ["b": Double.nan]])
                } catch {
                    #expect(error.code == .invalidArgument && error.path == "/b/a/b")
                }
                do {
                    try await database.reference("b").removeValue()
                } catch let error as DatabaseError { throw HttpsError(error) }
            }
            #expect(answer == .error(#"{"code":"internal","message":"The database failed without saying why."}"#))
        }

        @Test func everyErrorHasACodeForCallers() {
            for code in DatabaseError.Code.allCases { #expect(HttpsError(DatabaseError(code, "m")).code != .ok) }
            #expect(HttpsError(DatabaseError(.permissionDenied, "m")).code == .permissionDenied)
            #expect(HttpsError(DatabaseError(.contention, "m")).code == .aborted)
        }

        @Test func placesAreMadeWithoutAsking() {
            let place = database.reference("/a//b/").child("c/d")
            #expect(place.path == "/a/b/c/d" && place.key == "d" && place.parent?.path == "/a/b/c" && place.root.path == "/")
            #expect(database.reference().path == "/" && database.reference().key == nil && database.reference().parent == nil)
            #expect(database.reference("a").parent == database.reference())
            #expect(database.instance("x").reference("a") != database.reference("a"))
        }
    }

    @Suite struct AutoIDs {
        @Test func keysSortInTheOrderOfTheirMaking() {
            var maker = AutoID()
            let times: [Int64] = [1_700_000_000_000, 1_700_000_000_000, 1_699_999_999_999, 1_700_000_000_001, 1_800_000_000_000]
            let keys = (0..<5000).map { maker.next(now: times[min($0 / 1000, 4)]) }
            #expect(keys == keys.sorted() && Set(keys).count == keys.count)
            #expect(keys.allSatisfy { $0.utf8.count == 20 })
            #expect(keys[0].hasPrefix("-NjEtLV-"))
            #expect(database.reference("a").childByAutoID().key ?? "" < database.reference("a").childByAutoID().key ?? "")
        }
    }
}
