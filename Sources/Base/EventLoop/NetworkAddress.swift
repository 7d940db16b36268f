import CLibuv
import Glibc

/// An IP address without a port. An IPv4 address equals its IPv4-mapped IPv6 form (RFC 4291 section 2.5.5.2).
public struct NetworkAddress: Hashable, Sendable {
    /// The 128 bits of the IPv6 form.
    let bits: UInt128

    private static let mapped: UInt128 = 0xFFFF << 32

    init(bits: UInt128) { self.bits = bits }

    /// The unspecified address, `::`.
    public static let unspecified = NetworkAddress(bits: 0)

    /// Parses an address such as `192.0.2.1` or `2001:db8::1`; nil for other text. A zone (`%eth0`) is ignored.
    public init?(_ text: some StringProtocol) {
        let text = String(text.prefix { $0 != "%" })
        // A zero byte would terminate the string for inet_pton.
        guard text.utf8.count <= 45, !text.utf8.contains(0) else { return nil }
        var four = in_addr()
        if inet_pton(AF_INET, text, &four) == 1 {
            self.init(four)
            return
        }
        var six = in6_addr()
        guard inet_pton(AF_INET6, text, &six) == 1 else { return nil }
        self.init(six)
    }

    /// Parses an address with a port, as ``Stream/peerAddress`` has it: `192.0.2.1:80` or `[2001:db8::1]:80`. The port may be missing.
    public init?(endpoint text: some StringProtocol) {
        if text.hasPrefix("[") {
            guard let end = text.firstIndex(of: "]") else { return nil }
            self.init(text[text.index(after: text.startIndex)..<end])
        } else if let colon = text.firstIndex(of: ":"), text[text.index(after: colon)...].firstIndex(of: ":") == nil {
            self.init(text[..<colon])
        } else {
            self.init(text)
        }
    }

    /// The address of a socket; nil for a family other than IPv4 and IPv6.
    ///
    /// - Parameter address: complete for its family.
    public init?(_ address: UnsafePointer<sockaddr>) {
        switch Int32(address.pointee.sa_family) {
        case AF_INET: self.init(address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { $0.pointee.sin_addr })
        case AF_INET6: self.init(address.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) { $0.pointee.sin6_addr })
        default: return nil
        }
    }

    private init(_ four: in_addr) { bits = Self.mapped | UInt128(UInt32(bigEndian: four.s_addr)) }

    private init(_ six: in6_addr) {
        bits = withUnsafeBytes(of: six) { UInt128(bigEndian: $0.loadUnaligned(as: UInt128.self)) }
    }

    /// The 32 bits of an IPv4 address; nil for IPv6.
    private var versionFour: UInt32? { bits >> 32 == Self.mapped >> 32 ? UInt32(truncatingIfNeeded: bits) : nil }

    /// The network that a provider usually assigns to one customer: the address itself for IPv4, its first 64 bits for IPv6.
    public var customer: NetworkAddress { versionFour == nil ? NetworkAddress(bits: (bits >> 64) << 64) : self }

    /// Whether it is a loopback address.
    public var isLoopback: Bool { versionFour.map { $0 >> 24 == 127 } ?? (bits == 1) }

    /// Whether it is a loopback, private or link-local address (RFC 1918, 3927, 4193, 4291).
    public var isInternal: Bool { isLoopback || Self.internalRanges.contains { $0.contains(self) } }

    /// Whether a server on the Internet may have the address: it is not private, local, shared, multicast or reserved, nor embeds such an
    /// IPv4 address (RFC 6890 and IANA's registries of special-purpose addresses).
    public var isPublic: Bool {
        if versionFour != nil { return !Self.specialFour.contains { $0.contains(self) } }
        // A translator forwards these to an IPv4 address (RFC 6052).
        if Self.translated.contains(self) { return NetworkAddress(bits: Self.mapped | bits & 0xFFFF_FFFF).isPublic }
        return Self.globalSix.contains(self) && !Self.specialSix.contains { $0.contains(self) }
    }

    private static func ranges(_ texts: String...) -> [NetworkRange] { texts.compactMap { NetworkRange($0) } }

    private static let internalRanges = ranges("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "169.254.0.0/16", "fc00::/7", "fe80::/10")
    // The single address is that of a cloud's own services, for each machine in it.
    private static let specialFour = ranges(
        "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "168.63.129.16", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24", "192.0.2.0/24",
        "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/3")
    private static let globalSix = NetworkRange(bits: 0x2 << 124, length: 3)
    // Teredo and other protocols, documentation, 6to4, documentation.
    private static let specialSix = ranges("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20")
    private static let translated = NetworkRange(bits: 0x0064_FF9B << 96, length: 96)
}

