import Glibc

/// SplitMix64: the same texts from the same seed on every machine.
struct SeededRandom: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}

/// Makes texts by changing those of a corpus a little: bytes, words of the language, and pieces of other texts.
struct FuzzMutator {
    private var random: SeededRandom
    private let corpus: [[UInt8]]
    private let words: [[UInt8]]

    init(seed: UInt64, corpus: [[UInt8]], words: [String]) {
        random = SeededRandom(seed: seed)
        self.corpus = corpus
        self.words = words.map { Array($0.utf8) }
    }

    mutating func next() -> [UInt8] {
        var text = pick(corpus)
        for _ in 0..<Int.random(in: 1...4, using: &random) { change(&text) }
        return text
    }

    private mutating func change(_ text: inout [UInt8]) {
        let place = Int.random(in: 0...text.count, using: &random)
        let end = Int.random(in: place...min(text.count, place + 12), using: &random)
        switch Int.random(in: 0..<6, using: &random) {
        case 0: text.removeSubrange(place..<end)
        case 1: text.insert(contentsOf: text[place..<end], at: place)
        case 2, 3: text.replaceSubrange(place..<end, with: pick(words))
        case 4 where place < text.count: text[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        default:
            let other = pick(corpus)
            let start = Int.random(in: 0...other.count, using: &random)
            text.replaceSubrange(place..., with: other[start...])
        }
    }

    private mutating func pick(_ texts: [[UInt8]]) -> [UInt8] {
        texts.randomElement(using: &random) ?? []
    }
}

/// The files of `Tests/Fuzz/Rules/corpus`.
enum FuzzCorpus {
    static func texts(_ kind: String) throws -> [[UInt8]] {
        let tests = CaseFile.folder.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/")
        let folder = "\(tests)/Fuzz/Rules/corpus/\(kind)"
        guard let directory = opendir(folder) else { throw CaseFile.Failure(message: "\(folder) cannot be opened") }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if !name.hasPrefix(".") { names.append(name) }
        }
        return try names.sorted().map { try CaseFile.bytes("\(folder)/\($0)") }
    }
}
