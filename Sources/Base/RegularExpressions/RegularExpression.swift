import CRE2

/// A regular expression in RE2's syntax. Matching takes time linear in the text, for every expression.
///
/// Immutable after compilation; RE2 objects are thread-safe.
/// Unchecked: the pointer refers to a thread-safe object, which is freed with the last reference.
public final class RegularExpression: @unchecked Sendable {
    /// The reason why RE2 refuses an expression.
    public struct Refusal: Error, Sendable {
        /// One clause in RE2's words, such as `missing ]: [a`.
        public var reason: String

        /// A refusal for this reason.
        public init(reason: String) { self.reason = reason }
    }

    /// The most memory that compiling and matching one expression may take.
    private static let memoryMaxBytes: Int64 = 1 << 20

    private let pattern: OpaquePointer
    /// The number of instructions of the compiled expression: its cost in memory and time.
    public let size: Int

    /// Compiles an expression in UTF-8.
    public init(_ source: [UInt8], ignoresCase: Bool) throws(Refusal) {
        var message = [CChar](repeating: 0, count: 200)
        let compiled = source.withUnsafeBytes { source in
            re2_pattern_compile(
                source.baseAddress?.assumingMemoryBound(to: CChar.self), source.count, ignoresCase, Self.memoryMaxBytes, &message, message.count)
        }
        guard let compiled else {
            throw Refusal(reason: String(decoding: message.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self))
        }
        pattern = compiled
        size = Int(re2_pattern_size(compiled))
    }

    deinit { re2_pattern_free(pattern) }

    /// Whether the expression matches anywhere in `text`.
    public func matches(_ text: String) -> Bool {
        var text = text
        return text.withUTF8 { text in
            UnsafeRawBufferPointer(text).withMemoryRebound(to: CChar.self) { re2_pattern_matches(pattern, $0.baseAddress, $0.count) }
        }
    }
}
