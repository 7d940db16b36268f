extension Span where Element == UInt8 {
    /// A copy of these bytes.
    public func array() -> [UInt8] { withUnsafeBufferPointer { [UInt8]($0) } }

    /// These bytes as text, each invalid UTF-8 sequence replaced by U+FFFD.
    public func string() -> String { withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) } }

    /// Whether these bytes are exactly `text`.
    @inlinable
    public func equals(_ text: StaticString) -> Bool {
        guard count == text.utf8CodeUnitCount else { return false }
        for index in 0..<count where self[index] != text.utf8Start[index] { return false }
        return true
    }

    /// Whether these are the bytes of `secret`, in a time that does not tell how many of them are right. Nothing equals an empty one.
    public func equalsInConstantTime(_ secret: [UInt8]) -> Bool {
        guard count == secret.count, count > 0 else { return false }
        var difference: UInt8 = 0
        for index in 0..<count { difference |= self[index] ^ secret[index] }
        return difference == 0
    }

    /// Whether these bytes are `text` when ASCII letters' case is ignored; `text` is in lower case.
    @inlinable
    public func equalsIgnoringCase(lowercase text: StaticString) -> Bool {
        guard count == text.utf8CodeUnitCount else { return false }
        for index in 0..<count {
            let byte = self[index]
            let folded = byte &- 65 < 26 ? byte | 0x20 : byte
            if folded != text.utf8Start[index] { return false }
        }
        return true
    }
}
