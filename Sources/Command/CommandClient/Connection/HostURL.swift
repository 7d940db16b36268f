import Glibc

/// The URL of a host: scheme, name, port, and a path prefix behind a proxy.
public struct HostURL: Sendable, Hashable, CustomStringConvertible {
    /// Whether the connection is encrypted.
    public let isTLS: Bool
    /// A name or an address, without brackets.
    public let host: String
    /// From 1 to 65535.
    public let port: Int
    /// The prefix of every path: empty, or begins with `/` and has no slash at its end.
    public let prefix: String

    /// Parses `http://HOST[:PORT][/PREFIX]` or the same with `https`.
    ///
    /// - Throws: `ClientFailure` of kind `invalidInput`.
    public init(parsing text: String) throws(ClientFailure) {
        let rest: Substring
        if text.hasPrefix("http://") {
            isTLS = false
            rest = text.dropFirst("http://".count)
        } else if text.hasPrefix("https://") {
            isTLS = true
            rest = text.dropFirst("https://".count)
        } else {
            throw Self.refusal(text)
        }
        guard !rest.contains(where: { $0 == "?" || $0 == "#" || $0 == "@" || $0 == "\\" }),
            rest.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
        else { throw Self.refusal(text) }
        let authority = rest.prefix { $0 != "/" }
        var path = rest.dropFirst(authority.count)
        while path.hasSuffix("/") { path = path.dropLast() }
        prefix = String(path)

        let name: Substring
        let portText: Substring?
        if authority.hasPrefix("[") {
            guard let end = authority.firstIndex(of: "]") else { throw Self.refusal(text) }
            name = authority[authority.index(after: authority.startIndex)..<end]
            let after = authority[authority.index(after: end)...]
            guard after.isEmpty || after.hasPrefix(":") else { throw Self.refusal(text) }
            portText = after.isEmpty ? nil : after.dropFirst()
        } else {
            let parts = authority.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            name = parts[0]
            portText = parts.count == 2 ? parts[1] : nil
        }
        let number = portText.map { $0.allSatisfy(\.isNumber) ? Int($0) : nil } ?? (isTLS ? 443 : 80)
        guard !name.isEmpty, let number, (1...65535).contains(number) else { throw Self.refusal(text) }
        host = String(name)
        port = number
    }

    /// The value of the Host header.
    public var authority: String {
        let name = host.contains(":") ? "[\(host)]" : host
        return port == (isTLS ? 443 : 80) ? name : "\(name):\(port)"
    }

    /// The text form.
    public var description: String { "\(isTLS ? "https" : "http")://\(authority)\(prefix)" }

    /// Whether it names a loopback address of this machine.
    public var isLoopback: Bool { host == "localhost" || host == "::1" || host.hasPrefix("127.") }

    private static func refusal(_ text: String) -> ClientFailure {
        ClientFailure(.invalidInput, "\(text) is not the address of a host; write one like http://127.0.0.1:5001")
    }
}
