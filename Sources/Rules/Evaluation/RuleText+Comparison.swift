import CRE2
import Glibc

/// Strings as sequences of code units. `String`'s own operators take canonically equivalent texts as equal.
extension RuleText {
    @inline(__always)
    static func withBytes<R>(
        _ left: String, _ right: String, _ body: (UnsafeBufferPointer<UInt8>, UnsafeBufferPointer<UInt8>) -> R
    ) -> R {
        var left = left
        var right = right
        return left.withUTF8 { left in right.withUTF8 { right in body(left, right) } }
    }

    @inline(__always)
    static func areEqual(_ left: String, _ right: String) -> Bool {
        withBytes(left, right) { $0.count == $1.count && isSame($0.baseAddress, $1.baseAddress, $0.count) }
    }

    @inline(__always)
    private static func isSame(_ left: UnsafePointer<UInt8>?, _ right: UnsafePointer<UInt8>?, _ count: Int) -> Bool {
        guard count > 0, let left, let right else { return true }
        return memcmp(left, right, count) == 0
    }

    /// Whether `left` comes before `right` by UTF-16 code units.
    static func precedes(_ left: String, _ right: String) -> Bool {
        withBytes(left, right) { left, right in
            for index in 0..<min(left.count, right.count) where left[index] != right[index] {
                return lifted(left[index]) < lifted(right[index])
            }
            return left.count < right.count
        }
    }

    /// U+E000 to U+FFFF come after the supplementary planes in UTF-16 but before them in UTF-8.
    private static func lifted(_ byte: UInt8) -> UInt8 { byte == 0xEE || byte == 0xEF ? byte + 7 : byte }

    static func begins(_ text: String, with start: String) -> Bool {
        withBytes(text, start) { $0.count >= $1.count && isSame($0.baseAddress, $1.baseAddress, $1.count) }
    }

    static func ends(_ text: String, with end: String) -> Bool {
        withBytes(text, end) { text, end in
            text.count >= end.count && isSame(text.baseAddress.map { $0 + text.count - end.count }, end.baseAddress, end.count)
        }
    }

    static func contains(_ text: String, _ part: String) -> Bool {
        withBytes(text, part) { text, part in part.isEmpty || position(of: part, in: text, from: 0) != nil }
    }

    /// Where `part`, which is not empty, begins in `text` at or after `start`.
    static func position(of part: UnsafeBufferPointer<UInt8>, in text: UnsafeBufferPointer<UInt8>, from start: Int) -> Int? {
        guard let base = text.baseAddress, text.count - start >= part.count else { return nil }
        guard let found = text_find(base + start, text.count - start, part.baseAddress, part.count) else { return nil }
        return UnsafeRawPointer(found) - UnsafeRawPointer(base)
    }

    /// `text` with every occurrence of `part` replaced, from the front, none overlapping; nil when the result would be longer than
    /// `bytesMax`. An empty `part` occurs nowhere.
    static func replacing(_ part: String, in text: String, by replacement: String, bytesMax: Int) -> String? {
        guard !part.isEmpty else { return text }
        var result: [UInt8] = []
        let fits = withBytes(text, part) { text, part in
            var start = 0
            while let found = position(of: part, in: text, from: start) {
                guard result.count + found - start + replacement.utf8.count <= bytesMax else { return false }
                result.append(contentsOf: text[start..<found])
                result.append(contentsOf: replacement.utf8)
                start = found + part.count
            }
            guard result.count + text.count - start <= bytesMax else { return false }
            result.append(contentsOf: text[start...])
            return true
        }
        return fits ? String(decoding: result, as: UTF8.self) : nil
    }
}
