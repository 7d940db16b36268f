import HearthTesting
import Testing

@testable import Parity

private func refusal(_ body: () async throws -> Void) async throws -> DatabaseError.Code {
    do { try await body() } catch let error as DatabaseError { return error.code }
    throw TestFailure("nothing was thrown")
}

@Suite struct DatabaseTests {
    @Test(arguments: TestTransport.everywhere) func valuesAndPaths(_ transport: TestTransport) async throws {
        try await functions.test(transport, secrets: ["KEY": "s"]) { _ in
            let root = database.reference("values")
            func all() async throws -> JSONValue { try await root.getData().value }
            try await root.setValue(["list": ["a", nil, "c"], "none": nil, "empty": [:], "whole": 1.0, "half": 0.5, "text": ""])
            #expect(try await all() == ["list": ["a", nil, "c"], "whole": 1, "half": 0.5, "text": ""])
            try await root.child("whole/deep").setValue(true)
            #expect(try await root.child("whole").getData().value == ["deep": true])
            try await root.updateChildValues(["half": nil, "whole/deep": nil, "new/a": 1, "list/1": "b"])
            #expect(try await all() == ["list": ["a", "b", "c"], "new": ["a": 1], "text": ""])
            try await root.child("new/a").removeValue()
            #expect(try await root.child("new").getData().exists() == false)
            try await root.child("text/below").removeValue()
            #expect(try await root.child("text").getData().value == "")
            #expect(try await refusal { try await root.child("a.b").setValue(1) } == .invalidArgument)
            #expect(try await refusal { try await root.setValue(["a/b": 1]) } == .invalidArgument)
            #expect(try await refusal { try await root.updateChildValues(["a": 1, "a/b": 2]) } == .invalidArgument)
            #expect(try await refusal { try await root.setValue(1, andPriority: true) } == .invalidArgument)
            let other = database.instance("demo-test-other").reference("x")
            try await other.setValue(1)
            #expect(try await other.getData().value == 1)
            #expect(try await database.reference("x").getData().exists() == false)
        }
    }

    @Test(arguments: TestTransport.everywhere) func serverValues(_ transport: TestTransport) async throws {
        try await functions.test(transport, secrets: ["KEY": "s"]) { _ in
            let place = database.reference("server")
            try await place.setValue(["n": 1, "t": "text"])
            try await place.updateChildValues(["n": ServerValue.increment(2), "m": ServerValue.increment(0.5), "t": ServerValue.increment(1)])
            try await place.child("deep").setValue(["at": [ServerValue.timestamp]])
            #expect(try await place.child("n").getData().value == 3)
            #expect(try await place.child("m").getData().value == 0.5)
            #expect(try await place.child("t").getData().value == 1)
            #expect(try await place.child("deep/at/0").getData(as: Int.self) > 1_700_000_000_000)
            #expect(try await refusal { try await place.setValue([".sv": "soon"]) } == .invalidArgument)
        }
    }

    @Test(arguments: TestTransport.everywhere) func priorities(_ transport: TestTransport) async throws {
        try await functions.test(transport, secrets: ["KEY": "s"]) { _ in
            let place = database.reference("priorities")
            try await place.child("a").setValue(1, andPriority: 2)
            try await place.child("b").setValue(["x": 1], andPriority: "late")
            try await place.child("c").setValue(3)
            try await place.child("d").setValue(4, andPriority: 1)
            try await place.child("nowhere").setPriority(5)
            let snapshot = try await place.getData()
            #expect(snapshot.children.map(\.key) == ["c", "d", "a", "b"])
            #expect(snapshot.childSnapshot(forPath: "b").priority == "late")
            #expect(snapshot.value == ["a": 1, "b": ["x": 1], "c": 3, "d": 4])
            try await place.child("a").setPriority(nil)
            let ordered = try await place.queryOrderedByPriority().queryStarting(atValue: 1).getData()
            #expect(ordered.children.map(\.key) == ["d", "b"])
            try await place.child("b/x").setValue(2)
            #expect(try await place.child("b").getData().priority == "late")
        }
    }

