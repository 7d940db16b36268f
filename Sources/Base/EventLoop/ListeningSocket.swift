import CLibuv
import Glibc

/// A socket that another process has opened for listening: a service manager, or the host that this one replaces.
public struct ListeningSocket: Sendable {
    /// Its descriptor. The holder closes it.
    public let descriptor: Int32
    /// The numeric address that it listens on.
    public let host: String
    /// The port that it listens on.
    public let port: Int
    /// Whether several sockets share the port, one for each loop.
    public let sharesPort: Bool

    /// Host and port, for example `127.0.0.1:5001`.
    public var name: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }

    /// Takes a descriptor over and marks it close-on-exec.
    ///
    /// - Throws: `LoopError`: `EINVAL` if it is not a listening TCP socket, `EBADF` if it is not open.
    public init(descriptor: Int32) throws(LoopError) {
        let subject = "descriptor \(descriptor)"
        guard fcntl(descriptor, F_SETFD, FD_CLOEXEC) == 0 else { throw LoopError(code: -errno, operation: "listen", subject: subject) }
        guard Self.option(SO_ACCEPTCONN, of: descriptor) == 1, Self.option(SO_PROTOCOL, of: descriptor) == Int32(IPPROTO_TCP) else {
            throw LoopError(code: -EINVAL, operation: "listen", subject: "\(subject), which is not a listening TCP socket")
        }
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let code = withUnsafeMutablePointer(to: &storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) }
        }
        guard code == 0 else { throw LoopError(code: -errno, operation: "listen", subject: subject) }
        self.descriptor = descriptor
        (host, port) = SocketAddress.parts(of: &storage)
        sharesPort = Self.option(SO_REUSEPORT, of: descriptor) == 1
    }

    /// Listens on `host` and `port`. Connections wait in the kernel until a ``Listener`` accepts them.
    ///
    /// - Parameter reusePort: lets other sockets of the same user share the port, so that several loops can serve it; the kernel
    ///   distributes the connections.
    /// - Throws: `LoopError`, for example `EADDRINUSE`.
    public static func tcp(host: String, port: Int, backlog: Int = 4096, reusePort: Bool = false) throws(LoopError) -> ListeningSocket {
        let name = host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
        var (address, length) = try SocketAddress.resolve(host: host, port: port)
        let descriptor = socket(Int32(address.ss_family), Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
        if descriptor < 0 { throw LoopError(code: -errno, operation: "socket", subject: name) }
        do throws(LoopError) {
            var on: Int32 = 1
            setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, socklen_t(MemoryLayout<Int32>.size))
            if reusePort { setsockopt(descriptor, SOL_SOCKET, SO_REUSEPORT, &on, socklen_t(MemoryLayout<Int32>.size)) }
            let bound = withUnsafePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, length) }
            }
            if bound < 0 { throw LoopError(code: -errno, operation: "bind", subject: name) }
            if listen(descriptor, Int32(backlog)) < 0 { throw LoopError(code: -errno, operation: "listen", subject: name) }
            return try ListeningSocket(descriptor: descriptor)
        } catch {
            close(descriptor)
            throw error
        }
    }

    /// Duplicates the descriptor, with close-on-exec.
    ///
    /// - Throws: `LoopError` when there is no descriptor left.
    public func duplicate() throws(LoopError) -> Int32 {
        let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
        if copy < 0 { throw LoopError(code: -errno, operation: "listen", subject: name) }
        return copy
    }

    private static func option(_ name: Int32, of descriptor: Int32) -> Int32? {
        var value: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        return getsockopt(descriptor, SOL_SOCKET, name, &value, &length) == 0 ? value : nil
    }

    /// The sockets that a service manager passes with the `LISTEN_FDS` protocol (sd_listen_fds(3)); none if the variables are missing or
    /// name another process. Unsets the variables, so that child processes do not use them.
    ///
    /// - Throws: `LoopError` for a descriptor that cannot be listened on.
    public static func fromServiceManager() throws(LoopError) -> [ListeningSocket] {
        defer { for name in ["LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"] { unsetenv(name) } }
        guard let pid = variable("LISTEN_PID").flatMap(Int32.init), pid == getpid(),
            let count = variable("LISTEN_FDS").flatMap(Int32.init), (1...1024).contains(count)
        else { return [] }
        var sockets: [ListeningSocket] = []
        for descriptor in 3..<(3 + count) { sockets.append(try ListeningSocket(descriptor: descriptor)) }
        return sockets
    }

    private static func variable(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }
}

extension ListeningSocket {
    /// The sockets of `all` that a loop listens on: its own where there is one for each loop, otherwise all of them.
    public static func share(of all: [ListeningSocket], forLoop index: Int, of loops: Int) -> [ListeningSocket] {
        all.count == loops && all.allSatisfy(\.sharesPort) ? [all[index]] : all
    }
}
