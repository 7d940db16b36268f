extension Document {
    @inline(__always)
    private func numberText(_ token: Token) -> NumberText { NumberText(base + Int(token.start), count: token.length) }

    @inline(__always)
    func isNull(at index: Int) -> Bool { token(index).isKind(.null) }

    @inline(__always)
    func bool(at index: Int) throws -> Bool {
        let token = token(index)
        guard token.isKind(.bool) else { throw mismatch(Bool.self, at: index) }
        return token.isFlagged
    }

    @inline(__always)
    func string(at index: Int) throws -> String {
        let token = token(index)
        guard token.isKind(.string) else { throw mismatch(String.self, at: index) }
        return text(token)
    }

    /// The text of a string or key.
    @inline(__always)
    func text(_ token: Token) -> String {
        let bytes = UnsafeBufferPointer(start: base + Int(token.start), count: token.length)
        guard token.isFlagged else { return String(decoding: bytes, as: UTF8.self) }
        return String(decoding: Escape.decoded(base + Int(token.start), count: token.length), as: UTF8.self)
    }

    @inline(__always)
    func double(at index: Int) throws -> Double {
        let token = token(index)
        guard token.isKind(.number) else { throw mismatch(Double.self, at: index) }
        return numberText(token).double()
    }

    @inline(__always)
    func float(at index: Int) throws -> Float {
        let token = token(index)
        guard token.isKind(.number) else { throw mismatch(Float.self, at: index) }
        let value = numberText(token).float()
        guard value.isFinite else { throw outOfRange(Float.self, at: index) }
        return value
    }

    /// A whole number; `3.0` and `3e2` are whole, too.
    @inline(__always)
    func integer<I: FixedWidthInteger>(_ type: I.Type, at index: Int) throws -> I {
        let token = token(index)
        guard token.isKind(.number) else { throw mismatch(type, at: index) }
        let text = numberText(token)
        guard token.isFlagged, let (magnitude, isNegative) = text.integer else { return try rounded(type, text, at: index) }
        if isNegative {
            if magnitude <= 1 << 63, let value = I(exactly: Int64(truncatingIfNeeded: 0 &- magnitude)) { return value }
        } else if let value = I(exactly: magnitude) {
            return value
        }
        throw outOfRange(type, at: index)
    }

    @inline(never)
    private func rounded<I: FixedWidthInteger>(_ type: I.Type, _ text: NumberText, at index: Int) throws -> I {
        guard !text.isWhole, let value = I(exactly: text.double()) else { throw outOfRange(type, at: index) }
        return value
    }

    @inline(never)
    private func outOfRange(_ type: Any.Type, at index: Int) -> DecodingError {
        .dataCorrupted(context(at: index, "The number \(number(at: index)) does not fit \(type)."))
    }

    private func number(at index: Int) -> String { text(token(index).unflagged) }
}
