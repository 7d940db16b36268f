import CLibuv
import Glibc

/// The service manager that started this process, which gets notifications by the protocol of sd_notify(3).
///
/// Thread-safe. Notifications that cannot be sent are dropped.
public struct ServiceManager: Sendable {
    /// Opened at the start, so that a host without free descriptors can still report that it is alive; -1 for none. Never closed.
    private let descriptor: Int32
    private let address: sockaddr_un
    private let length: socklen_t
    /// The watchdog period in microseconds; nil if the manager does not watch.
    public let watchdogMicroseconds: UInt64?

    /// The manager that `NOTIFY_SOCKET` names, by a path or by an abstract name after `@`; nil if there is none. Unsets the variables, so
    /// that child processes do not notify it.
    public static func fromEnvironment() -> ServiceManager? {
        defer { for name in ["NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"] { unsetenv(name) } }
        guard let path = variable("NOTIFY_SOCKET") else { return nil }
        let isWatched = variable("WATCHDOG_PID").map { Int32($0) == getpid() } ?? true
        let watchdog = isWatched ? variable("WATCHDOG_USEC").flatMap(UInt64.init) : nil
        return ServiceManager(path: path, watchdogMicroseconds: watchdog.flatMap { $0 > 0 ? $0 : nil })
    }

    /// - Parameter path: a path, or an abstract name after `@`. The result is nil if it is neither or too long.
    public init?(path: String, watchdogMicroseconds: UInt64?) {
        var bytes = Array(path.utf8)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let room = MemoryLayout.size(ofValue: address.sun_path)
        guard bytes.count > 1, bytes.count < room, bytes[0] == UInt8(ascii: "/") || bytes[0] == UInt8(ascii: "@") else { return nil }
        // A path ends with a zero byte; an abstract name begins with one.
        if bytes[0] == UInt8(ascii: "@") { bytes[0] = 0 } else { bytes.append(0) }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        self.address = address
        length = socklen_t(MemoryLayout<sa_family_t>.size + bytes.count)
        self.path = path
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        self.watchdogMicroseconds = watchdogMicroseconds
    }

    private let path: String

    /// The environment variables by which another process of the same service can notify the manager.
    public var environment: [String] {
        ["NOTIFY_SOCKET=\(path)"] + (watchdogMicroseconds.map { ["WATCHDOG_USEC=\($0)"] } ?? [])
    }

    /// Sends all `states`, each `NAME=value`, in one message.
    public func notify(_ states: String...) {
        let text = Array(states.joined(separator: "\n").utf8)
        guard descriptor >= 0 else { return }
        var address = address
        _ = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                sendto(descriptor, text, text.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT), $0, length)
            }
        }
    }

    private static func variable(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }
}
