import FunctionDispatch
import Glibc
import HearthBytes
import HearthJSON

/// The body of a callable request (spec functions 1.1, rows 3 to 7 and 13).
package struct CallableBody {
    /// The range of the value of `data` in the body.
    let data: Range<Int>
    /// The data with its wrappers replaced by integers; nil if it has none, so that the body's bytes can be used.
    let unwrapped: [UInt8]?
    /// Whether the data has wrappers and more than ``CallableLimits/valuesMax`` values, so that unwrapping would take too much memory.
    let hasTooManyValues: Bool

    /// Checks `body`: a JSON object with the member `data` only, whose 64-bit wrappers are valid.
    ///
    /// - Returns: nil if it has to be refused with status 400.
    init?(_ body: Span<UInt8>) {
        guard let envelope = try? JSONScan.member("data", of: body, limits: CallableLimits.json), let range = envelope.value,
            !envelope.hasOtherMembers
        else { return nil }
        data = range
        // Counts commas: all but the last value of an array or object are followed by one.
        hasTooManyValues = envelope.facts.hasTypeKey && body.count > CallableLimits.valuesMax && Self.commas(in: body) > CallableLimits.valuesMax
        guard envelope.facts.hasTypeKey, !hasTooManyValues else {
            unwrapped = nil
            return
        }
        guard let value = try? JSONValue(parsing: body.extracting(range), limits: CallableLimits.json), let plain = IntegerWrappers.unwrap(value)
        else { return nil }
        unwrapped = plain.serialized()
    }

    /// Explains why `init` refused `body`.
    static func problem(_ body: Span<UInt8>) -> String {
        let expected = "a callable function takes {\"data\": ...}"
        guard body.count > 0 else { return "the body is empty; \(expected)" }
        do throws(JSONError) {
            let envelope = try JSONScan.member("data", of: body, limits: CallableLimits.json)
            guard envelope.facts.kind == .object else { return "the body is not a JSON object; \(expected)" }
            guard envelope.value != nil else { return "the body has no member \"data\"; \(expected)" }
            guard !envelope.hasOtherMembers else { return "the body has other members beside \"data\"; \(expected) and nothing else" }
            return "the data has a 64-bit integer (\"@type\") whose \"value\" is not an integer of that type"
        } catch {
            return "the body is not JSON: \(error.explanation(in: body))"
        }
    }

    private static func commas(in body: Span<UInt8>) -> Int {
        body.withUnsafeBufferPointer { bytes in bytes.reduce(0) { $0 + ($1 == UInt8(ascii: ",") ? 1 : 0) } }
    }

    /// Whether a Content-Type is that of a callable (spec functions 1.3): `application/json`, with any parameters except a charset that does
    /// not begin with `utf-`.
    package static func accepts(contentType: Span<UInt8>) -> Bool {
        let usual: StaticString = "application/json"
        let isUsual = contentType.withUnsafeBufferPointer { bytes in
            bytes.count == usual.utf8CodeUnitCount && bytes.baseAddress.map { memcmp($0, usual.utf8Start, bytes.count) == 0 } ?? false
        }
        if isUsual { return true }
        var end = 0
        while end < contentType.count, contentType[end] != UInt8(ascii: ";") { end += 1 }
        let media = trimmed(contentType.extracting(0..<end))
        guard media.equalsIgnoringCase(lowercase: "application/json") else { return false }
        guard end < contentType.count else { return true }
        for parameter in contentType.extracting(end + 1..<contentType.count).string().lowercased().split(separator: ";") {
            let pair = parameter.split(separator: "=", maxSplits: 1).map { $0.filter { $0 != " " && $0 != "\t" && $0 != "\"" } }
            if pair.count == 2, pair[0] == "charset", !pair[1].hasPrefix("utf-") { return false }
        }
        return true
    }

    @_lifetime(copy text)
    private static func trimmed(_ text: Span<UInt8>) -> Span<UInt8> {
        var start = 0
        var end = text.count
        while start < end, text[start] == 0x20 || text[start] == 0x09 { start += 1 }
        while end > start, text[end - 1] == 0x20 || text[end - 1] == 0x09 { end -= 1 }
        return text.extracting(start..<end)
    }
}
