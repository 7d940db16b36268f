import Synchronization

/// The functions of all plugins that changes trigger.
public final class TriggerTable: Sendable {
    /// The declarations in the table.
    public let declarations: [TriggerDeclaration]
    /// Matchers, shared by namespaces with the same functions.
    private let matchers = Mutex<[[Int]: TriggerMatcher]>([:])

    /// - Parameter declarations: must have unique function names.
    public init(_ declarations: [TriggerDeclaration]) { self.declarations = declarations }

    /// The matcher for `namespace`; nil if it has no functions.
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
