import Configuration
import FunctionDispatch
import FunctionWorker

/// The address of a host.
public struct HostAddress: Sendable, CustomStringConvertible {
    /// The name or address in the configuration, without brackets.
    public let host: String
    /// The port; the chosen one if the configuration asks for any.
    public let port: Int
    /// Whether it serves HTTPS.
    public let isTLS: Bool

    /// Host and port, for example `127.0.0.1:5001`.
    public var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }

    /// For example `http://127.0.0.1:5001`.
    public var url: String { "\(isTLS ? "https" : "http")://\(self)" }
}

/// The facts for the user when a host starts to serve.
public struct HostSummary: Sendable {
    /// A function in the table.
    public struct Function: Sendable {
        /// The name as in its URL, including the group.
        public let name: String
        /// `callable`, `https`, or the event's type.
        public let trigger: String
        /// The plugin's name in `functions.json`, or in a deployment.
        public let plugin: String
        /// The version number. If calls are split between two versions, the one with the larger part.
        public let version: Int
        /// The URL; nil for functions that are triggered by events.
        public let url: String?
    }

    /// The address that the host listens on.
    public let address: HostAddress
    /// The mode.
    public let mode: Configuration.Mode
    /// The project's id.
    public let project: String
    /// The folder with databases, deployments and logs.
    public let dataDirectory: String
    /// The database for requests that name none.
    public let defaultNamespace: String
    /// A warning that other machines can reach the host; nil if they cannot.
    public internal(set) var warning: String?
    /// The served functions, in the order of the table.
    public let functions: [Function]
    /// A sentence for each plugin or function that is left out.
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
            case .blocking(let blocking):
                return Function(name: function.name, trigger: blocking.eventType, plugin: plugin, version: version, url: nil)
            case .task(let queue):
                let trigger = "task queue (\(queue.rate))"
                return Function(name: function.name, trigger: trigger, plugin: plugin, version: version, url: nil)
            case .schedule(let schedule):
                return Function(name: function.name, trigger: "scheduled (\(schedule.schedule))", plugin: plugin, version: version, url: nil)
            case .event(let event): return Function(name: function.name, trigger: event.eventType, plugin: plugin, version: version, url: nil)
            }
        }
    }
}
