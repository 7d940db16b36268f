import Configuration
import FunctionDispatch
import FunctionWorker

/// Where a host is reached.
public struct HostAddress: Sendable, CustomStringConvertible {
    /// As it was asked for: a name or an address, without brackets.
    public let host: String
    /// The one that was taken where any was asked for.
    public let port: Int
    /// Whether it serves HTTPS.
    public let isTLS: Bool

    /// Host and port, for example `127.0.0.1:5001`.
    public var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }

    /// For example `http://127.0.0.1:5001`.
    public var url: String { "\(isTLS ? "https" : "http")://\(self)" }
}

/// What a host tells its user once it serves.
public struct HostSummary: Sendable {
    /// One function of the table.
    public struct Function: Sendable {
        /// As in its URL, group included.
        public let name: String
        /// `callable`, `https`, or the event's type.
        public let trigger: String
        /// The plugin's name in `functions.json`, or in a deployment.
        public let plugin: String
        /// The number of its version; of two that share the calls, of the one that gets most.
        public let version: Int
        /// Where it is called; nil for what events start.
        public let url: String?
    }

    /// Where the host listens.
    public let address: HostAddress
    /// Whom it runs for.
    public let mode: Configuration.Mode
    /// Id of the project.
    public let project: String
    /// Where the databases, deployments and logs are kept.
    public let dataDirectory: String
    /// The database of requests that name none.
    public let defaultNamespace: String
    /// A warning that other machines reach the host; nil if none do.
    public internal(set) var warning: String?
    /// Those that are served, in the order of the table.
    public let functions: [Function]
    /// One sentence for each plugin or function that is left out.
    public let refusals: [String]

    init(
        _ configuration: Configuration, address: HostAddress, dataDirectory: String, functions: [RegisteredFunction], refusals: [PluginRefusal]
    ) {
        self.address = address
        mode = configuration.mode
        project = configuration.project
        self.dataDirectory = dataDirectory
        defaultNamespace = configuration.database.defaultNamespace
        self.refusals = refusals.map(\.description)
        self.functions = functions.map { function in
            let url = "\(address.url)/\(configuration.project)/\(function.region)/\(function.name)"
            let plugin = function.artifact.name
            let version = function.version
            switch function.trigger {
            case .callable: return Function(name: function.name, trigger: "callable", plugin: plugin, version: version, url: url)
            case .https: return Function(name: function.name, trigger: "https", plugin: plugin, version: version, url: url)
            case .event(let event): return Function(name: function.name, trigger: event.eventType, plugin: plugin, version: version, url: nil)
            }
        }
    }
}
