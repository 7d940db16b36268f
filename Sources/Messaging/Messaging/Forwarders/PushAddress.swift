/// Where a browser's push service takes messages: an absolute address of https.
struct PushAddress: Sendable, Hashable {
    let url: String
    /// Scheme, host and port.
    let origin: String

    /// Nil where a message must not be sent there. Whoever registers a browser names the address; it must not make this server
    /// speak to its own network. A name tells only so much: the client looks at the address that it leads to.
    ///
    /// - Parameters:
    ///   - allowsLocal: takes http and every host too, for push services on the same machine.
    ///   - allowsPrivateNames: takes every host, but https only.
    init?(_ url: String, allowsLocal: Bool, allowsPrivateNames: Bool = false) {
        guard url.utf8.count <= 2048, url.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else { return nil }
        let scheme: String
        if url.hasPrefix("https://") {
            scheme = "https://"
        } else if allowsLocal, url.hasPrefix("http://") {
            scheme = "http://"
        } else {
            return nil
        }
        let authority = url.dropFirst(scheme.count).prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        guard !authority.isEmpty, !authority.contains("@"), !authority.contains("\\") else { return nil }
        if !allowsLocal, !allowsPrivateNames, !Self.isPublic(authority.lowercased()) { return nil }
        self.url = url
        origin = scheme + authority.lowercased()
    }

    /// Whose service it is, as far as a name tells: the last two labels of the host. An address in figures stands for itself, with its port.
    var service: String {
        let authority = origin.drop { $0 != ":" }.dropFirst(3)
        let host = authority.prefix { $0 != ":" }
        let labels = host.split(separator: ".")
        guard labels.count >= 2, labels.last?.first?.isLetter == true else { return String(authority) }
        return labels.suffix(2).joined(separator: ".")
    }

    /// Whether the host is a name with a dot that is not one of a private network. Addresses in figures are not: no push service
    /// has one.
    private static func isPublic(_ authority: String) -> Bool {
        let host = authority.prefix { $0 != ":" }
        let labels = host.split(separator: ".", omittingEmptySubsequences: false)
        guard labels.count >= 2, labels.allSatisfy({ !$0.isEmpty }), let last = labels.last else { return false }
        // What ends in figures is an address, however it is written: 127.1, 0x7f.1, 2130706433.0.
        guard last.utf8.first.map({ !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) ?? false else { return false }
        return !["localhost", "local", "internal", "lan", "home", "arpa", "localdomain", "test", "invalid"].contains(String(last))
    }
}
