import Bytes
import Foundation
import Testing
import Tree

@testable import RealtimeDatabase

/// The corpus of `Tests/Fuzz/REST`, and queries and paths made of it by chance.
@Suite("RESTFuzz")
struct RESTFuzzTests {
    private static func number(_ name: String) -> UInt64? { ProcessInfo.processInfo.environment[name].flatMap { UInt64($0) } }

    private static func corpus() throws -> [[UInt8]] {
        let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../Fuzz/REST/corpus").standardizedFileURL
        let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
        return try files.sorted { $0.path < $1.path }.flatMap { file in
            try Data(contentsOf: file).split(separator: UInt8(ascii: "\n")).map { Array($0) }
        }
    }

    @Test func everythingHoldsForTheCorpus() throws {
        let corpus = try Self.corpus()
        #expect(corpus.count > 40)
        for text in corpus { try check(text, "") }
    }

    @Test func everythingHoldsForSeededTexts() throws {
        let seed = Self.number("HEARTH_FUZZ_SEED") ?? UInt64(Date().timeIntervalSince1970)
        var random = Chance(state: seed)
        let corpus = try Self.corpus()
        for _ in 0..<(Self.number("HEARTH_FUZZ_ROUNDS") ?? 5000) {
            guard try check(Self.changed(corpus, &random), "HEARTH_FUZZ_SEED=\(seed)") else { return }
        }
    }

    // MARK: Properties

    @discardableResult
    private func check(_ text: [UInt8], _ note: String) throws -> Bool {
        var broken: [String] = []
        let plain = Result { () throws(RESTError) in try RESTParameters(text.span) }
        if case .success(let parameters) = plain {
            let encoded = Result { () throws(RESTError) in try RESTParameters(Self.encodingValues(of: text).span) }
            if encoded != plain, !Self.hasRawValues(text) { broken.append("other values when they are percent-encoded") }
            broken += brokenQuery(parameters)
        }
        broken += brokenTarget(text)
        guard !broken.isEmpty else { return true }
        Issue.record("\(broken.joined(separator: "; ")) \(note) \(text) \(String(decoding: text, as: UTF8.self))")
        return false
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

    // MARK: New texts of old ones

    private struct Chance: RandomNumberGenerator {
        var state: UInt64
        mutating func next() -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            var mixed = (state ^ state >> 30) &* 0xBF58_476D_1CE4_E5B9
            mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
            return mixed ^ mixed >> 31
        }
    }

    private static let pieces = [
        "&", "=", "%", "%2", "%22", "\"", ",", "orderBy=", "\"$key\"", "startAt=", "equalTo=", "limitToFirst=", "null", "-0", "1e400", "/",
        ".priority", "%2F", "%00", "+", "é", "[", "]", "{}", "\\u0000", "timeout=", "9999999999999999999",
    ].map { Array($0.utf8) }

    private static func changed(_ corpus: [[UInt8]], _ random: inout Chance) -> [UInt8] {
        var text = corpus.randomElement(using: &random) ?? []
        for _ in 0...Int.random(in: 0..<4, using: &random) {
            let start = Int.random(in: 0...text.count, using: &random)
            let range = start..<min(text.count, start + Int.random(in: 1...8, using: &random))
            switch Int.random(in: 0..<6, using: &random) {
            case 0: text.removeSubrange(range)
            case 1: text.insert(contentsOf: pieces.randomElement(using: &random) ?? [], at: start)
            case 2: text.replaceSubrange(range, with: pieces.randomElement(using: &random) ?? [])
            case 3: text.insert(contentsOf: text[range], at: start)
            case 4: if !range.isEmpty { text[start] = UInt8.random(in: .min ... .max, using: &random) }
            default: text += [UInt8(ascii: "&")] + (corpus.randomElement(using: &random) ?? [])
            }
        }
        return text.count > 2048 ? Array(text[..<2048]) : text
    }
}