extension NetworkAddress: CustomStringConvertible {
    /// The usual text form.
    public var description: String {
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        if let four = versionFour {
            var address = in_addr(s_addr: four.bigEndian)
            inet_ntop(AF_INET, &address, &text, socklen_t(text.count))
        } else {
            withUnsafeBytes(of: bits.bigEndian) { _ = inet_ntop(AF_INET6, $0.baseAddress, &text, socklen_t(text.count)) }
        }
        return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}

/// An IP prefix: all addresses that begin with the same bits.
public struct NetworkRange: Hashable, Sendable {
    private let bits: UInt128
    private let mask: UInt128

    /// - Parameter length: the number of significant bits, of the 128 of IPv6.
    init(bits: UInt128, length: Int) {
        mask = length == 0 ? 0 : UInt128.max << UInt128(128 - length)
        self.bits = bits & mask
    }

    /// Parses a prefix such as `10.0.0.0/8`, `fd00::/8` or `192.0.2.1`; nil for other text.
    public init?(_ text: some StringProtocol) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let address = NetworkAddress(parts[0]) else { return nil }
        let width = parts[0].contains(":") ? 128 : 32
        var length = width
        if parts.count == 2 {
            guard let number = Int(parts[1]), (0...width).contains(number) else { return nil }
            length = number
        }
        self.init(bits: address.bits, length: length + 128 - width)
    }

    /// Whether an address is one of the range.
    public func contains(_ address: NetworkAddress) -> Bool { address.bits & mask == bits }
}

/// Conversions of IPv4 and IPv6 socket addresses.
enum SocketAddress {
    /// `127.0.0.1:80` or `[::1]:80`; empty for another family.
    static func text(of storage: inout sockaddr_storage) -> String {
        let (host, port) = parts(of: &storage)
        return host.isEmpty ? "" : host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
    }

    /// `127.0.0.1` and 80; an empty name for another family.
    static func parts(of storage: inout sockaddr_storage) -> (host: String, port: Int) {
        var host = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN) + 1)
        return withUnsafeMutablePointer(to: &storage) { pointer in
            switch Int32(pointer.pointee.ss_family) {
            case AF_INET:
                return pointer.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { address in
                    uv_ip4_name(address, &host, host.count)
                    return (Self.string(host), Int(UInt16(bigEndian: address.pointee.sin_port)))
                }
            case AF_INET6:
                return pointer.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) { address in
                    uv_ip6_name(address, &host, host.count)
                    return (Self.string(host), Int(UInt16(bigEndian: address.pointee.sin6_port)))
                }
            default:
                return ("", 0)
            }
        }
    }

    /// The port that a socket is bound to; 0 for none.
    static func localPort(of descriptor: Int32) -> Int {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let code = withUnsafeMutablePointer(to: &storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) }
        }
        return code == 0 ? parts(of: &storage).port : 0
    }

    private static func string(_ characters: [CChar]) -> String {
        String(decoding: characters.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Resolves a host name or numeric address to bind to. Blocks for names that are not numeric.
    static func resolve(host: String, port: Int) throws(LoopError) -> (storage: sockaddr_storage, length: socklen_t) {
        var hints = addrinfo()
        hints.ai_flags = AI_PASSIVE
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        let code = getaddrinfo(host, "\(port)", &hints, &list)
        defer { if let list { freeaddrinfo(list) } }
        guard code == 0, let first = list?.pointee, let address = first.ai_addr else {
            throw LoopError(code: UV_EADDRNOTAVAIL.rawValue, operation: "resolve", subject: "\(host):\(port)")
        }
        var storage = sockaddr_storage()
        withUnsafeMutableBytes(of: &storage) { room in
            room.copyMemory(from: UnsafeRawBufferPointer(start: address, count: Int(first.ai_addrlen)))
        }
        return (storage, first.ai_addrlen)
    }
}
