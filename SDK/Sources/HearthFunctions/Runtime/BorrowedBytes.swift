internal import CHearth

/// The host's memory: readable until the call that it came with returns.
// Only read, and only during that call; whoever keeps it longer copies it first.
struct BorrowedBytes: @unchecked Sendable {
    private let buffer: UnsafeBufferPointer<UInt8>

    static let none = BorrowedBytes(hearth_bytes(data: nil, size: 0))

    init(_ bytes: hearth_bytes) {
        buffer = UnsafeBufferPointer(start: bytes.data?.assumingMemoryBound(to: UInt8.self), count: bytes.size)
    }

    func copy() -> [UInt8] { Array(buffer) }

    func withSpan<R>(_ body: (Span<UInt8>) throws -> R) rethrows -> R { try body(buffer.span) }
}
