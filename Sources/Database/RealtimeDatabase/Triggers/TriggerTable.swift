import Synchronization

/// Every function that runs because of a change, of all plugins.
public final class TriggerTable: Sendable {
    /// What it was made of.
    public let declarations: [TriggerDeclaration]
    /// Namespaces that the same functions watch share a matcher.
    private let matchers = Mutex<[[Int]: TriggerMatcher]>([:])

    /// - Parameter declarations: the functions' names are unique.
    public init(_ declarations: [TriggerDeclaration]) { self.declarations = declarations }

    /// The functions that watch `namespace`; nil when none does.
    public func matcher(forNamespace namespace: String) -> TriggerMatcher? {
        let indices = declarations.indices.filter { declarations[$0].instance.matches(namespace) }
        guard !indices.isEmpty else { return nil }
        return matchers.withLock { matchers in
            if let matcher = matchers[indices] { return matcher }
            let matcher = TriggerMatcher(indices.map { declarations[$0] })
            matchers[indices] = matcher
            return matcher
        }
    }
}
