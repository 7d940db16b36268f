/// A pattern in which `*` matches any number of characters.
struct Glob: Sendable, Hashable {
    /// The bytes between the stars; a single element without stars.
    let parts: [[UInt8]]

    static let star = UInt8(ascii: "*")

    init(_ text: some StringProtocol) {
        parts = Array(text.utf8).split(separator: Self.star, omittingEmptySubsequences: false).map(Array.init)
    }

    func matches(_ text: String) -> Bool {
        guard let first = parts.first, let last = parts.last else { return false }
        var rest = Array(text.utf8)[...]
        guard rest.starts(with: first) else { return false }
        rest = rest.dropFirst(first.count)
        guard parts.count > 1 else { return rest.isEmpty }
        for part in parts.dropFirst().dropLast() {
            // The first match is the best one, because it leaves the most for the following parts.
            guard let place = Self.place(of: part, in: rest) else { return false }
            rest = rest[(place + part.count)...]
        }
        return rest.count >= last.count && rest.suffix(last.count).elementsEqual(last)
    }

    private static func place(of part: [UInt8], in text: ArraySlice<UInt8>) -> Int? {
        var index = text.startIndex
        while index + part.count <= text.endIndex {
            if text[index...].starts(with: part) { return index }
            index += 1
        }
        return nil
    }
}