    @Test(arguments: TestTransport.everywhere) func queries(_ transport: TestTransport) async throws {
        try await functions.test(transport, secrets: ["KEY": "s"]) { _ in
            let place = database.reference("query")
            try await place.setValue([
                "10": ["at": 3, "name": ["first": "Ada"]], "9": ["at": 1], "b": ["at": "3"], "a": ["at": false], "c": 7, "d": ["at": 3],
            ])
            func keys(_ query: DatabaseQuery) async throws -> [String?] { try await query.getData().children.map(\.key) }
            let byAt = place.queryOrdered(byChild: "at")
            #expect(try await keys(byAt) == ["c", "a", "9", "10", "d", "b"])
            #expect(try await keys(byAt.queryStarting(atValue: 1).queryEnding(atValue: 3)) == ["9", "10", "d"])
            #expect(try await keys(byAt.queryStarting(afterValue: 3)) == ["b"])
            #expect(try await keys(byAt.queryStarting(afterValue: 3, childKey: "10")) == ["d", "b"])
            #expect(try await keys(byAt.queryEnding(beforeValue: 3)) == ["c", "a", "9"])
            #expect(try await keys(byAt.queryEnding(beforeValue: 3, childKey: "d")) == ["c", "a", "9", "10"])
            #expect(try await keys(byAt.queryEqual(toValue: 3)) == ["10", "d"])
            #expect(try await keys(byAt.queryEqual(toValue: nil)) == ["c"])
            #expect(try await keys(byAt.queryLimited(toLast: 2)) == ["d", "b"])
            #expect(try await keys(byAt.queryStarting(atValue: false).queryLimited(toFirst: 2)) == ["a", "9"])
            #expect(try await keys(place.queryOrdered(byChild: "name/first").queryEqual(toValue: "Ada")) == ["10"])
            #expect(try await keys(place.queryOrderedByKey()) == ["9", "10", "a", "b", "c", "d"])
            #expect(try await keys(place.queryOrderedByKey().queryStarting(atValue: "10").queryEnding(beforeValue: "c")) == ["10", "a", "b"])
            #expect(try await keys(place.queryOrderedByValue().queryLimited(toFirst: 1)) == ["c"])
            #expect(try await byAt.queryEqual(toValue: 99).getData().exists() == false)
            #expect(try await place.queryOrderedByKey().queryEqual(toValue: "9").getData(as: [String: [String: Int]].self) == ["9": ["at": 1]])
        }
    }

