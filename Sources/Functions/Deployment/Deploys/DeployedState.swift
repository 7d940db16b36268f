import AdminProtocol
import HearthJSON

/// The deployed functions and their history: the contents of `deployed.json`.
package struct DeployedState: Codable, Sendable, Equatable {
    /// Increased by each change.
    package var revision = 0
    /// The number of the newest deployment.
    var lastDeployment = 0
    package var functions: [String: DeployedFunction] = [:]
    /// The last version numbers of deleted functions, because numbers are never reused.
    var retired: [String: Int] = [:]
    /// Each plugin of `functions.json` at the last local deployment.
    var local: [String: LocalSight] = [:]
    /// The options of each function in `functions.json` when it was last read.
    var seen: [String: OperatorOptions] = [:]
    /// The history, oldest first.
    package var deployments: [DeploymentRecord] = []

    static let deploymentsMax = 100
    static let versionsMax = 10
    static let retiredMax = 1000

    /// The hashes of all libraries in the state.
    var artifacts: Set<String> {
        Set(functions.values.flatMap { $0.versions.map(\.artifact) }).union(local.values.map(\.artifact))
    }

    /// The name of a function's plugin.
    func plugin(of function: String) -> String? { functions[function]?.main?.plugin }
}

/// A function with its versions.
package struct DeployedFunction: Codable, Sendable, Equatable {
    /// The newest versions and those that get calls, oldest first.
    package var versions: [FunctionVersion]
    /// The percentage of calls by version. The sum is 100.
    package var traffic: [Int: Int]
    /// The previous version that got all calls.
    var before: Int?
    /// The last used version number.
    var lastNumber: Int

    func version(_ number: Int) -> FunctionVersion? { versions.first { $0.number == number } }

    /// The version that gets the most calls; the newer one of two with equal percentages.
    package var main: FunctionVersion? {
        traffic.max { ($0.value, $0.key) < ($1.value, $1.key) }.flatMap { version($0.key) }
    }

    /// The versions that get calls, in descending order of their percentages.
    var current: [FunctionVersion] {
        traffic.filter { $0.value > 0 }.sorted { ($0.value, $0.key) > ($1.value, $1.key) }.compactMap { version($0.key) }
    }

    /// Changes the percentages, and remembers the version that got all calls until now.
    mutating func direct(_ traffic: [Int: Int]) {
        if self.traffic.count == 1, let all = self.traffic.first?.key, traffic[all] != 100 { before = all }
        self.traffic = traffic
    }

    /// Removes the oldest versions.
    mutating func forgetOldVersions() {
        let newest = Set(versions.map(\.number).sorted().suffix(DeployedState.versionsMax))
        versions.removeAll { !newest.contains($0.number) && traffic[$0.number] == nil && before != $0.number }
    }
}

/// The state of a plugin of `functions.json` at a local deployment.
struct LocalSight: Codable, Sendable, Equatable {
    var artifact: String
    var file: String
    var isIsolated: Bool
    var environment: [String: String]
    /// The functions that could be served.
    var functions: [String]

    enum CodingKeys: String, CodingKey {
        case artifact, file, isIsolated = "isolated", environment, functions
    }

    /// Whether library, isolation and environment are the same, regardless of options.
    func isSameLibrary(as other: LocalSight) -> Bool {
        artifact == other.artifact && isIsolated == other.isIsolated && environment == other.environment
    }
}
