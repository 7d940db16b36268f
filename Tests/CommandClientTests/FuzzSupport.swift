import CommandClient
import Glibc
import JSON

/// What a JSON text means to a database: its leaves with their paths, and its priorities.
struct FlatTree: Equatable {
    private var leaves: [String: JSONValue] = [:]
    private var priorities: [String: JSONValue] = [:]

    init(_ value: JSONValue) { add(value, at: "") }

    init(_ pieces: [JSONPiece], priorities waiting: [JSONPiece]) {
        for piece in pieces {
            guard let value = try? JSONValue(parsing: piece.value) else { continue }
            add(value, at: Self.path(piece))
        }
        for piece in waiting { priorities[Self.path(piece)] = try? JSONValue(parsing: piece.value) }
    }

    static func == (left: FlatTree, right: FlatTree) -> Bool { left.leaves == right.leaves && left.priorities == right.priorities }

    private static func path(_ piece: JSONPiece) -> String { piece.keys.map { "/\($0)" }.joined() }

    private mutating func add(_ value: JSONValue, at path: String) {
        switch value {
        case .null: break
        case .array(let elements):
            for (index, element) in elements.enumerated() { add(element, at: "\(path)/\(index)") }
        case .object(let object):
            if object[".sv"] != nil {
                leaves[path] = value
                return
            }
            for (name, member) in object {
                switch name {
                case ".value": add(member, at: path)
                case ".priority": if !member.isNull { priorities[path] = member }
                default: add(member, at: "\(path)/\(name)")
                }
            }
        default: leaves[path] = value
        }
    }
}

/// Looks for objects that have two members of one name, in a text that is JSON.
enum NameCheck {
    static func hasNameTwice(_ text: [UInt8]) -> Bool {
        var open: [Set<String>] = []
        var index = 0
        while index < text.count {
            switch text[index] {
            case UInt8(ascii: "{"), UInt8(ascii: "["): open.append([])
            case UInt8(ascii: "}"), UInt8(ascii: "]"): open.removeLast()
            case UInt8(ascii: "\""):
                let start = index
                index += 1
                while text[index] != UInt8(ascii: "\"") { index += text[index] == UInt8(ascii: "\\") ? 2 : 1 }
                guard let top = open.indices.last, let name = (try? JSONValue(parsing: Array(text[start...index])))?.string else { break }
                let rest = text[(index + 1)...].first { $0 != 32 && $0 != 9 && $0 != 10 && $0 != 13 }
                if rest == UInt8(ascii: ":"), !open[top].insert(name).inserted { return true }
            default: break
            }
            index += 1
        }
        return false
    }
}

/// The texts in `Tests/Fuzz/Import/corpus`.
enum FuzzCorpus {
    static func texts() throws -> [[UInt8]] {
        let folder = #filePath.split(separator: "/").dropLast(2).joined(separator: "/")
        let path = "/\(folder)/Fuzz/Import/corpus"
        guard let directory = opendir(path) else { return [] }
        defer { closedir(directory) }
        var texts: [(name: String, text: [UInt8])] = []
        while let entry = readdir(directory) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
            guard !name.hasPrefix("."), let file = fopen("\(path)/\(name)", "r") else { continue }
            defer { fclose(file) }
            var room = [UInt8](repeating: 0, count: 1 << 16)
            let count = fread(&room, 1, room.count, file)
            texts.append((name, Array(room.prefix(count))))
        }
        return texts.sorted { $0.name < $1.name }.map(\.text)
    }
}

/// Chance that can be repeated.
struct FuzzDice: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    /// SplitMix64.
    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }

    mutating func below(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &self) }

    /// A text of the corpus with a few changes.
    mutating func mutated(_ corpus: [[UInt8]], words: [String]) -> [UInt8] {
        var text = corpus[below(corpus.count)]
        for _ in 0...below(6) {
            let place = below(text.count + 1)
            switch below(5) {
            case 0: text.insert(contentsOf: Array(words[below(words.count)].utf8), at: place)
            case 1: if place < text.count { text.remove(at: place) }
            case 2: if place < text.count { text[place] = UInt8(below(256)) }
            case 3:
                let other = corpus[below(corpus.count)]
                text.insert(contentsOf: other, at: place)
            default: text.removeSubrange(place..<min(text.count, place + below(8)))
            }
            if text.count > 2000 { text.removeSubrange(2000...) }
        }
        return text
    }
}
