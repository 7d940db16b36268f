public import HTTP
public import HearthJSON
import Synchronization
import Tree

/// What the front ends of all loops have in common. Copies share the push ids and the staged rules.
public struct DatabaseFrontEndSettings: Sendable {
    /// Whether any client's first write makes a namespace.
    public var isDevelopment = false
    /// From where `owner` is an administrator's token, and from where tokens without a signature count; nil in production mode.
    public var developmentAccess: DevelopmentAccess?
    /// The bearer token of administrators; nobody is one where it is empty.
    public var adminToken: [UInt8] = []
    /// The proxies that are believed where they name a client.
    public var proxies = TrustedProxies()
    /// How often an event stream shows that it lives, in milliseconds.
    public var keepAliveMilliseconds: UInt64 = 30_000
    /// How much of a stream's news waits for a slow client before only the newest value is sent, in bytes.
    public var streamBacklogBytesMax = 256 * 1024
    /// The triggers of a namespace, for `/.settings/functionTriggers.json`.
    public var functionTriggers: @Sendable (_ namespace: String) -> JSONValue = { _ in .array([]) }

    let pushIDs = PushIDSource()
    let staging = RulesStaging()

    /// The defaults.
    public init() {}
}

/// Push ids that rise over all loops.
final class PushIDSource: Sendable {
    private let generator = Mutex(PushID())

    func next() -> String { generator.withLock { $0.next(now: UnixTime.milliseconds()) } }
}
