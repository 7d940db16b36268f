/// Text that is equal only to the same code points, as JSON has it; `String` takes canonically equivalent ones as equal.
struct ExactText: Hashable {
    let text: String

    @inline(__always)
    init(_ text: String) { self.text = text }

    static func == (left: ExactText, right: ExactText) -> Bool {
        guard left.text.utf8.count == right.text.utf8.count else { return false }
        let equal = left.text.utf8.withContiguousStorageIfAvailable { left in
            right.text.utf8.withContiguousStorageIfAvailable { right in
                guard let first = left.baseAddress, let second = right.baseAddress else { return true }
                return Word.equal(first, second, count: left.count)
            }
        }
        return (equal ?? nil) ?? left.text.utf8.elementsEqual(right.text.utf8)
    }

    func hash(into hasher: inout Hasher) {
        var text = text
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        hasher.combine(UInt8.max)
    }
}
