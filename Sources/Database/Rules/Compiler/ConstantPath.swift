import Tree

/// The destination of literal arguments of `child()`, computed when the rules are compiled.
struct ConstantPath: Sendable {
    private(set) var segments: [String] = []
    private(set) var key = PathKey.root
    /// The number of levels from an invalid key on: such a location is always empty.
    private(set) var nowhere = 0

    /// Descends along `text`, in which slashes separate keys.
    mutating func descend(_ text: String) {
        var text = text
        text.withUTF8 { bytes in
            PathText.forEachSegment(bytes) { segment, isKey in
                if nowhere > 0 || !isKey {
                    nowhere += 1
                } else {
                    segments.append(String(decoding: segment, as: UTF8.self))
                    key.append(Span(_unsafeElements: segment))
                }
            }
        }
    }
}

/// Splits the argument of `child()` into keys.
enum PathText {
    /// Calls `body` with each key and whether it is valid. Repeated slashes count as one; leading and trailing ones are ignored.
    @inline(__always)
    static func forEachSegment(_ text: UnsafeBufferPointer<UInt8>, _ body: (UnsafeBufferPointer<UInt8>, Bool) -> Void) {
        var index = 0
        while index < text.count {
            let start = index
            var isKey = true
            while index < text.count, text[index] != UInt8(ascii: "/") {
                if isForbidden(text[index]) { isKey = false }
                index += 1
            }
            if index > start { body(UnsafeBufferPointer(rebasing: text[start..<index]), isKey) }
            index += 1
        }
    }

    @inline(__always)
    static func isForbidden(_ byte: UInt8) -> Bool {
        switch byte {
        case 0..<0x20, 0x7F, UInt8(ascii: "."), UInt8(ascii: "$"), UInt8(ascii: "#"), UInt8(ascii: "["), UInt8(ascii: "]"),
            UInt8(ascii: "/"):
            true
        default: false
        }
    }
}
