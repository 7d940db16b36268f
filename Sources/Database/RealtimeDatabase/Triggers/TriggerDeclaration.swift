import Tree

/// A function that runs when a value changes, with the kind of changes, the paths and the databases.
public struct TriggerDeclaration: Sendable {
    /// The function's name, unique in the host.
    public let function: String
    /// The kind of changes.
    public let kind: TriggerKind
    /// The paths.
    public let pattern: PathPattern
    /// The namespaces.
    public let instance: InstancePattern

    /// Creates the declaration of a function that runs for changes of `kind` at paths that match `pattern`.
    ///
    /// - Throws: an error with a name that both patterns use.
    public init(function: String, kind: TriggerKind, pattern: PathPattern, instance: InstancePattern = .any) throws(PathPatternError) {
        if let name = instance.captureName, pattern.captures.contains(name) {
            throw PathPatternError("the name \"\(name)\" stands in the path's pattern and in the instance's")
        }
        self.function = function
        self.kind = kind
        self.pattern = pattern
        self.instance = instance
    }

    /// The captured parameters of both patterns.
    func parameters(in path: Path, of namespace: String) -> [EventParameter] {
        pattern.parameters(in: path) + (instance.parameter(in: namespace).map { [$0] } ?? [])
    }
}
