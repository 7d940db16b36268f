import AdminProtocol
import FunctionWorker

/// The reason why a deployment was not carried out. Nothing has changed then.
package struct DeploymentFailure: Error, Sendable {
    package enum Kind: Sendable {
        /// The request cannot be carried out.
        case refused
        /// There is no such function, version or artifact.
        case unknown
        /// The deployed state is not the one that the caller has seen.
        case conflict
        /// The host cannot do it now.
        case unavailable
    }

    package var kind: Kind
    /// One sentence for each reason.
    package var sentences: [String]
    /// Libraries that were not uploaded.
    package var absent: [String] = []
    /// The functions whose new versions caused the failure, with a sentence for each.
    var blamed: [String: PluginRefusal] = [:]

    init(_ kind: Kind, _ sentences: String...) {
        self.kind = kind
        self.sentences = sentences
    }

    init(refusals: [PluginRefusal], absent: [String] = []) {
        self.absent = absent
        kind = .refused
        sentences = refusals.map(\.description)
    }

    init(blamed: [String: PluginRefusal]) {
        self.init(refusals: blamed.sorted { $0.key < $1.key }.map(\.value))
        self.blamed = blamed
    }
}

/// The outcome of a deployment.
package struct DeploymentResult: Sendable {
    /// The durations of the parts, in milliseconds.
    struct Durations: Sendable {
        /// Reading, copying and probing.
        var load = 0.0
        /// Resolving options and starting workers.
        var prepare = 0.0
        /// Writing the record durably.
        var write = 0.0
        /// Publishing to every loop.
        var publish = 0.0
    }

    /// The number of the deployment; nil if nothing has changed.
    package var deployment: Int?
    package var revision = 0
    package var changes: [FunctionChange] = []
    /// A local deployment: one sentence for each plugin or function that stays as it was.
    var refusals: [PluginRefusal] = []
    /// A local deployment: the functions to blame for a refusal. Empty if a whole library is to blame.
    var refused: Set<String> = []
    var durations = Durations()
}
