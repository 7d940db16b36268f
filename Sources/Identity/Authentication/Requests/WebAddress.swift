/// The parts of an absolute address that the protocol looks at.
struct WebAddress: Equatable {
    let scheme: String
    let host: String
    let query: String
    let fragment: String

    /// Parses an absolute address with a scheme and a host; nil for any other text.
    init?(_ text: String) {
        guard text.utf8.count <= 16_384, text.unicodeScalars.allSatisfy({ $0.value > 32 && $0.value != 127 && $0 != "\\" }),
            let colon = text.firstIndex(of: ":")
        else { return nil }
        let name = text[..<colon]
        guard let first = name.utf8.first, (97...122).contains(first | 0x20),
            name.utf8.allSatisfy({ (97...122).contains($0 | 0x20) || (48...57).contains($0) || $0 == 43 || $0 == 45 || $0 == 46 })
        else { return nil }
        var rest = text[text.index(after: colon)...]
        guard rest.hasPrefix("//") else { return nil }
        rest = rest.dropFirst(2)
        fragment = rest.firstIndex(of: "#").map { String(rest[rest.index(after: $0)...]) } ?? ""
        rest = rest.prefix { $0 != "#" }
        query = rest.firstIndex(of: "?").map { String(rest[rest.index(after: $0)...]) } ?? ""
        rest = rest.prefix { $0 != "?" }
        var authority = rest.prefix { $0 != "/" }
        // A user name before the host could make the address look like another.
        guard !authority.contains("@") else { return nil }
        if authority.hasPrefix("[") {
            guard let end = authority.firstIndex(of: "]") else { return nil }
            authority = authority[...end]
        } else {
            authority = authority.prefix { $0 != ":" }
        }
        guard !authority.isEmpty else { return nil }
        scheme = name.lowercased()
        host = authority.lowercased()
    }

    /// Whether the host is one of `domains`, or below one.
    func isIn(_ domains: [String]) -> Bool {
        domains.contains { host == $0.lowercased() || host.hasSuffix(".\($0.lowercased())") }
    }
}
