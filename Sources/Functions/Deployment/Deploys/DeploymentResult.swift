import FunctionWorker

/// Why a deployment was not done. Nothing has changed then.
package struct DeploymentFailure: Error, Sendable {
    package enum Kind: Sendable {
        /// What was asked cannot be.
        case refused
        /// There is no such function, version or artifact.
        case unknown
        /// The state is another one than the caller thought.
        case conflict
        /// The host cannot do it now.
        case unavailable
    }

    package var kind: Kind
    /// One each.
    package var sentences: [String]
    /// Libraries that were not uploaded.
    package var absent: [String] = []

    init(_ kind: Kind, _ sentences: String...) {
        self.kind = kind
        self.sentences = sentences
    }

    init(refusals: [PluginRefusal], absent: [String] = []) {
        self.absent = absent
        kind = .refused
        sentences = refusals.map(\.description)
    }
}

/// What a deployment did.
package struct DeploymentResult: Sendable {
    /// How long its parts took, in milliseconds.
    struct Durations: Sendable {
        /// Reading, copying, probing.
        var load = 0.0
        /// Working out options, and starting workers.
        var prepare = 0.0
        /// Making it durable.
        var write = 0.0
        /// Until every loop knew it.
        var publish = 0.0
    }

    /// Its number; nil where nothing changed.
    package var deployment: Int?
    package var revision = 0
    package var changes: [FunctionChange] = []
    /// Of a local deployment: a sentence for each plugin or function that is left as it was.
    var refusals: [PluginRefusal] = []
    /// Of a local deployment: the functions that are to blame for a refusal. Empty where a whole library is.
    var refused: Set<String> = []
    var durations = Durations()
}
