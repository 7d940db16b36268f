import Logging
import RealtimeDatabase

/// The figures of the live connections of a loop.
public struct LiveFigures: Sendable {
    /// Open connections by WebSocket.
    public var sockets = 0
    /// Open connections by long polling.
    public var polls = 0
    /// Their listens.
    public var listens = 0
    /// Open connections that have sent onDisconnect operations.
    public var presences = 0
    /// Connections that were ended because of a mistake of the client.
    public var mistakes = 0

    /// All figures at 0.
    public init() {}

    /// The sum with the figures of another loop.
    public static func + (left: LiveFigures, right: LiveFigures) -> LiveFigures {
        var sum = left
        sum.sockets += right.sockets
        sum.polls += right.polls
        sum.listens += right.listens
        sum.presences += right.presences
        sum.mistakes += right.mistakes
        return sum
    }

    mutating func add(_ connection: LiveConnection) {
        guard let transport = connection.transport else { return }
        if transport is LivePoll { polls += 1 } else { sockets += 1 }
        listens += connection.listens.count
        if connection.disconnects != nil { presences += 1 }
    }
}

/// Why the host ends a live connection by itself.
enum LiveEnding: String {
    /// The client has sent something that the protocol does not allow.
    case mistake
    /// There is no memory for what the client sends, or for what it is sent.
    case shortage
    /// The client has said nothing for too long.
    case silence
    /// The database does not exist.
    case unknownNamespace
    /// The database cannot be used now.
    case unavailable
    /// A credential or an App Check token has ended.
    case credential
}

/// Counts and logs the ends of the live connections of a loop.
final class LiveRecord {
    private let log: Logger
    private(set) var mistakes = 0

    init(log: Logger) { self.log = log }

    /// Notes that the host ends a connection.
    ///
    /// - Parameter reason: a sentence without data of the client.
    func note(_ ending: LiveEnding, _ reason: String, namespace: String) {
        if ending == .mistake { mistakes += 1 }
        log.debug(
            "a live connection is ended", metadata: ["cause": "\(ending.rawValue)", "reason": "\(reason)", "namespace": "\(namespace.prefix(100))"])
    }
}
