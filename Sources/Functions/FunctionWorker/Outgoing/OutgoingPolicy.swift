import HearthJSON

/// The settings of the service `http` for one worker.
public struct OutgoingPolicy: Hashable, Sendable {
    /// The hosts that the worker's functions may send requests to, as `allowedHosts` in `functions.json`; nil for every public one.
    public var allowedHosts: [String]?
    /// The hosts that any function may send requests to; nil leaves it to the functions.
    public var allowedForAll: [String]?
    /// The largest body of an answer.
    public var responseBytesMax = 8 << 20
    /// Requests of a worker that are sent at the same time.
    public var callsMax = 32
    /// PEM file of trusted authorities; nil for those of the system.
    public var certificateAuthority: String?

    /// The defaults: every public host.
    public init() {}

    /// The JSON that a host sends to its workers.
    public var text: String {
        var object: JSONObject = ["bytes": .int(Int64(responseBytesMax)), "calls": .int(Int64(callsMax))]
        object["hosts"] = allowedHosts.map { .array($0.map { .string($0) }) }
        object["all"] = allowedForAll.map { .array($0.map { .string($0) }) }
        object["authority"] = certificateAuthority.map { .string($0) }
        return String(decoding: JSONValue.object(object).serialized(), as: UTF8.self)
    }

    /// The settings that a host has sent; nil for other text.
    init?(text: String) {
        guard let value = try? JSONValue(parsing: Array(text.utf8)), let bytes = value["bytes"]?.int, let calls = value["calls"]?.int else {
            return nil
        }
        responseBytesMax = bytes
        callsMax = calls
        allowedHosts = value["hosts"]?.array?.compactMap(\.string)
        allowedForAll = value["all"]?.array?.compactMap(\.string)
        certificateAuthority = value["authority"]?.string
    }
}
