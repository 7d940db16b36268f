/// A pattern for the namespaces of a function: a name, `*`, a name that contains `*`, or `{name}` (spec functions 8.2).
public struct InstancePattern: Sendable, Hashable {
    private let shape: PathPattern.Shape
    private let capture: String?

    /// The pattern that matches all namespaces.
    public static let any = InstancePattern(PathPattern.Segment(shape: .any, capture: nil))

    private init(_ segment: PathPattern.Segment) {
        shape = segment.shape
        capture = segment.capture
    }

    /// Parses a pattern with a single segment.
    ///
    /// - Throws: the reason if no namespace can match it.
    public init(parsing text: String) throws(PathPatternError) {
        guard !text.isEmpty, !text.contains("/") else { throw PathPatternError("\"\(text)\" is not a namespace: write its name, or \"*\" for all") }
        let segment = try PathPattern.segment(text[...])
        guard segment.shape != .many else { throw PathPatternError("\"**\" stands for segments of a path: write \"*\" for all namespaces") }
        self.init(segment)
    }

    /// Whether it matches `namespace`.
    public func matches(_ namespace: String) -> Bool { shape.matches(namespace) }

    /// The captured parameter.
    func parameter(in namespace: String) -> EventParameter? { capture.map { EventParameter(name: $0, value: namespace) } }

    /// The name of the captured parameter.
    var captureName: String? { capture }
}
