import Glibc
import Synchronization

/// Who reads the answers of a project's databases that are too long for one piece.
///
/// Each of them holds a snapshot, and so a connection of its own and all that was written since in the log of changes, for as long as
/// its client takes to read it. Can be used from any thread.
final class LongReads: Sendable {
    /// How many one client may read at a time.
    let perClientMax: Int
    private let counts = Mutex<[String: Int]>([:])

    init(perClientMax: Int) {
        self.perClientMax = perClientMax
    }

    /// One of a client's answers, from here to its `deinit`.
    final class Seat: Sendable {
        private let client: String
        private let reads: LongReads

        fileprivate init(_ client: String, _ reads: LongReads) {
            self.client = client
            self.reads = reads
        }

        deinit { reads.leave(client) }
    }

    /// Counts one answer more.
    ///
    /// - Returns: nil where the client reads as many as it may.
    func enter(_ client: String) -> Seat? {
        let hasRoom = counts.withLock { counts in
            let count = counts[client, default: 0]
            guard count < perClientMax else { return false }
            counts[client] = count + 1
            return true
        }
        return hasRoom ? Seat(client, self) : nil
    }

    private func leave(_ client: String) {
        counts.withLock { counts in
            let left = counts[client, default: 1] - 1
            counts[client] = left > 0 ? left : nil
        }
    }
}

/// Which addresses are one client.
enum ClientAddress {
    /// The address without its port; of an IPv6 address the network, since a client has all addresses of one.
    ///
    /// - Parameter peer: `127.0.0.1:50000`, `[::1]:50000`, or an address that a proxy names, without a port.
    static func group(_ peer: String) -> String {
        guard peer.contains("[") || peer.utf8.count(where: { $0 == UInt8(ascii: ":") }) > 1 else {
            return String(peer.prefix { $0 != ":" })
        }
        let address = String(peer.drop { $0 == "[" }.prefix { $0 != "]" })
        var bytes = in6_addr()
        guard inet_pton(AF_INET6, address, &bytes) == 1 else { return address }
        return withUnsafeBytes(of: bytes) { bytes in
            let isVersionFour = bytes[..<10].allSatisfy { $0 == 0 } && bytes[10] == 0xFF && bytes[11] == 0xFF
            return bytes[isVersionFour ? 12..<16 : 0..<8].map { String($0) }.joined(separator: ".") + (isVersionFour ? "" : "/64")
        }
    }
}
