import HearthJSON

/// What a host runs, and what it ran before: the contents of `deployed.json`.
package struct DeployedState: Codable, Sendable, Equatable {
    /// Grows with each change.
    package var revision = 0
    /// The number of the newest deployment.
    var lastDeployment = 0
    package var functions: [String: DeployedFunction] = [:]
    /// The last number of functions that were deleted: numbers are never used again.
    var retired: [String: Int] = [:]
    /// What the last local deployment saw of each plugin of `functions.json`.
    var local: [String: LocalSight] = [:]
    /// What `functions.json` said of each function when it was last looked at.
    var seen: [String: OperatorOptions] = [:]
    /// Oldest first.
    package var deployments: [DeploymentRecord] = []

    static let deploymentsMax = 100
    static let versionsMax = 10
    static let retiredMax = 1000

    /// The artifacts that some version or sight names.
    var artifacts: Set<String> {
        Set(functions.values.flatMap { $0.versions.map(\.artifact) }).union(local.values.map(\.artifact))
    }

    /// The name of the plugin that a function is of.
    func plugin(of function: String) -> String? { functions[function]?.main?.plugin }
}

/// A function with its versions.
package struct DeployedFunction: Codable, Sendable, Equatable {
    /// Oldest first: the newest ones, and those that calls go to.
    package var versions: [FunctionVersion]
    /// Percent of the calls by version; the sum is 100.
    package var traffic: [Int: Int]
    /// The version that had all calls before.
    var before: Int?
    /// The newest number that was given.
    var lastNumber: Int

    func version(_ number: Int) -> FunctionVersion? { versions.first { $0.number == number } }

    /// The version that gets most calls; of two that get as many, the newer one.
    package var main: FunctionVersion? {
        traffic.max { ($0.value, $0.key) < ($1.value, $1.key) }.flatMap { version($0.key) }
    }

    /// The versions that get calls, the one with most of them first.
    var current: [FunctionVersion] {
        traffic.filter { $0.value > 0 }.sorted { ($0.value, $0.key) > ($1.value, $1.key) }.compactMap { version($0.key) }
    }

    /// Sends calls elsewhere, and remembers where all of them went.
    mutating func direct(_ traffic: [Int: Int]) {
        if self.traffic.count == 1, let all = self.traffic.first?.key, traffic[all] != 100 { before = all }
        self.traffic = traffic
    }

    /// Lets go of the oldest versions.
    mutating func forgetOldVersions() {
        let newest = Set(versions.map(\.number).sorted().suffix(DeployedState.versionsMax))
        versions.removeAll { !newest.contains($0.number) && traffic[$0.number] == nil && before != $0.number }
    }
}

/// A plugin of `functions.json` as a local deployment saw it.
struct LocalSight: Codable, Sendable, Equatable {
    var artifact: String
    var file: String
    var isIsolated: Bool
    var environment: [String: String]
    /// Its functions, those left out that could not be served.
    var functions: [String]

    enum CodingKeys: String, CodingKey {
        case artifact, file, isIsolated = "isolated", environment, functions
    }

    /// Whether the library and its surroundings are the same, whatever options say.
    func isSameLibrary(as other: LocalSight) -> Bool {
        artifact == other.artifact && isIsolated == other.isIsolated && environment == other.environment
    }
}

/// One act that changed functions.
package struct DeploymentRecord: Codable, Sendable, Equatable {
    package var deployment: Int
    /// RFC 3339.
    package var time: String
    /// `local`, `deploy`, `rollback`, `split` or `delete`.
    package var origin: String
    package var changes: [FunctionChange]
}

/// What a deployment does to one function.
package struct FunctionChange: Codable, Sendable, Equatable {
    enum Action: String, Codable, Sendable {
        case create, update, delete, unchanged
        /// Gone from the plugin, and kept since nobody asked for its removal.
        case keep
    }

    var function: String
    var plugin: String
    var action: Action
    /// Why, in a few words.
    var reason: String
    package var fromVersion: Int?
    package var toVersion: Int?

    package var json: JSONValue {
        var object: JSONObject = [
            "function": .string(function), "plugin": .string(plugin), "action": .string(action.rawValue), "reason": .string(reason),
        ]
        if let fromVersion { object["fromVersion"] = JSONValue(fromVersion) }
        if let toVersion { object["toVersion"] = JSONValue(toVersion) }
        return .object(object)
    }

    /// Whether anything happens.
    var isChange: Bool { action != .unchanged && action != .keep }
}
