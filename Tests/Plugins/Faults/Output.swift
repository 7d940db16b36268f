import Glibc
import HearthFunctions

/// Functions that write to standard output.
enum Output {
    struct Amount: Decodable {
        var megabytes: Int
    }

    /// Writes lines of 100 bytes until there are so many megabytes of them.
    @Sendable static func printMuch(_ request: CallableRequest<Amount>) -> Int {
        let line = [UInt8](repeating: UInt8(ascii: "x"), count: 99) + [UInt8(ascii: "\n")]
        let block = [UInt8]((0..<10_000).lazy.flatMap { _ in line })
        var written = 0
        for _ in 0..<request.data.megabytes { written += write(block) }
        return written
    }

    static func line(_ text: String) -> Int { write(Array((text + "\n").utf8)) }

    /// Writes all of it to standard output, and returns how much that took.
    private static func write(_ bytes: [UInt8]) -> Int {
        var done = 0
        while done < bytes.count {
            let count = bytes.withUnsafeBytes { Glibc.write(STDOUT_FILENO, $0.baseAddress?.advanced(by: done), $0.count - done) }
            if count <= 0 { break }
            done += count
        }
        return done
    }
}
