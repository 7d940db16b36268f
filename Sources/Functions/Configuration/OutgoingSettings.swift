/// Requests of functions to other servers, which the service `http` sends.
public struct OutgoingSettings: Sendable, Equatable {
    /// The hosts that any function may reach; nil leaves it to the functions.
    public var allowedHosts: [String]?
    /// The largest body of an answer, decompressed.
    public var responseBytesMax: Int
    /// Requests of one worker that are sent at the same time.
    public var concurrentCalls: Int
    /// PEM file of trusted authorities; nil for those of the system.
    public var certificateAuthority: String?
}

/// The cache of functions.
public struct CacheSettings: Sendable, Equatable {
    /// The memory of the values of one plugin.
    public var bytes: Int
    /// The largest value, as JSON.
    public var valueBytes: Int
}

extension ConfigurationReader {
    func cache(_ field: Field) -> CacheSettings { CacheSettings(bytes: field["bytes"].int, valueBytes: field["valueBytes"].int) }


    mutating func outgoing(_ field: Field) -> OutgoingSettings {
        OutgoingSettings(
            allowedHosts: field["allowedHosts"].stringsIfPresent, responseBytesMax: field["responseBytesMax"].int,
            concurrentCalls: field["concurrentCalls"].int, certificateAuthority: file(field["certificateAuthority"]))
    }
}
