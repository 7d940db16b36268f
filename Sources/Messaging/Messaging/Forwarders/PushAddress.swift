/// The address of a browser's push service: an absolute URL with https.
struct PushAddress: Sendable, Hashable {
    let url: String
    /// The scheme, host and port.
    let origin: String

    /// Parses an address; nil if messages must not be sent there. Anybody can register an address, and it must not make this server send
    /// requests into its own network. A host name proves little: the client also checks the address that it resolves to.
    ///
    /// - Parameters:
    ///   - allowsLocal: accepts http and every host too, for push services on the same machine.
    ///   - allowsPrivateNames: accepts every host, but only https.
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

    /// The service: the last two labels of the host name, which usually name its owner. For a numeric address, the address and port.
    var service: String {
        let authority = origin.drop { $0 != ":" }.dropFirst(3)
        let host = authority.prefix { $0 != ":" }
        let labels = host.split(separator: ".")
        guard labels.count >= 2, labels.last?.first?.isLetter == true else { return String(authority) }
        return labels.suffix(2).joined(separator: ".")
    }

    /// Whether the host is a name with a dot that does not belong to a private network. Numeric addresses are not: no push service
    /// uses one.
    private static func isPublic(_ authority: String) -> Bool {
        let host = authority.prefix { $0 != ":" }
        let labels = host.split(separator: ".", omittingEmptySubsequences: false)
        guard labels.count >= 2, labels.allSatisfy({ !$0.isEmpty }), let last = labels.last else { return false }
        // If the last label begins with a digit, the host is an address in some notation: 127.1, 0x7f.1, 2130706433.0.
        guard last.utf8.first.map({ !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) ?? false else { return false }
        return !["localhost", "local", "internal", "lan", "home", "arpa", "localdomain", "test", "invalid"].contains(String(last))
    }
}
