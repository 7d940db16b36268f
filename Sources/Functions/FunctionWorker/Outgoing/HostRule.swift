import EventLoop

/// An entry of `allowedHosts`: a host, or some, that functions may send requests to.
struct HostRule: Sendable, Hashable {
    private enum Hosts: Hashable {
        /// Every host with a public address.
        case everyPublic
        /// The host of this name, with a public address.
        case name(String)
        /// The hosts whose names end so, with a dot in front, with public addresses.
        case suffix(String)
        /// The host of this name, which may have a private address.
        case privateName(String)
        /// The hosts with these addresses, whatever their names.
        case network(NetworkRange)
    }

    private let hosts: Hosts
    /// The port; nil for all.
    private let port: Int?

    /// Parses an entry: `*`, `example.com`, `*.example.com`, `private:billing.internal`, `localhost`, `10.0.0.0/8`, `fd00::/8`, and with a port
    /// `example.com:8443`, `10.0.0.5:80` or `[fd00::5]:80`. Nil for other text.
    init?(_ text: String) {
        if let range = NetworkRange(text) {
            (hosts, port) = (.network(range), nil)
            return
        }
        guard let (host, port) = Self.split(text.lowercased()) else { return nil }
        self.port = port
        if let range = NetworkRange(host) {
            hosts = .network(range)
        } else if host == "*" {
            hosts = .everyPublic
        } else if host.hasPrefix("*."), Self.isName(host.dropFirst(2)) {
            hosts = .suffix(String(host.dropFirst()))
        } else if host.hasPrefix("private:"), Self.isName(host.dropFirst(8)) {
            hosts = .privateName(String(host.dropFirst(8)))
        } else if Self.isName(host[...]) {
            hosts = host == "localhost" ? .privateName(host) : .name(host)
        } else {
            return nil
        }
    }

    /// Separates the port, which comes last, and the brackets of an IPv6 address.
    private static func split(_ text: String) -> (host: String, port: Int?)? {
        let isPrivate = text.hasPrefix("private:")
        let rest = isPrivate ? text.dropFirst(8) : text[...]
        guard let colon = rest.lastIndex(of: ":"), !rest.hasSuffix("]") else {
            return (rest.hasPrefix("[") ? String(rest.dropFirst().dropLast()) : text, nil)
        }
        guard let port = Int(rest[rest.index(after: colon)...]), (1...65535).contains(port) else { return nil }
        var host = rest[..<colon]
        if host.hasPrefix("["), host.hasSuffix("]") { host = host.dropFirst().dropLast() }
        return ((isPrivate ? "private:" : "") + host, port)
    }

    private static func isName(_ text: Substring) -> Bool {
        let labels = text.split(separator: ".", omittingEmptySubsequences: false)
        return text.utf8.count <= 253 && labels.allSatisfy { label in
            !label.isEmpty && label.utf8.allSatisfy { $0.isLowercaseOrDigit || $0 == 0x2D || $0 == 0x5F }
        }
    }

    /// Whether requests for a host may pass, should its address pass too. Asked before the name is looked up.
    func mayAdmit(_ host: String, port: Int) -> Bool {
        guard self.port == nil || self.port == port else { return false }
        if let address = NetworkAddress(host) { return admits(address, host, port: port) }
        return switch hosts {
        case .everyPublic, .network: true
        case .name(let name), .privateName(let name): host == name
        case .suffix(let suffix): host.hasSuffix(suffix) && host.utf8.count > suffix.utf8.count
        }
    }

    /// Whether a connection to the address may be opened for requests to a host.
    func admits(_ address: NetworkAddress, _ host: String, port: Int) -> Bool {
        guard self.port == nil || self.port == port else { return false }
        return switch hosts {
        case .everyPublic: address.isPublic
        case .network(let range): range.contains(address)
        case .name(let name): host == name && address.isPublic
        case .suffix(let suffix): host.hasSuffix(suffix) && host.utf8.count > suffix.utf8.count && address.isPublic
        case .privateName(let name): host == name && (address.isPublic || Self.isOfPrivateHost(address))
        }
    }

    /// Whether a host of a private network, or this machine, may have the address. A service that gives a machine its credentials has another.
    private static func isOfPrivateHost(_ address: NetworkAddress) -> Bool {
        privateRanges.contains { $0.contains(address) } && !metadataRanges.contains { $0.contains(address) }
    }

    private static let privateRanges = ["127.0.0.0/8", "::1", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "fc00::/7"]
        .compactMap { NetworkRange($0) }
    private static let metadataRanges = ["fd00:ec2::/32", "fd20:ce::254", "fd00:c1::a9fe:a9fe", "fd00:42::42", "100.100.100.200"].compactMap {
        NetworkRange($0)
    }
}

/// Lists of rules. A request passes if each list has a rule that admits it.
struct HostRules: Sendable {
    private let lists: [[HostRule]]

    /// - Parameter lists: entries of `allowedHosts`; nil for a list that was not given. Without any list, every public host is admitted.
    init(_ lists: [[String]?]) {
        let given = lists.compactMap { $0 }
        self.lists = given.isEmpty ? [["*"].compactMap(HostRule.init)] : given.map { $0.compactMap(HostRule.init) }
    }

    func mayAdmit(_ host: String, port: Int) -> Bool { lists.allSatisfy { $0.contains { $0.mayAdmit(host, port: port) } } }

    func admits(_ address: NetworkAddress, _ host: String, port: Int) -> Bool {
        lists.allSatisfy { $0.contains { $0.admits(address, host, port: port) } }
    }
}

extension UInt8 {
    fileprivate var isLowercaseOrDigit: Bool { (0x30...0x39).contains(self) || (0x61...0x7A).contains(self) }
}
