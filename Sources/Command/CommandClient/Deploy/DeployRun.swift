import AdminProtocol
import HearthJSON

/// Plans a deployment and carries it out; plans again if another deployment came first.
package struct DeployRun {
    /// The user's decision about the deployment and about functions that vanished from their plugins.
    package enum Decision: Sendable {
        case deploy(removes: Bool)
        /// Stop after the plan.
        case stop
    }

    /// The end of a deployment.
    package enum Ending: Sendable {
        /// The functions are already up to date.
        case nothingToDo(DeploymentSummary)
        case stopped(DeploymentSummary)
        case deployed(DeploymentSummary)
    }

    /// Callbacks for the steps.
    package struct Steps {
        /// Uploads libraries that the host lacks.
        package var upload: () throws(ClientFailure) -> Void
        /// Called with the names of all functions in the plugins, selected or not.
        package var learn: (_ functions: [String]) -> Void
        /// Shows a plan; `isAgain` if it replaces an outdated one.
        package var show: (_ plan: DeploymentSummary, _ isAgain: Bool) -> Void
        /// Decides; called again only if other functions would be deleted.
        package var decide: (DeploymentSummary) throws(ClientFailure) -> Decision
        /// Called immediately before the request to switch. From then on the host may have switched.
        package var willSwitch: () -> Void
        /// Called if the host has certainly not switched.
        package var didNotSwitch: () -> Void

        /// Uploading, showing and deciding are required; the others are optional.
        package init(
            upload: @escaping () throws(ClientFailure) -> Void, learn: @escaping ([String]) -> Void = { _ in },
            show: @escaping (DeploymentSummary, Bool) -> Void,
            decide: @escaping (DeploymentSummary) throws(ClientFailure) -> Decision, willSwitch: @escaping () -> Void = {},
            didNotSwitch: @escaping () -> Void = {}
        ) {
            self.upload = upload
            self.learn = learn
            self.show = show
            self.decide = decide
            self.willSwitch = willSwitch
            self.didNotSwitch = didNotSwitch
        }
    }

    private let functions: FunctionsClient
    private let plugins: [DeployedPlugin]
    private let filter: FunctionSelection
    private let steps: Steps
    /// The decision, and the deletions it was made for.
    private var decision: (Decision, deletions: [String])?
    /// The request whose outcome is unknown because the connection broke.
    private var uncertain: DeploymentSummary?

    /// The refusal of the last attempt, if the host had lost a library.
    private var loss: ClientFailure?

    /// The most attempts when other deployments keep coming first.
    private static let attemptsMax = 20

    /// A deployment of the selected part of `plugins`.
    package init(_ client: HostClient, plugins: [DeployedPlugin], selection: FunctionSelection, steps: Steps) {
        functions = FunctionsClient(client)
        self.plugins = plugins
        filter = selection
        self.steps = steps
    }

    /// Runs the deployment.
    ///
    /// - Throws: `ClientFailure`; nothing was changed then, unless its kind is `interrupted`.
    package mutating func run() throws(ClientFailure) -> Ending {
        for attempt in 0..<Self.attemptsMax {
            try steps.upload()
            guard let plan = try plan() else { continue }
            loss = nil
            if let ending = try carryOut(plan, isAgain: attempt > 0) { return ending }
        }
        if let loss { throw loss }
        throw ClientFailure(
            .refused(status: 409), "other deployments to \(functions.client.url) keep coming first; nothing was changed; try again later")
    }

    /// - Returns: nil if the host has lost a library.
    private mutating func plan() throws(ClientFailure) -> DeploymentSummary? {
        do throws(ClientFailure) {
            let request = DeploymentRequest(plugins: plugins.map(\.request), validateOnly: true, removes: true)
            let whole = try Patience.trying { () throws(ClientFailure) in try functions.deploy(request) }
            steps.learn(whole.changes(.create, .update, .unchanged).map(\.function))
            return try filter.applied(to: whole)
        } catch {
            guard isForLackOfLibrary(error) else { throw error }
            loss = error
            return nil
        }
    }

    /// - Returns: nil if it has to be planned again.
    private mutating func carryOut(_ plan: DeploymentSummary, isAgain: Bool) throws(ClientFailure) -> Ending? {
        guard plan.changesAnything else { return uncertain.map { .deployed($0) } ?? .nothingToDo(plan) }
        steps.show(plan, isAgain)
        guard case .deploy(let removes) = try decided(plan) else { return .stopped(plan) }
        let plan = removes ? plan : plan.withoutDeletions
        guard plan.changesAnything else { return .nothingToDo(plan) }
        let names = filter.isEverything ? nil : Set(plan.changes.map(\.function))
        let request = DeploymentRequest(
            plugins: plugins.map(\.request), names: names, validateOnly: false, removes: removes, expectedRevision: plan.revision)
        return try deploy(request, plan)
    }

    private mutating func decided(_ plan: DeploymentSummary) throws(ClientFailure) -> Decision {
        let deletions = plan.changes(.delete).map(\.function)
        if let decision, decision.deletions == deletions { return decision.0 }
        let fresh = try steps.decide(plan)
        decision = (fresh, deletions)
        return fresh
    }

    private mutating func deploy(_ request: DeploymentRequest, _ plan: DeploymentSummary) throws(ClientFailure) -> Ending? {
        var patience = Patience()
        steps.willSwitch()
        while true {
            do throws(ClientFailure) {
                return .deployed(try functions.deploy(request).keeping { filter.matches($0) })
            } catch {
                switch error.kind {
                case .refused(status: 409):
                    steps.didNotSwitch()
                    return nil
                case .refused where !error.isPassing:
                    steps.didNotSwitch()
                    guard isForLackOfLibrary(error) else { throw error }
                    loss = error
                    return nil
                // The host refused for the moment.
                case .refused(status: 429), .refused(status: 503), .unreachable: break
                default: uncertain = plan
                }
                // The expected revision prevents the host from doing it twice.
                try wait(&patience, error)
            }
        }
    }

    private func wait(_ patience: inout Patience, _ error: ClientFailure) throws(ClientFailure) {
        do throws(ClientFailure) {
            try patience.wait(after: error)
        } catch {
            guard uncertain != nil else { throw error }
            throw ClientFailure(
                .interrupted,
                "\(error.message); whether the functions were switched is not known: all of them were or none, and `hearth functions:list` shows it")
        }
    }

    /// Whether the host refuses because it lacks libraries, which it names in `absent`; other reasons are up to the author.
    private func isForLackOfLibrary(_ error: ClientFailure) -> Bool {
        !(error.details.flatMap { DeploymentRefusalDetails($0) }?.absent ?? []).isEmpty
    }
}

