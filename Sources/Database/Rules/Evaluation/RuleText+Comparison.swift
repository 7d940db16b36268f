import CRE2
import Glibc
import Tree

/// Comparison of strings by code units. `String` operators equate canonically equivalent texts.
extension RuleText {
    @inline(__always)
    private static func isSame(_ left: UnsafePointer<UInt8>?, _ right: UnsafePointer<UInt8>?, _ count: Int) -> Bool {
        guard count > 0, let left, let right else { return true }
        return memcmp(left, right, count) == 0
    }

    static func begins(_ text: String, with start: String) -> Bool {
        TextOrder.withBytes(text, start) { $0.count >= $1.count && isSame($0.baseAddress, $1.baseAddress, $1.count) }
    }

    static func ends(_ text: String, with end: String) -> Bool {
        TextOrder.withBytes(text, end) { text, end in
            text.count >= end.count && isSame(text.baseAddress.map { $0 + text.count - end.count }, end.baseAddress, end.count)
        }
    }

    static func contains(_ text: String, _ part: String) -> Bool {
        TextOrder.withBytes(text, part) { text, part in part.isEmpty || position(of: part, in: text, from: 0) != nil }
    }

    /// The offset of the non-empty `part` in `text`, at or after `start`.
    static func position(of part: UnsafeBufferPointer<UInt8>, in text: UnsafeBufferPointer<UInt8>, from start: Int) -> Int? {
        guard let base = text.baseAddress, text.count - start >= part.count else { return nil }
        guard let found = text_find(base + start, text.count - start, part.baseAddress, part.count) else { return nil }
        return UnsafeRawPointer(found) - UnsafeRawPointer(base)
    }

    /// `text` with every occurrence of `part` replaced, left to right without overlap; nil if the result would exceed `bytesMax`. An empty
    /// `part` never occurs.
    static func replacing(_ part: String, in text: String, by replacement: String, bytesMax: Int) -> String? {
        guard !part.isEmpty else { return text }
        var result: [UInt8] = []
        let fits = TextOrder.withBytes(text, part) { text, part in
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
