import CLibuv
import Glibc

/// Numeric addresses of IPv4 and IPv6 sockets.
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

    /// The port that a socket is bound to; 0 where it is none.
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

    /// Resolves a host name or numeric address to bind to; blocks for names that are not numeric.
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
