import HearthBytes
import HearthJSON

/// Properties of every text, JSON or not.
enum Properties {
    /// A sentence for each property that `text` breaks.
    static func broken(by text: [UInt8]) -> [String] {
        var broken: [String] = []
        func expect(_ holds: Bool, _ sentence: String) {
            if !holds { broken.append(sentence) }
        }
        let scan = Result { () throws(JSONError) in try JSONScan.validate(text) }
        let tree = Result { () throws(JSONError) in try JSONValue(parsing: text) }
        let reference = ReferenceParser.parse(text)
        switch (scan, tree) {
        case (.success(let facts), .success(let tree)):
            expect(identical(tree, reference?.value), "the reference reads it otherwise")
            expect(facts.kind == tree.kind, "the scan tells another kind")
            expect(facts.hasTypeKey == reference?.hasTypeKey, "the scan is wrong about @type")
            expect(facts.hasBigInteger == reference?.hasBigInteger, "the scan is wrong about big integers")
            broken += brokenWriting(tree)
            broken += brokenDecoding(tree, text)
            broken += brokenMembers(tree, text)
        case (.failure(let one), .failure(let other)):
            expect(one == other, "scan and tree fail differently")
            expect(reference == nil, "only the reference takes it")
            expect(one.offset >= 0 && one.offset <= text.count, "the offset lies outside")
            expect((try? JSONDecoder().decode(JSONValue.self, from: text)) == nil, "only the decoder takes it")
        default:
            broken.append("scan and tree differ")
        }
        return broken
    }

    /// Equal to the last bit of every number and the order of every member.
    private static func identical(_ value: JSONValue, _ other: JSONValue?) -> Bool {
        guard let other else { return false }
        return value == other && value.description == other.description
    }

    /// Equal, but that a large double, which is written with the fewest digits and no exponent, comes back as a whole number that
    /// is exact to the last of those digits.
    private static func readsBack(_ value: JSONValue, _ original: JSONValue) -> Bool {
        switch (value, original) {
        case (_, .double(let number)): value.double == number
        case (.array(let one), .array(let other)): one.count == other.count && zip(one, other).allSatisfy { readsBack($0, $1) }
        case (.object(let one), .object(let other)):
            one.count == other.count && zip(one, other).allSatisfy { $0.key == $1.key && readsBack($0.value, $1.value) }
        default: value == original
        }
    }

    private static func brokenWriting(_ tree: JSONValue) -> [String] {
        let written = tree.serialized()
        guard let back = try? JSONValue(parsing: written, limits: JSONLimits(depthMax: 1024)) else { return ["what is written is not JSON"] }
        if !readsBack(back, tree) { return ["what is written reads otherwise"] }
        let apart = (try? JSONEncoder(largeDoubles: .exponent).encode(Foreign(value: tree))).flatMap { try? JSONValue(parsing: $0) }
        if !identical(tree, apart) { return ["what is written with exponents reads otherwise"] }
        let encoded = try? JSONEncoder().encode(Foreign(value: tree))
        return encoded == written ? [] : ["the encoder writes otherwise"]
    }

    private static func brokenDecoding(_ tree: JSONValue, _ text: [UInt8]) -> [String] {
        guard let own = try? JSONDecoder().decode(JSONValue.self, from: text), identical(own, tree) else { return ["JSONValue decodes otherwise"] }
        guard let foreign = try? JSONDecoder().decode(Foreign.self, from: text), foreign.value == tree else { return ["containers decode otherwise"] }
        return []
    }

    private static func brokenMembers(_ tree: JSONValue, _ text: [UInt8]) -> [String] {
        var members = JSONObject()
        var isRight = true
        _ = try? JSONScan.members(of: text.span) { name, range, kind in
            guard let value = try? JSONValue(parsing: Array(text[range])), value.kind == kind else {
                isRight = false
                return
            }
            members[name.string()] = value
        }
        guard isRight, members == tree.object ?? JSONObject() else { return ["the members are others"] }
        guard let envelope = try? JSONScan.member("a", of: text.span) else { return ["the envelope is refused"] }
        let value = envelope.value.flatMap { try? JSONValue(parsing: Array(text[$0])) }
        return value == tree["a"] && envelope.hasOtherMembers == members.contains { $0.key != "a" } ? [] : ["the envelope is another"]
    }
}

/// A tree that goes through containers as any type would.
struct Foreign: Codable {
    let value: JSONValue

    init(value: JSONValue) { self.value = value }
    init(from decoder: any Decoder) throws { value = try JSONValue(from: decoder) }
    func encode(to encoder: any Encoder) throws { try value.encode(to: encoder) }
}
