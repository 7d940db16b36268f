import Tree

/// A function that runs when a value changes: which changes, where, and in which databases.
public struct TriggerDeclaration: Sendable {
    /// The function's name, unique in the host.
    public let function: String
    /// Which changes.
    public let kind: TriggerKind
    /// Where in the tree.
    public let pattern: PathPattern
    /// In which namespaces.
    public let instance: InstancePattern

    /// A function that runs for changes of `kind` where `pattern` matches.
    ///
    /// - Throws: a name that both patterns use.
    public init(function: String, kind: TriggerKind, pattern: PathPattern, instance: InstancePattern = .any) throws(PathPatternError) {
        if let name = instance.captureName, pattern.captures.contains(name) {
            throw PathPatternError("the name \"\(name)\" stands in the path's pattern and in the instance's")
        }
        self.function = function
        self.kind = kind
        self.pattern = pattern
        self.instance = instance
    }

    /// What the names in the patterns stand for.
    func parameters(in path: Path, of namespace: String) -> [EventParameter] {
        pattern.parameters(in: path) + (instance.parameter(in: namespace).map { [$0] } ?? [])
    }
}
