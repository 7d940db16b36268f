/// Which of the open containers are objects: one bit a level, no memory taken.
struct Nesting {
    private var levels = InlineArray<16, UInt64>(repeating: 0)
    private(set) var depth = 0
    /// Whether the innermost container is an object.
    private(set) var isObject = false

    /// Goes one level in; the caller has checked the limit.
    @inline(__always)
    mutating func push(isObject: Bool) {
        let bit: UInt64 = 1 << UInt64(truncatingIfNeeded: depth & 63)
        let index = depth >> 6
        if isObject { levels[index] |= bit } else { levels[index] &= ~bit }
        self.isObject = isObject
        depth += 1
    }

    /// Goes one level out.
    @inline(__always)
    mutating func pop() {
        depth -= 1
        guard depth > 0 else { return }
        let outer = depth - 1
        isObject = levels[outer >> 6] >> UInt64(truncatingIfNeeded: outer & 63) & 1 == 1
    }
}
