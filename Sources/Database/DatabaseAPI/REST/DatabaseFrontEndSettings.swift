public import HearthJSON
public import HTTP
import RealtimeDatabase
import Synchronization
public import Telemetry
import Tree

/// The common settings of the front ends of all loops. Copies share the push ids and the staged rules.
public struct DatabaseFrontEndSettings: Sendable {
    /// Whether the first write of any client creates a namespace.
    public var isDevelopment = false
    /// The requests in which `owner` and unsigned tokens are accepted; nil in production mode.
    public var developmentAccess: DevelopmentAccess?
    /// Whether requests need a valid App Check token, except those of administrators.
    public var enforcesAppCheck = false
    /// The bearer token of administrators. If it is empty, nobody is an administrator.
    public var adminToken: [UInt8] = []
    /// The proxies that are trusted to state a client's address.
    public var proxies = TrustedProxies()
    /// The interval of keep-alive events in event streams, in milliseconds.
    public var keepAliveMilliseconds: UInt64 = 30_000
    /// The number of bytes that may wait for a slow client before only the newest value is sent.
    public var streamBacklogBytesMax = 256 * 1024
    /// Records spans of writes on the front end's loop; nil if none are recorded.
    public var tracing: Tracing?
    /// The triggers of a namespace, for `/.settings/functionTriggers.json`.
    public var functionTriggers: @Sendable (_ namespace: String) -> JSONValue = { _ in .array([]) }

    let pushIDs = PushIDSource()
    let staging = RulesStaging()

    /// The defaults.
    public init() {}
}

/// Creates push ids in ascending order over all loops.
final class PushIDSource: Sendable {
    private let generator = Mutex(PushID())

    func next() -> String { generator.withLock { $0.next(now: UnixTime.milliseconds()) } }
}
