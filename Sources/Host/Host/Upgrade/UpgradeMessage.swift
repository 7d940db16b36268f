import EventLoop
import HearthJSON

/// What a host and the one that takes over from it say to each other: a letter, and what belongs to it.
enum UpgradeMessage: UInt8 {
    // From the old host.

    /// JSON of ``TakeoverStart``, with the listening sockets.
    case start = 0x53
    /// The databases are free; serve.
    case take = 0x54
    /// From now on the new host is the one; JSON of nothing.
    case commit = 0x4D
    /// A connection; ``ConnectionTransfer`` says how it is written.
    case connection = 0x43
    /// A part of a function's service call: ``RelayPart``.
    case call = 0x56

    // From the new host.

    /// It could serve now: JSON with `functions` and `refusals`.
    case prepared = 0x50
    /// It cannot: a sentence.
    case failed = 0x46
    /// It serves.
    case serving = 0x44
    /// A part of the answer to a service call: ``RelayPart``.
    case answer = 0x41

    func bytes(_ rest: some Sequence<UInt8>) -> [UInt8] { [rawValue] + rest }
    func bytes(_ value: JSONValue) -> [UInt8] { bytes(value.serialized()) }
    var bytes: [UInt8] { [rawValue] }
}

/// What a host is told by the one that it takes over from, before it does anything else.
public struct TakeoverStart: Sendable {
    /// The version of what both say to each other.
    static let version = 1
    /// The variable that names the descriptor of the channel.
    static let variable = "HEARTH_TAKEOVER"

    /// The channel's descriptor.
    let descriptor: Int32
    /// The sockets to listen on.
    let sockets: [ListeningSocket]
    /// How many workers each function has there, by its name.
    let workers: [String: Int]
    /// The record of what is deployed, where it is not the data directory's.
    let deployed: String?
}
