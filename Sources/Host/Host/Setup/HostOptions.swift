import Configuration
import Deployment

public import EventLoop
public import HTTP

/// The options of the command line, which supplement `functions.json`.
public struct HostOptions: Sendable {
    /// Overrides `server.host`.
    public var host: String?
    /// Overrides `server.port`.
    public var port: Int?
    /// The folder for persistent data.
    public var dataDirectory: String
    /// The requests in which `owner` and unsigned tokens are accepted in development mode. Nil means ``DevelopmentAccess/loopback`` if the host can
    /// be reached from this machine only, and otherwise ``DevelopmentAccess/off``.
    public var developmentAccess: DevelopmentAccess?
    /// Sockets to listen on instead of host and port, if another program has created them.
    public var sockets: [ListeningSocket] = []
    /// The message of a host to take over from. Its sockets are used after the takeover.
    public var takeover: TakeoverStart?
    /// Replaces this process by a stand-in for the host that has taken over. Arguments: its process id, its exit status if it has ended, and
    /// whether to end it. Returns only on failure.
    public var standIn: (@Sendable (Int32, Int32, Bool) -> Void)?
    /// The service manager, which is notified of the host's state.
    public var serviceManager: ServiceManager?
    /// Receives the reports of `--watch`; nil without it.
    public var watch: (@Sendable (WatchReport) -> Void)?

    /// Options that override nothing, unless a host or port is given.
    public init(host: String? = nil, port: Int? = nil, dataDirectory: String = ".hearth") {
        self.host = host
        self.port = port
        self.dataDirectory = dataDirectory
    }
}
