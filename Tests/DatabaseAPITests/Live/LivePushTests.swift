import HearthBytes
import HearthJSON
import Testing
import Tree

@testable import DatabaseAPI
@testable import RealtimeDatabase

/// The messages to clients (spec database 3.3 to 3.5).
@Suite("Live pushes")
struct LivePushTests {
    private func node(_ json: String) throws -> Node { try Draft(parsing: Array(json.utf8).span).node }
    private func path(_ text: String) throws -> Path { try Path(parsing: text) }
    private func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

    private func push(_ change: TreeChange.Kind, at place: String, for listen: String) throws -> String {
        text(LivePush.push(of: TreeChange(path: try path(place), kind: change, commit: 1), for: try path(listen)))
    }

    private func data(_ action: String, _ path: String, _ data: String) -> String {
        #"{"t":"d","d":{"a":"\#(action)","b":{"p":"\#(path)","d":\#(data)}}}"#
    }

    @Test func aValueIsSeenFromAboveAndBelow() throws {
        let change = TreeChange.Kind.put(try node(#"{"b":{"c":1},"x":2}"#))
        #expect(try push(change, at: "a", for: "") == data("d", "a", #"{"b":{"c":1},"x":2}"#))
        #expect(try push(change, at: "a", for: "a") == data("d", "a", #"{"b":{"c":1},"x":2}"#))
        #expect(try push(change, at: "a", for: "a/b") == data("d", "a/b", #"{"c":1}"#))
        #expect(try push(change, at: "a", for: "a/b/c") == data("d", "a/b/c", "1"))
        #expect(try push(change, at: "a", for: "a/none") == data("d", "a/none", "null"))
        #expect(try push(change, at: "a", for: "b") == "")
    }

    @Test func anUpdateIsSeenFromAboveAndBelow() throws {
        let change = TreeChange.Kind.patch([(try path("b/c"), try node("1")), (try path("d"), try node("null"))])
        #expect(try push(change, at: "a", for: "") == data("m", "a", #"{"b/c":1,"d":null}"#))
        #expect(try push(change, at: "a", for: "a") == data("m", "a", #"{"b/c":1,"d":null}"#))
        #expect(try push(change, at: "a", for: "a/b") == data("d", "a/b/c", "1"))
        #expect(try push(change, at: "a", for: "a/b/c/x") == data("d", "a/b/c/x", "null"))
        #expect(try push(change, at: "a", for: "a/d") == data("d", "a/d", "null"))
        #expect(try push(change, at: "a", for: "a/e") == "")
    }

    @Test func valuesAreInExportForm() throws {
        let json = #"{".priority":"p","a":{".value":1,".priority":2}}"#
        let pushed = text(LivePush.value(try path("x"), try node(json), tag: 7))
        let parsed = try #require(try JSONValue(parsing: Array(pushed.utf8).span).object?["d"]?.object?["b"]?.object)
        #expect(parsed["t"] == .int(7))
        #expect(try Draft(parsing: try #require(parsed["d"]).serialized().span).node == node(json))
    }

    @Test func answersAndControls() throws {
        #expect(text(LivePush.answer(5, "ok", payload: "{}".utf8.span)) == #"{"t":"d","d":{"r":5,"b":{"s":"ok","d":{}}}}"#)
        #expect(text(LivePush.answer(6, .badRequest("a \"b\""))) == #"{"t":"d","d":{"r":6,"b":{"s":"failure","d":"a \"b\""}}}"#)
        #expect(text(LivePush.pong) == #"{"t":"c","d":{"t":"o","d":{}}}"#)
        #expect(text(LivePush.control("s", "bye")) == #"{"t":"c","d":{"t":"s","d":"bye"}}"#)
        let hello = text(LivePush.hello(host: "h\"ost:80".utf8.span, session: "s-1", now: 12))
        #expect(hello == #"{"t":"c","d":{"t":"h","d":{"ts":12,"v":"5","h":"h\"ost:80","s":"s-1"}}}"#)
        #expect(text(LivePush.revocation("ac", .expired)) == #"{"t":"d","d":{"a":"ac","b":{"s":"expired_token","d":"Auth token is expired"}}}"#)
    }

    @Test func theEndOfAListenRepeatsItsQuery() throws {
        #expect(text(LivePush.cancel(try path("a"), query: nil)) == #"{"t":"d","d":{"a":"c","b":{"p":"a"}}}"#)
        let query = Array(#"{"l":1, "vf":"l"}"#.utf8)
        #expect(text(LivePush.cancel(try path("a"), query: query)) == #"{"t":"d","d":{"a":"c","b":{"p":"a","q":[{"l":1, "vf":"l"}]}}}"#)
    }
}
