import EventLoop
import HearthJSON

/// The messages between a host and the one that takes over from it: a letter and its data.
enum UpgradeMessage: UInt8 {
    // From the old host.

    /// The JSON of ``TakeoverStart``, with the listening sockets.
    case start = 0x53
    /// The databases are closed: open them and serve.
    case take = 0x54
    /// The takeover is complete. No data.
    case commit = 0x4D
    /// A connection, in the form of ``ConnectionTransfer``.
    case connection = 0x43
    /// A part of a function's service call, in the form of ``RelayPart``.
    case call = 0x56
    /// Events whose functions still run in the old host, in the form of ``RunningEvents``.
    case running = 0x52
    /// The result of one of them, in the form of ``RunningEvents``.
    case result = 0x4F
    /// The answer to a service call is of no use any more: its number, in the form of ``RelayPart``.
    case callEnds = 0x45

    // From the new host.

    /// The new host is ready. JSON with `functions` and `refusals`.
    case prepared = 0x50
    /// The new host cannot serve. A sentence.
    case failed = 0x46
    /// The new host serves.
    case serving = 0x44
    /// A part of the answer to a service call, in the form of ``RelayPart``.
    case answer = 0x41

    func bytes(_ rest: some Sequence<UInt8>) -> [UInt8] { [rawValue] + rest }
    func bytes(_ value: JSONValue) -> [UInt8] { bytes(value.serialized()) }
    var bytes: [UInt8] { [rawValue] }
}

/// The first message to a host that takes over.
public struct TakeoverStart: Sendable {
    /// The version of the messages.
    static let version = 1
    /// The environment variable with the channel's descriptor.
    static let variable = "HEARTH_TAKEOVER"

    /// The descriptor of the channel.
    let descriptor: Int32
    /// The sockets to listen on.
    let sockets: [ListeningSocket]
    /// The number of workers of each function in the old host, by name.
    let workers: [String: Int]
    /// The path of the record of deployed functions, if it is not in the data directory.
    let deployed: String?
}
