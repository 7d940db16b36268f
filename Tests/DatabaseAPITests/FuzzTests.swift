import HearthBytes
import FuzzSupport
import Testing
import Tree

@testable import DatabaseAPI
@testable import RealtimeDatabase

/// The corpus of `Tests/Fuzz/REST`, and queries and paths made of it by chance.
@Suite("RESTFuzz")
struct RESTFuzzTests {
    private static let words = [
        "&", "=", "%", "%2", "%22", "\"", ",", "orderBy=", "\"$key\"", "startAt=", "equalTo=", "limitToFirst=", "null", "-0", "1e400", "/",
        ".priority", "%2F", "%00", "+", "é", "[", "]", "{}", "\\u0000", "timeout=", "9999999999999999999",
    ]

    @Test func everythingHolds() throws {
        let corpus = try FuzzCorpus.load("REST/corpus").flatMap { $0.split(separator: UInt8(ascii: "\n")).map { Array($0) } }
        #expect(corpus.count > 40)
        let run = FuzzRun(corpus, words: Self.words, bytesMax: 2048, rounds: 5000)
        #expect(run.complaint { complaint($0) } == nil)
    }

    private func complaint(_ text: [UInt8]) -> String? {
        var broken: [String] = []
        let plain = Result { () throws(RESTError) in try RESTParameters(text.span) }
        if case .success(let parameters) = plain {
            let encoded = Result { () throws(RESTError) in try RESTParameters(Self.encodingValues(of: text).span) }
            if encoded != plain, !Self.hasRawValues(text) { broken.append("other values when they are percent-encoded") }
            broken += brokenQuery(parameters)
        }
        broken += brokenTarget(text)
        return broken.isEmpty ? nil : broken.joined(separator: "; ")
    }

    /// A query takes children that there are, no more than its limit, and taking again from what it took changes nothing.
    private func brokenQuery(_ parameters: RESTParameters) -> [String] {
        guard let query = try? parameters.filter?.query() else { return [] }
        let node = Self.sample
        let taken = query.evaluate(node)
        var broken: [String] = []
        if let limit = query.limit, taken.children.count > limit { broken.append("more children than the limit") }
        if query.evaluate(taken) != taken { broken.append("taking twice differs from taking once") }
        if taken.children.contains(where: { $0.node != node.child($0.key) }) { broken.append("a child that is none") }
        return broken
    }

    /// A path that is taken is the same when it is written out again.
    private func brokenTarget(_ text: [UInt8]) -> [String] {
        let path = text + Array(".json".utf8)
        guard RESTTarget.claims(path.span), case .tree(let location)? = try? RESTTarget(path.span) else { return [] }
        guard location.path.segments.allSatisfy({ Path.isValid(key: $0) }) else { return ["a key that cannot be one"] }
        let again = try? Path(parsing: location.path.description)
        return again == location.path ? [] : ["another path when it is written out"]
    }

    private static let sample = (try? Draft(parsing: Array("""
        {"a":{"h":1,"n":"x"},"b":{"h":2},"c":"text","d":true,"e":5,"10":{"h":null,"k":1},"9":{"h":"s"},"f":{".value":7,".priority":3}}
        """.utf8).span))?.node ?? .empty

    /// The flags and words are compared as they are sent: they are never encoded by anybody.
    private static func hasRawValues(_ text: [UInt8]) -> Bool {
        let names = ["print", "format", "shallow", "disableTriggers", "dryRun"]
        return text.split(separator: UInt8(ascii: "&")).contains { part in
            names.contains { part.starts(with: Array($0.utf8)) }
        }
    }

    /// The same query with each byte of each value as `%XX`.
    private static func encodingValues(of text: [UInt8]) -> [UInt8] {
        let parts = text.split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false).map { part -> [UInt8] in
            guard let equals = part.firstIndex(of: UInt8(ascii: "=")) else { return Array(part) }
            let value = PercentEncoding.decoded(Array(part[(equals + 1)...]).span, plusIsSpace: true) ?? []
            let digits = Array("0123456789ABCDEF".utf8)
            return Array(part[...equals]) + value.flatMap { [UInt8(ascii: "%"), digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
        }
        return Array(parts.joined(separator: [UInt8(ascii: "&")]))
    }
}
