import Configuration
import Deployment

public import EventLoop
public import HTTP

/// What the command line says beside `functions.json`.
public struct HostOptions: Sendable {
    /// Overrides `server.host`.
    public var host: String?
    /// Overrides `server.port`.
    public var port: Int?
    /// Where the host keeps what must outlive it.
    public var dataDirectory: String
    /// From where `owner` and unsigned tokens count in development mode; nil for ``DevelopmentAccess/loopback`` where the host listens on
    /// this machine only, and for ``DevelopmentAccess/off`` where others reach it.
    public var developmentAccess: DevelopmentAccess?
    /// What is listened on instead of host and port, where somebody else has made the sockets.
    public var sockets: [ListeningSocket] = []
    /// What the host says from which this one takes over; its sockets are listened on once that is done.
    public var takeover: TakeoverStart?
    /// Turns this process into one that stands in for the host that has taken over: gets its process id, the status with which it has
    /// ended where it has, and whether it is to end. Returns only where that fails.
    public var standIn: (@Sendable (Int32, Int32, Bool) -> Void)?
    /// Who is told how things go.
    public var serviceManager: ServiceManager?
    /// Who is told what `--watch` does; nil where nothing is watched.
    public var watch: (@Sendable (WatchReport) -> Void)?

    /// What `functions.json` says holds, unless there is a host or a port here.
    public init(host: String? = nil, port: Int? = nil, dataDirectory: String = ".hearth") {
        self.host = host
        self.port = port
        self.dataDirectory = dataDirectory
    }
}