/// The functions of the plugins to deploy.
package struct FunctionSelection: Sendable {
    private let only: FunctionFilter?
    private let except: FunctionFilter?

    /// Selects by `only`, minus `except`.
    package init(only: FunctionFilter? = nil, except: FunctionFilter? = nil) {
        self.only = only
        self.except = except
    }

    /// Whether all functions are selected.
    var isEverything: Bool { only == nil && except == nil }

    /// Whether a function is selected.
    package func matches(plugin: String, function: String) -> Bool {
        only?.matches(plugin: plugin, function: function) != false && except?.matches(plugin: plugin, function: function) != true
    }

    func matches(_ change: FunctionChange) -> Bool { matches(plugin: change.plugin, function: change.function) }

    /// The selected part of a plan.
    ///
    /// - Throws: `ClientFailure` if an item matches nothing.
    func applied(to plan: DeploymentSummary) throws(ClientFailure) -> DeploymentSummary {
        let functions = plan.changes.map { (plugin: $0.plugin, function: $0.function) }
        for item in [only, except].compactMap({ $0?.missing(among: functions) }).joined() {
            let names = plan.changes.map(\.function).sorted()
            let known = names.isEmpty ? "the plugins have none" : "there are \(names.joined(separator: ", "))"
            throw ClientFailure(.invalidInput, "\(item.text) matches no function; \(known)")
        }
        return plan.keeping(matches)
    }
}
