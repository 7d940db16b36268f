import Configuration
import Glibc
import HearthBytes

/// All functions, found by the paths of requests.
///
/// A hash table over the bytes of whole paths: usually a request costs one hash and one comparison, and no `String` is made.
package final class FunctionRegistry {
    /// All functions, in the order in which they were registered.
    package private(set) var functions: [RegisteredFunction] = []
    /// Indexes into `paths` and `targets`, by hash; -1 for an empty entry.
    private var table: [Int] = []
    private var mask = 0
    /// The text of all paths, concatenated.
    private var text: [UInt8] = []
    private var paths: [Range<Int>] = []
    private var targets: [RegisteredFunction] = []
    private let project: String
    package let projectBytes: [UInt8]

    package init(project: String) {
        self.project = project
        projectBytes = Array(project.utf8)
    }

    /// Replaces all functions.
    ///
    /// - Precondition: names are unique. The caller ensures this.
    package func replaceAll(_ functions: [RegisteredFunction]) {
        self.functions = functions
        text = []
        paths = []
        targets = []
        for function in functions {
            guard function.trigger.isForRequests else { continue }
            for region in function.options.regions { add("/\(project)/\(region)/\(function.name)", function) }
            add("/\(function.name)", function)
        }
        var size = 8
        while size < paths.count * 2 { size *= 2 }
        table = Array(repeating: -1, count: size)
        mask = size - 1
        for position in paths.indices {
            let path = Array(text[paths[position]])
            var slot = Self.hash(path.span) & mask
            while table[slot] >= 0 { slot = (slot + 1) & mask }
            table[slot] = position
        }
    }

    private func add(_ path: String, _ function: RegisteredFunction) {
        paths.append(text.count..<text.count + path.utf8.count)
        text.append(contentsOf: path.utf8)
        targets.append(function)
    }

    /// The function with exactly this path: `/project/region/name` or `/name`.
    func function(atPath path: Span<UInt8>) -> RegisteredFunction? {
        guard mask > 0 else { return nil }
        var slot = Self.hash(path) & mask
        while table[slot] >= 0 {
            if isPath(path, at: table[slot]) { return targets[table[slot]] }
            slot = (slot + 1) & mask
        }
        return nil
    }

    private func isPath(_ path: Span<UInt8>, at position: Int) -> Bool {
        let range = paths[position]
        guard path.count == range.count else { return false }
        return path.withUnsafeBytes { path in
            text.withUnsafeBytes { text in
                guard let path = path.baseAddress, let text = text.baseAddress else { return true }
                return memcmp(path, text + range.lowerBound, range.count) == 0
            }
        }
    }

    /// Hashes eight bytes at a time, because every request is hashed. Only the owner of the host, who deploys functions, could cause collisions.
    private static func hash(_ bytes: Span<UInt8>) -> Int {
        bytes.withUnsafeBytes { bytes in
            var hash = UInt64(truncatingIfNeeded: bytes.count) &* 0x9E37_79B9_7F4A_7C15
            var index = 0
            while index + 8 <= bytes.count {
                hash = (hash ^ bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self)) &* 0x9E37_79B9_7F4A_7C15
                hash ^= hash >> 29
                index += 8
            }
            while index < bytes.count {
                hash = (hash ^ UInt64(bytes[index])) &* 0x100_0000_01B3
                index += 1
            }
            return Int(truncatingIfNeeded: hash ^ (hash >> 32))
        }
    }
}

extension Span<UInt8> {
    /// Whether both have the same bytes.
    func isEqual(to other: Span<UInt8>) -> Bool {
        guard count == other.count else { return false }
        for index in 0..<count where self[index] != other[index] { return false }
        return true
    }
}
