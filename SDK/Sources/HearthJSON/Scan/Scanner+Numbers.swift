extension Scanner {
    /// Takes a number; true when it has neither fraction nor exponent. A number that no `Double` holds is refused.
    @inline(__always)
    mutating func number() throws(JSONError) -> Bool {
        let start = position
        var index = start
        if base[index] == UInt8(ascii: "-") { index += 1 }
        let digits = index
        index = digitsEnd(from: index)
        guard index > digits else { throw malformed(at: index) }
        if base[digits] == UInt8(ascii: "0"), index - digits > 1 { throw JSONError(kind: .invalidNumber, offset: digits) }
        guard index < end, base[index] == UInt8(ascii: ".") || base[index] | 0x20 == UInt8(ascii: "e") else {
            position = index
            if index - digits > 300 { try checkRange(from: start) }
            return true
        }
        try fraction(from: index, of: start)
        return false
    }

    /// What follows the whole part of the number that began at `start`.
    @inline(never)
    private mutating func fraction(from point: Int, of start: Int) throws(JSONError) {
        var index = point
        if base[index] == UInt8(ascii: ".") {
            index = digitsEnd(from: point + 1)
            guard index > point + 1 else { throw malformed(at: index) }
        }
        var exponentDigits = 0
        if index < end, base[index] | 0x20 == UInt8(ascii: "e") {
            index += 1
            if index < end, base[index] == UInt8(ascii: "+") || base[index] == UInt8(ascii: "-") { index += 1 }
            let first = index
            index = digitsEnd(from: index)
            exponentDigits = index - first
            guard exponentDigits > 0 else { throw malformed(at: index) }
        }
        position = index
        // Two digits of exponent and 200 before it stay far below the greatest double, about 1.8e308.
        if exponentDigits > 2 || index - start > 200 { try checkRange(from: start) }
    }

    @inline(__always)
    private func digitsEnd(from start: Int) -> Int {
        var index = start
        while index < end, base[index] &- UInt8(ascii: "0") < 10 { index += 1 }
        return index
    }

    private func malformed(at index: Int) -> JSONError {
        JSONError(kind: index < end ? .invalidNumber : .unexpectedEnd, offset: index)
    }

    @inline(never)
    private func checkRange(from start: Int) throws(JSONError) {
        guard NumberText(base + start, count: position - start).slowDouble().isFinite else {
            throw JSONError(kind: .numberOutOfRange, offset: start)
        }
    }
}
