import AdminProtocol
import Configuration
import HearthJSON

/// The effects of a deployment on each function, with reasons, before anything happens. A value: it can be looked at and thrown away.
struct DeploymentPlan {
    /// The state after the deployment.
    private(set) var target: DeployedState
    private(set) var changes: [FunctionChange] = []
    /// The new versions, resolved.
    private(set) var created: [ResolvedFunction] = []
    private let origin: FunctionVersion.Origin
    private let time: String
    private let options: (FunctionVersion.Key) -> FunctionOptions?
    private let mustWait: (FunctionVersion) -> Bool

    /// - Parameters:
    ///   - options: returns the options of a running version.
    ///   - mustWait: whether a version takes effect only at the next start.
    init(
        _ state: DeployedState, origin: FunctionVersion.Origin, time: String, options: @escaping (FunctionVersion.Key) -> FunctionOptions?,
        mustWait: @escaping (FunctionVersion) -> Bool
    ) {
        target = state
        self.origin = origin
        self.time = time
        self.options = options
        self.mustWait = mustWait
    }

    var isChange: Bool { changes.contains(where: \.isChange) }

    /// Adds a function that the deployment contains.
    ///
    /// - Parameter isForced: creates a new version even if nothing has changed.
    mutating func propose(_ function: ResolvedFunction, isForced: Bool = false) {
        let name = function.name
        target.seen[name] = function.version.host
        guard let known = target.functions[name], let main = known.main else {
            return add(function, .create, "new function", from: nil)
        }
        var reason: String?
        for version in known.current {
            guard let differences = differences(function, version), !differences.isEmpty else {
                if !isForced { return keep(function, version, known) }
                reason = "forced"
                continue
            }
            if version.number == main.number { reason = reason ?? differences.joined(separator: "; ") }
        }
        add(function, .update, reason ?? "forced", from: main.number)
    }

    private mutating func keep(_ function: ResolvedFunction, _ version: FunctionVersion, _ known: DeployedFunction) {
        let share = known.traffic[version.number] ?? 0
        let reason = "library, options and environment are those of version \(version.number)"
            + (share == 100 ? "" : ", which gets \(share) % of the calls")
        note(function.name, function.version.plugin, .unchanged, reason, from: version.number, to: version.number)
    }

    private mutating func add(_ function: ResolvedFunction, _ action: FunctionChange.Action, _ reason: String, from: Int?) {
        let name = function.name
        var deployed =
            target.functions[name] ?? DeployedFunction(versions: [], traffic: [:], before: nil, lastNumber: target.retired[name] ?? 0)
        target.retired[name] = nil
        deployed.lastNumber += 1
        var function = function
        function.version.number = deployed.lastNumber
        function.version.deployment = target.lastDeployment + 1
        function.version.time = time
        function.version.origin = origin
        switch function.declaration.trigger {
        case .event(let trigger): function.version.event = trigger
        case .blocking(let trigger): function.version.event = trigger.stored
        case .schedule(let trigger): function.version.event = trigger.stored
        case .task(let trigger): function.version.event = trigger.stored
        case .callable, .https: break
        }
        deployed.versions.append(function.version)
        deployed.direct([deployed.lastNumber: 100])
        deployed.forgetOldVersions()
        target.functions[name] = deployed
        created.append(function)
        let note = mustWait(function.version) ? "; takes effect at the next start of the host, because the plugin runs inside it" : ""
        self.note(name, function.version.plugin, action, reason + note, from: from, to: deployed.lastNumber)
    }

    /// Removes a function that its plugin no longer has.
    mutating func remove(_ name: String, reason: String) {
        guard let known = target.functions.removeValue(forKey: name) else { return }
        // The next local deployment does not restore a function that the last one has seen.
        if !target.local.values.contains(where: { $0.functions.contains(name) }) { target.seen[name] = nil }
        target.retired[name] = known.lastNumber
        if target.retired.count > DeployedState.retiredMax, let any = target.retired.keys.first(where: { $0 != name }) {
            target.retired[any] = nil
        }
        note(name, known.main?.plugin ?? "", .delete, reason, from: known.main?.number, to: nil)
    }

    /// Keeps a function that its plugin no longer has.
    mutating func keep(_ name: String, reason: String) {
        let main = target.functions[name]?.main
        note(name, main?.plugin ?? "", .keep, reason, from: main?.number, to: main?.number)
    }

    private mutating func note(
        _ name: String, _ plugin: String, _ action: FunctionChange.Action, _ reason: String, from: Int?, to: Int?
    ) {
        changes.append(FunctionChange(function: name, plugin: plugin, action: action, reason: reason, fromVersion: from, toVersion: to))
    }

    /// The differences from a version that runs; nil if there are none.
    private func differences(_ function: ResolvedFunction, _ version: FunctionVersion) -> [String]? {
        let proposed = function.version
        var differences: [String] = []
        if proposed.plugin != version.plugin { differences.append("moved from the plugin \(version.plugin)") }
        if proposed.artifact != version.artifact { differences.append("library changed") }
        if proposed.isIsolated != version.isIsolated {
            differences.append(proposed.isIsolated ? "now runs in separate processes" : "now runs inside the host")
        }
        if let old = options(FunctionVersion.Key(function: function.name, number: version.number)) {
            let changed = OptionsDifference.texts(from: old, to: function.options)
            if !changed.isEmpty { differences.append("options changed: \(changed.joined(separator: ", "))") }
        } else if proposed.overrides != version.overrides || proposed.host != version.host {
            differences.append("options changed")
        }
        let (old, new) = (version.environment, proposed.environment)
        let variables = Set(old.keys).union(new.keys).filter { old[$0] != new[$0] }.sorted()
        if !variables.isEmpty { differences.append("environment changed: \(variables.joined(separator: ", "))") }
        return differences.isEmpty ? nil : differences
    }

    // MARK: Other operations

    /// Directs the calls of a function to other versions.
    mutating func direct(_ name: String, _ traffic: [Int: Int], reason: String) {
        guard var known = target.functions[name] else { return }
        let (from, plugin) = (known.main?.number, known.main?.plugin ?? "")
        known.direct(traffic)
        known.forgetOldVersions()
        target.functions[name] = known
        note(name, plugin, .update, reason, from: from, to: known.main?.number)
    }

    /// Records what a local deployment has seen.
    mutating func remember(_ sight: LocalSight?, of plugin: String) { target.local[plugin] = sight }
    mutating func remember(_ host: OperatorOptions, of function: String) { target.seen[function] = host }

    /// Adds the deployment to the history.
    ///
    /// - Returns: its number; nil if nothing changes.
    mutating func conclude(origin: String) -> Int? {
        guard isChange else { return nil }
        target.revision += 1
        target.lastDeployment += 1
        target.deployments.append(
            DeploymentRecord(deployment: target.lastDeployment, time: time, origin: origin, changes: changes.filter(\.isChange)))
        target.deployments.removeFirst(max(0, target.deployments.count - DeployedState.deploymentsMax))
        return target.lastDeployment
    }
}
