#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Growable bytes with one owner, read from the front and written at the back.
///
/// Holds bytes that wait to be sent, bytes that have been received, and answers under construction. It never shares its memory, so
/// that appending never copies for uniqueness, and it frees the memory at its end.
public struct ByteBuffer: ~Copyable {
    @usableFromInline var base: UnsafeMutableRawPointer?
    @usableFromInline var start: Int
    @usableFromInline var end: Int
    @usableFromInline var capacity: Int

    /// An empty buffer. Memory is allocated with the first byte, or now for a `capacity`.
    @inlinable
    public init(capacity: Int = 0) {
        self.start = 0
        self.end = 0
        self.capacity = capacity
        self.base = capacity > 0 ? malloc(capacity) : nil
    }

    deinit { free(base) }

    /// The number of bytes waiting to be read.
    @inlinable public var count: Int { end - start }

    /// Whether nothing waits to be read.
    @inlinable public var isEmpty: Bool { start == end }

    /// The bytes waiting to be read.
    @inlinable
    public var bytes: Span<UInt8> {
        @_lifetime(borrow self)
        get {
            let pointer = unsafe UnsafeBufferPointer<UInt8>(
                start: base.map { ($0 + start).assumingMemoryBound(to: UInt8.self) }, count: count)
            return unsafe _overrideLifetime(Span(_unsafeElements: pointer), borrowing: self)
        }
    }

    /// Makes room for `additional` bytes at the back: moves the unread bytes to the front, or grows to at least double.
    @inlinable
    public mutating func reserve(_ additional: Int) {
        if capacity - end >= additional { return }
        makeRoom(additional)
    }

    @usableFromInline
    mutating func makeRoom(_ additional: Int) {
        let unread = count
        if start > 0, capacity - unread >= additional {
            memmove(base!, base! + start, unread)
        } else {
            let wanted = max(unread + additional, capacity * 2, 256)
            let grown = malloc(wanted)!
            if let base {
                memcpy(grown, base + start, unread)
                free(base)
            }
            base = grown
            capacity = wanted
        }
        start = 0
        end = unread
    }

    /// Hands at least `minimum` bytes of uninitialised room at the back to `body`, which returns how many it wrote.
    @inlinable
    public mutating func appendUninitialized<E: Error>(
        minimum: Int, _ body: (UnsafeMutableRawBufferPointer) throws(E) -> Int
    ) throws(E) {
        reserve(minimum)
        let written = try body(UnsafeMutableRawBufferPointer(start: base! + end, count: capacity - end))
        precondition(written >= 0 && written <= capacity - end)
        end += written
    }

    /// Appends one byte, with room as from ``reserve(_:)``.
    @inlinable
    public mutating func append(_ byte: UInt8) {
        reserve(1)
        base!.storeBytes(of: byte, toByteOffset: end, as: UInt8.self)
        end += 1
    }

    /// Appends a copy of the bytes, which must not lie in this buffer.
    @inlinable
    public mutating func append(_ bytes: UnsafeRawBufferPointer) {
        guard let source = bytes.baseAddress, bytes.count > 0 else { return }
        reserve(bytes.count)
        memcpy(base! + end, source, bytes.count)
        end += bytes.count
    }

    /// Appends a copy of the bytes.
    @inlinable
    public mutating func append(_ bytes: Span<UInt8>) {
        bytes.withUnsafeBufferPointer { append(UnsafeRawBufferPointer($0)) }
    }

    /// Appends a copy of the bytes.
    @inlinable
    public mutating func append(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { append($0) }
    }

    /// Appends a literal's UTF-8 bytes.
    @inlinable
    public mutating func append(_ text: StaticString) {
        append(UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    /// Disfavoured, so that a literal is a `StaticString`, whose bytes are copied without a count of references.
    @_disfavoredOverload
    @inlinable
    public mutating func append(_ text: String) {
        var text = text
        text.withUTF8 { append(UnsafeRawBufferPointer($0)) }
    }

    /// Appends a whole number in the machine's (little-endian) byte order, as frames carry it.
    @inlinable
    public mutating func append<T: FixedWidthInteger & BitwiseCopyable>(littleEndian value: T) {
        reserve(MemoryLayout<T>.size)
        base!.storeBytes(of: value.littleEndian, toByteOffset: end, as: T.self)
        end += MemoryLayout<T>.size
    }

    /// Appends `value` in decimal digits.
    @inlinable
    public mutating func append(decimal value: Int) {
        if value < 0 { append(UInt8(ascii: "-")) }
        reserve(20)
        var rest = value.magnitude
        var digits = 1
        var bound = rest
        while bound >= 10 { bound /= 10; digits += 1 }
        var position = end + digits
        end = position
        repeat {
            position -= 1
            base!.storeBytes(of: UInt8(truncatingIfNeeded: 48 + rest % 10), toByteOffset: position, as: UInt8.self)
            rest /= 10
        } while rest > 0
    }

    /// Overwrites bytes written before, `offset` counted from the first unread byte.
    @inlinable
    public mutating func overwrite<T: FixedWidthInteger & BitwiseCopyable>(littleEndian value: T, at offset: Int) {
        precondition(offset >= 0 && offset + MemoryLayout<T>.size <= count)
        base!.storeBytes(of: value.littleEndian, toByteOffset: start + offset, as: T.self)
    }

    /// Drops `count` bytes from the front.
    @inlinable
    public mutating func consume(_ count: Int) {
        precondition(count >= 0 && count <= self.count)
        start += count
        if start == end { start = 0; end = 0 }
    }

    /// Drops bytes from the back until `count` are left.
    @inlinable
    public mutating func truncate(to count: Int) {
        precondition(count >= 0 && count <= self.count)
        end = start + count
    }

    /// Forgets every byte; the memory stays unless it is larger than `keepingAtMost`.
    @inlinable
    public mutating func clear(keepingAtMost limit: Int = .max) {
        start = 0
        end = 0
        if capacity > limit {
            free(base)
            base = nil
            capacity = 0
        }
    }

    /// Lends the unread bytes to C.
    @inlinable
    public borrowing func withUnsafeBytes<R: ~Copyable, E: Error>(
        _ body: (UnsafeRawBufferPointer) throws(E) -> R
    ) throws(E) -> R {
        try body(UnsafeRawBufferPointer(start: base.map { $0 + start }, count: count))
    }

    /// A copy of the unread bytes.
    public borrowing func array() -> [UInt8] { withUnsafeBytes { [UInt8]($0) } }

    /// The unread bytes as text, each invalid sequence replaced.
    public borrowing func string() -> String { withUnsafeBytes { String(decoding: $0, as: UTF8.self) } }
}
