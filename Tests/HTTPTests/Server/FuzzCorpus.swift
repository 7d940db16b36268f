import Foundation

/// The same numbers for the same seed, everywhere (SplitMix64).
struct SeededRandom: RandomNumberGenerator {
    private var state: UInt64

    init(_ seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}

/// Requests to start from, and what is done to them.
enum FuzzCorpus {
    private static let tokens = [
        "\r\n", "\r\n\r\n", "\n", "\r", "\0", " ", "\t", ":", ";", ",", "0\r\n\r\n", "5\r\nhello\r\n", "ffffffffffffffff\r\n", "-1",
        "Content-Length: 5\r\n", "Content-Length: 0\r\n", "Transfer-Encoding: chunked\r\n", "Transfer-Encoding: identity\r\n",
        "Host: b\r\n", "Connection: close\r\n", "Connection: keep-alive\r\n", "Expect: 100-continue\r\n", "Content-Encoding: gzip\r\n",
        "GET /a HTTP/1.1\r\nHost: a\r\n\r\n", " HTTP/1.1", " HTTP/1.0", "http://a/", "HEAD ", "POST /stream ", "Upgrade: h2c\r\n",
    ].map { Array($0.utf8) }

    static func load() throws -> [[UInt8]] {
        let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let directory = tests.appendingPathComponent("Fuzz/HTTP/corpus")
        let files = try FileManager.default.contentsOfDirectory(at: directory, includingPropertiesForKeys: nil)
        return try files.sorted { $0.path < $1.path }.map { [UInt8](try Data(contentsOf: $0)) }
    }

    static func mutate(_ corpus: [[UInt8]], _ random: inout SeededRandom) -> [UInt8] {
        var bytes = corpus.randomElement(using: &random) ?? []
        for _ in 0..<Int.random(in: 1...4, using: &random) {
            let at = Int.random(in: 0...bytes.count, using: &random)
            let end = min(bytes.count, at + Int.random(in: 0...12, using: &random))
            switch Int.random(in: 0..<8, using: &random) {
            case 0 where at < bytes.count: bytes[at] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            case 1 where at < bytes.count: bytes[at] = UInt8.random(in: 0...255, using: &random)
            case 2: bytes.removeSubrange(at..<end)
            case 3: bytes.insert(contentsOf: bytes[at..<end], at: at)
            case 4: bytes.removeSubrange(at...)
            case 5: bytes += corpus.randomElement(using: &random) ?? []
            default: bytes.insert(contentsOf: tokens.randomElement(using: &random) ?? [], at: at)
            }
        }
        return bytes
    }

    static func cut(_ bytes: [UInt8], _ random: inout SeededRandom) -> [[UInt8]] {
        let longest = [1, 3, 20, 200].randomElement(using: &random) ?? 1
        var pieces: [[UInt8]] = []
        var start = 0
        while start < bytes.count {
            let end = min(bytes.count, start + Int.random(in: 1...longest, using: &random))
            pieces.append(Array(bytes[start..<end]))
            start = end
        }
        return pieces
    }
}
