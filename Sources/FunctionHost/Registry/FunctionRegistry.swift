import Bytes
import Configuration

/// Every function that requests can reach, found by the path that clients use.
///
/// A table over the bytes of whole paths: the usual request is routed by one hash and one comparison, without a `String`.
final class FunctionRegistry {
    private struct Entry {
        var path: [UInt8]
        var function: RegisteredFunction
    }

    /// By name, in the order of registration.
    private(set) var functions: [RegisteredFunction] = []
    private var table: [Entry?] = []
    private var mask = 0
    private let project: String
    let projectBytes: [UInt8]

    init(project: String) {
        self.project = project
        projectBytes = Array(project.utf8)
    }

    /// Replaces all functions.
    ///
    /// - Precondition: names are unique; who registers sees to that.
    func replaceAll(_ functions: [RegisteredFunction]) {
        self.functions = functions
        var entries: [Entry] = []
        for function in functions {
            if case .event = function.trigger { continue }
            for region in function.options.regions {
                entries.append(Entry(path: Array("/\(project)/\(region)/\(function.name)".utf8), function: function))
            }
            entries.append(Entry(path: Array("/\(function.name)".utf8), function: function))
        }
        var size = 8
        while size < entries.count * 2 { size *= 2 }
        table = Array(repeating: nil, count: size)
        mask = size - 1
        for entry in entries {
            var slot = Self.hash(entry.path.span) & mask
            while table[slot] != nil { slot = (slot + 1) & mask }
            table[slot] = entry
        }
    }

    /// The function at exactly this path: `/project/region/name` or `/name`.
    func function(atPath path: Span<UInt8>) -> RegisteredFunction? {
        guard mask > 0 else { return nil }
        var slot = Self.hash(path) & mask
        while let entry = table[slot] {
            if path.isEqual(to: entry.path.span) { return entry.function }
            slot = (slot + 1) & mask
        }
        return nil
    }

    /// The function of this name.
    func function(named name: String) -> RegisteredFunction? { functions.first { $0.name == name } }

    /// FNV-1a: paths are short, and whoever could choose colliding names deploys the functions.
    private static func hash(_ bytes: Span<UInt8>) -> Int {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for index in 0..<bytes.count { hash = (hash ^ UInt64(bytes[index])) &* 0x100_0000_01B3 }
        return Int(truncatingIfNeeded: hash ^ (hash >> 32))
    }
}

extension Span<UInt8> {
    /// Whether both are the same bytes.
    func isEqual(to other: Span<UInt8>) -> Bool {
        guard count == other.count else { return false }
        for index in 0..<count where self[index] != other[index] { return false }
        return true
    }
}
