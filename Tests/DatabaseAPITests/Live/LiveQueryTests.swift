import HearthBytes
import HearthJSON
import Testing
import Tree

@testable import DatabaseAPI

/// The queries of clients (spec database 3.6, 10.2).
@Suite("Live queries")
struct LiveQueryTests {
    private let node: Node

    init() throws {
        let json = #"{"a":{"n":1},"b":{"n":2},"c":{"n":2},"d":{"n":"x"},"e":{"n":null,"m":1},"f":{"n":true},"10":{"n":5},"9":{"n":5}}"#
        node = try Draft(parsing: Array(json.utf8).span).node
    }

    /// The keys that the query takes, in its order.
    private func keys(_ text: String) throws -> [String] {
        let query = try LiveQuery(parsing: Array(text.utf8).span)
        guard let parsed = query.query else { return ["all"] }
        return parsed.evaluate(node).children.map(\.key).sorted()
    }

    @Test(arguments: [
        ("{}", ["all"]), (#"{"i":"n"}"#, ["all"]), (#"{"i":".key"}"#, ["all"]), (#"{"sn":null,"en":null}"#, ["all"]),
        (#"{"i":"n","sp":2,"ep":2}"#, ["b", "c"]),
        (#"{"i":"n","sp":2,"sn":"c"}"#, ["10", "9", "c", "d"]),
        (#"{"i":"n","sp":2,"sin":false}"#, ["10", "9", "d"]),
        (#"{"i":"n","sp":2,"sn":"b","sin":false}"#, ["10", "9", "c", "d"]),
        (#"{"i":"n","sp":2,"sn":"[MAX_NAME]"}"#, ["10", "9", "d"]),
        (#"{"i":"n","ep":2,"en":"b"}"#, ["a", "b", "e", "f"]),
        (#"{"i":"n","ep":2,"en":"[MIN_NAME]"}"#, ["a", "e", "f"]),
        (#"{"i":"n","ep":2,"ein":false}"#, ["a", "e", "f"]),
        (#"{"i":"n","sp":null,"ep":null}"#, ["e"]),
        (#"{"i":"n","sp":true,"ep":true}"#, ["f"]),
        (#"{"i":"n","l":2,"vf":"l"}"#, ["e", "f"]),
        (#"{"i":"n","l":2,"vf":"r"}"#, ["10", "d"]),
        (#"{"i":".key","sp":"10","ep":"a"}"#, ["10", "a"]),
        (#"{"l":3,"vf":"l"}"#, ["10", "9", "a"]),
    ])
    func takes(_ text: String, _ expected: [String]) throws { #expect(try keys(text) == expected) }

    @Test(arguments: [
        ("[]", #"the query "q" must be an object"#),
        (#"{"l":0}"#, #"the limit "l" of a query must be a positive integer"#),
        (#"{"l":"5"}"#, #"the limit "l" of a query must be a positive integer"#),
        (#"{"l":2147483648}"#, #"the limit "l" of a query must be a positive integer"#),
        (#"{"l":1,"vf":"x"}"#, #""vf" of a query must be "l" or "r""#),
        (#"{"l":1,"vf":5}"#, #""vf" of a query must be "l" or "r""#),
        (#"{"sp":1,"sn":5}"#, #""sn" of a query must be a string"#),
        (#"{"ep":1,"ein":0}"#, #""ein" of a query must be true or false"#),
        (#"{"i":7}"#, #"the index "i" of a query must be a string"#),
        (#"{"i":""}"#, #"the index "i" of a query must be .key, .value, .priority or the path of a child"#),
        (#"{"i":"a.b"}"#, #"the index "i" of a query must be .key, .value, .priority or the path of a child"#),
        (#"{"sp":{}}"#, #""sp" of a query must be a JSON primitive"#),
        (#"{"ep":[]}"#, #""ep" of a query must be a JSON primitive"#),
        (#"{"sp":true}"#, #""sp" of a query by priority must be null, a number or a string"#),
    ])
    func isRefused(_ text: String, _ reason: String) {
        #expect(throws: LiveRefusal.badRequest(reason)) { _ = try LiveQuery(parsing: Array(text.utf8).span) }
    }

    @Test func keepsTheTextOfTheClient() throws {
        let text = #"{"vf":"l", "l":1}"#
        #expect(try LiveQuery(parsing: Array(text.utf8).span).text == Array(text.utf8))
    }
}