    @Test(arguments: TestTransport.everywhere) func transactions(_ transport: TestTransport) async throws {
        try await functions.test(transport, secrets: ["KEY": "s"]) { _ in
            let place = database.reference("seats")
            #expect(try await place.runTransaction { (seats: Int?) in (seats ?? 10) - 1 } == 9)
            let outcome = try await place.runTransaction { (_: Int?) -> TransactionResult<Int> in .abort }
            #expect(!outcome.isCommitted && outcome.value == 9)
            let all = try await withThrowingTaskGroup(of: Int?.self) { group in
                for _ in 0..<5 { group.addTask { try await place.runTransaction { (seats: Int?) in (seats ?? 0) - 1 } } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(all.compactMap(\.self).sorted() == [4, 5, 6, 7, 8])
            #expect(try await place.runTransaction { (_: Int?) in Int?.none } == nil)
            #expect(try await place.getData().exists() == false)
        }
    }

    @Test(arguments: TestTransport.everywhere) func observing(_ transport: TestTransport) async throws {
        try await functions.test(transport, secrets: ["KEY": "s"]) { app in
            let place = database.reference("observed")
            try await place.setValue(["a": 1, "b": 2])
            /// Waits until the function has handled so many values.
            func handled(_ count: Int) async throws {
                for try await seen in database.reference("seen").observe(timeout: .seconds(60)) where seen.value.int == count { return }
                throw TestFailure("the function did not get \(count) values")
            }
            async let calls = app.stream("observe", ["at": "observed", "last": 1, "count": 4])
            try await handled(1)
            // Not selected, and so no change.
            try await place.child("a").setValue(5)
            try await place.child("c").setValue(3)
            try await handled(2)
            // The same value is no change, but its priority is.
            try await place.child("c").setValue(3)
            try await place.child("c").setPriority(1)
            try await handled(3)
            try await database.reference().updateChildValues(["observed": nil])
            let (messages, result) = try await calls
            #expect(
                messages == [
                    ["value": ["b": 2], "keys": ["b"]], ["value": ["c": 3], "keys": ["c"]], ["value": ["c": 3], "keys": ["c"]],
                    ["value": nil, "keys": []],
                ])
            #expect(result == "left")
            let timed = try await app.stream("observe", ["at": "observed", "milliseconds": 50])
            #expect(timed.messages == [["value": nil, "keys": []]] && timed.result == "ended")
            for try await _ in place.observe() { break }
            let refused = try await refusal { for try await _ in database.reference("a.b").observe() {} }
            #expect(refused == .invalidArgument)
            let cancelled = Task { for try await _ in place.observe() {} }
            cancelled.cancel()
            try await cancelled.value
        }
    }

    @Test(arguments: TestTransport.everywhere) func events(_ transport: TestTransport) async throws {
        try await functions.test(transport, secrets: ["KEY": "s"]) { app in
            try await app.deliver(.created("hello"), at: "messages/m1/text")
            #expect(try await database.reference("messages/m1").getData().value == ["text": "hello", "shout": "HELLO"])
            try await database.reference("followers/ada").setValue(["bob": true, "eve": true])
            try await app.waitForEvents()
            #expect(try await database.reference("counts/ada").getData().value == 2)
            try await app.deliver(.deleted(true), at: "followers/ada/bob")
            #expect(try await database.reference("counts/ada").getData().value == 1)
            try await app.deliver(.updated(from: ["a": 1], to: ["a": 2]), at: "names/x")
            let notes = try await database.reference("notes").getData(as: [String: String].self)
            #expect(notes.values.sorted() == [#"admin - x: {"a":1} to {"a":2}"#])
            try await database.reference("names").updateChildValues(["x/a": 3, "y/z": 1])
            try await app.waitForEvents()
            try await database.reference().updateChildValues(["names/x/a": 4, "names/y": ["z": 2]])
            try await app.waitForEvents()
            let paths = try await database.reference("notes").getData(as: [String: String].self).values.map { $0.split(separator: ":")[0] }
            #expect(paths.sorted() == ["admin - x", "admin - x/a", "admin - x/a", "admin - y"])
            await #expect(throws: TestFailure("refuse failed for refused/one: aborted: not this one")) {
                try await app.deliver(.deleted(1), at: "refused/one")
            }
            #expect(try await app.failedEvents().map(\.function) == ["refuse"])
            #expect(try await app.logs().filter { $0.function == "refuse" } == [])
            let unmatched = await #expect(throws: TestFailure.self) { try await app.deliver(.created(1), at: "messages/m1/texts") }
            #expect(unmatched?.description.hasPrefix("No function ran when messages/m1/texts was created. Functions") == true)
            // Priorities alone, and writes that change nothing, raise nothing.
            try await database.reference("refused/two").setValue(1, andPriority: 1)
            try await database.reference("refused/two").setPriority(2)
            try await app.waitForEvents()
            #expect(try await app.failedEvents().count == 1)
        }
    }

    @Test(arguments: TestTransport.everywhere) func endlessChainsAreCut(_ transport: TestTransport) async throws {
        try await functions.test(transport, secrets: ["KEY": "s"]) { app in
            try await database.reference("again/count").setValue(1)
            try await app.waitForEvents()
            let count = try await database.reference("again/count").getData().value
            #expect(count == 18)
            #expect(try await app.failedEvents().map(\.function) == ["again"])
        }
    }
}
