import Configuration
import EventLoop
import HearthBytes

/// Operations on a single function.
extension Deployer {
    /// Sends all calls of a function to another version of it.
    ///
    /// - Parameter version: nil for the previous version that got all calls.
    package func rollBack(_ name: String, to version: Int?) async throws(DeploymentFailure) -> DeploymentResult {
        try await change(name, as: "rollback") { (plan, function) throws(DeploymentFailure) in
            guard let number = version ?? function.before else {
                let others = function.versions.count > 1
                throw DeploymentFailure(
                    .refused,
                    others
                        ? "\(name) has had no other version before; choose one with --to; its versions: \(function.numbers)"
                        : "\(name) has had no other version before; its versions: \(function.numbers)")
            }
            guard let known = function.version(number) else {
                throw DeploymentFailure(.unknown, "\(name) has no version \(number); its versions: \(function.numbers)")
            }
            guard function.traffic != [number: 100] else {
                throw DeploymentFailure(.refused, "version \(number) of \(name) gets all calls already")
            }
            plan.direct(name, [number: 100], reason: "rolled back to version \(number) of \(known.time)")
        }
    }

    /// Splits the calls of a function between versions of it.
    ///
    /// - Parameter traffic: the percentages of one or two versions. Their sum must be 100.
    package func split(_ name: String, _ traffic: [Int: Int]) async throws(DeploymentFailure) -> DeploymentResult {
        try await change(name, as: "split") { (plan, function) throws(DeploymentFailure) in
            guard (1...2).contains(traffic.count), traffic.values.allSatisfy({ (1...100).contains($0) }), traffic.values.reduce(0, +) == 100
            else {
                throw DeploymentFailure(.refused, "versions must name one or two versions, with whole percentages from 1 that add up to 100")
            }
            if let unknown = traffic.keys.sorted().first(where: { function.version($0) == nil }) {
                throw DeploymentFailure(.unknown, "\(name) has no version \(unknown); its versions: \(function.numbers)")
            }
            try checkSplit(name, traffic.keys.sorted().compactMap(function.version))
            guard function.traffic != traffic else { return }
            let shares = traffic.sorted { $0.key < $1.key }.map { "\($0.value) % to version \($0.key)" }.joined(separator: ", ")
            plan.direct(name, traffic, reason: "calls split: \(shares)")
        }
    }

    /// Checks that the versions have the same trigger, so that it can choose between them.
    private func checkSplit(_ name: String, _ versions: [FunctionVersion]) throws(DeploymentFailure) {
        guard versions.count == 2 else { return }
        guard versions.allSatisfy(\.isIsolated) else {
            throw DeploymentFailure(.refused, "\(name) runs inside the host, where there is one version of a plugin only")
        }
        let declared = versions.map { version in
            manifests.known(version.artifact)?.functions.first { $0.name == name }
        }
        guard let first = declared[0], let second = declared[1], first.trigger == second.trigger, first.generation == second.generation else {
            let both = "versions \(versions[0].number) and \(versions[1].number)"
            throw DeploymentFailure(.refused, "\(both) of \(name) have different triggers, so that calls cannot be split")
        }
    }

    /// Deletes a function with all of its versions. Requests that have started are answered.
    package func delete(_ name: String) async throws(DeploymentFailure) -> DeploymentResult {
        try await change(name, as: "delete") { (plan, _) throws(DeploymentFailure) in plan.remove(name, reason: "deleted by name") }
    }

    private func change(
        _ name: String, as origin: String, _ make: (inout DeploymentPlan, DeployedFunction) throws(DeploymentFailure) -> Void
    ) async throws(DeploymentFailure) -> DeploymentResult {
        try await turns.alone { () async throws(DeploymentFailure) in
            guard !isStopped else { throw DeploymentFailure(.unavailable, "the host is stopping") }
            guard let function = state.functions[name] else { throw DeploymentFailure(.unknown, noFunction(name)) }
            await loadManifests(of: function)
            var plan = newPlan(.deploy)
            try make(&plan, function)
            return try await commit(plan, as: origin)
        }
    }

    /// The message about a name that no function has.
    package func noFunction(_ name: String) -> String {
        let hint = Spelling.question(for: name, among: state.functions.keys.sorted()).map { "; \($0)" } ?? ""
        return "there is no function \(name)\(hint)"
    }

    /// Loads the known manifests of a function's libraries into memory.
    private func loadManifests(of function: DeployedFunction) async {
        let unknown = function.versions.filter { manifests.known($0.artifact) == nil }
        let needed = Dictionary(unknown.map { ($0.artifact, $0) }) { first, _ in first }
        _ = await loop.concurrently(Array(needed.values)) { [self] version in
            await manifests.read(leases.artifact(plugin: version.plugin, hash: version.artifact, file: version.file))
        }
    }
}

extension DeployedFunction {
    /// The version numbers, for a sentence.
    fileprivate var numbers: String { versions.map { "\($0.number)" }.joined(separator: ", ") }
}
