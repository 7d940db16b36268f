import HearthJSON
import Testing
import Tree

@testable import DatabaseAPI
@testable import RealtimeDatabase

/// Frames of a change for streams (spec database 2.8).
@Suite("Event frames")
struct EventFrameTests {
    private func node(_ json: String) throws -> Node { try Draft(parsing: Array(json.utf8).span).node }
    private func path(_ text: String) throws -> Path { try Path(parsing: text) }

    private func frames(_ change: TreeChange.Kind, at place: String, for stream: String, form: JSONForm = .value) throws -> String {
        let change = TreeChange(path: try path(place), kind: change, commit: 1)
        return String(decoding: EventFrames.frames(of: change, for: try path(stream), form: form), as: UTF8.self)
    }

    private func event(_ name: String, _ path: String, _ data: String) -> String {
        "event: \(name)\ndata: {\"path\":\"\(path)\",\"data\":\(data)}\n\n"
    }

    @Test func putsAtAboveAndBelow() throws {
        let value = try node("{\"b\":{\"c\":1}}")
        #expect(try frames(.put(value), at: "/a", for: "/a") == event("put", "/", "{\"b\":{\"c\":1}}"))
        #expect(try frames(.put(value), at: "/a", for: "/") == event("put", "/a", "{\"b\":{\"c\":1}}"))
        #expect(try frames(.put(value), at: "/a", for: "/a/b/c") == event("put", "/", "1"))
        #expect(try frames(.put(value), at: "/a", for: "/a/x") == event("put", "/", "null"))
        #expect(try frames(.put(value), at: "/a", for: "/b") == "")
        #expect(try frames(.put(.empty), at: "/a/b", for: "/a") == event("put", "/b", "null"))
    }

    @Test func patches() throws {
        let members = [(path: try path("b"), node: try node("1")), (path: try path("c/d"), node: Node.empty)]
        #expect(try frames(.patch(members), at: "/a", for: "/a") == event("patch", "/", "{\"b\":1,\"c/d\":null}"))
        #expect(try frames(.patch(members), at: "/a", for: "/") == event("patch", "/a", "{\"b\":1,\"c/d\":null}"))
        #expect(try frames(.patch(members), at: "/a", for: "/a/b") == event("put", "/", "1"))
        #expect(try frames(.patch(members), at: "/a", for: "/a/c") == event("patch", "/", "{\"d\":null}"))
        #expect(try frames(.patch(members), at: "/a", for: "/a/c/d/e") == event("put", "/", "null"))
        #expect(try frames(.patch(members), at: "/a", for: "/a/x") == "")
        #expect(try frames(.patch([]), at: "/a", for: "/a") == "")
    }

    @Test func formsOfValues() throws {
        let value = try node("{\"0\":\"a\",\"1\":{\".value\":\"b\",\".priority\":2}}")
        #expect(try frames(.put(value), at: "/a", for: "/a") == event("put", "/", "[\"a\",\"b\"]"))
        let export = "{\"0\":\"a\",\"1\":{\".value\":\"b\",\".priority\":2}}"
        #expect(try frames(.put(value), at: "/a", for: "/a", form: .export) == event("put", "/", export))
    }

    @Test func pathsAreJSON() throws {
        #expect(try frames(.put(try node("1")), at: "/a\"\\b", for: "/") == event("put", "/a\\\"\\\\b", "1"))
    }

    @Test func ends() {
        #expect(EventFrames.end("cancel", "Permission denied") == Array("event: cancel\ndata: \"Permission denied\"\n\n".utf8))
    }

    // MARK: Results of queries

    @Test func aResultTellsEachChange() throws {
        func frames(_ members: [(String, String)], _ form: JSONForm = .value) throws -> String {
            let members = try members.map { (path: try Path(parsing: $0.0), node: try node($0.1)) }
            let change = TreeChange(path: try Path(parsing: "/q"), kind: .patch(members), commit: 1)
            return String(decoding: EventFrames.frames(ofResult: change, form: form), as: UTF8.self)
        }
        let moved = event("put", "/a", "null") + event("put", "/b", "3") + event("put", "/c/d", "4")
        #expect(try frames([("a", "null"), ("b", "3"), ("c/d", "4")]) == moved)
        #expect(try frames([("/", "null")]) == event("put", "/", "null"))
        #expect(try frames([]) == "")
        let prioritized = "{\".value\":1,\".priority\":6}"
        #expect(try frames([("a", prioritized)], .export) == event("put", "/a", prioritized))
        #expect(try frames([("a", prioritized)]) == event("put", "/a", "1"))
    }
}
