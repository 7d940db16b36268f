/// Which namespaces a function runs for: a name, `*`, a name with `*` in it, or `{name}` (spec functions 8.2).
public struct InstancePattern: Sendable, Hashable {
    private let shape: PathPattern.Shape
    private let capture: String?

    /// Every namespace.
    public static let any = InstancePattern(PathPattern.Segment(shape: .any, capture: nil))

    private init(_ segment: PathPattern.Segment) {
        shape = segment.shape
        capture = segment.capture
    }

    /// Reads a pattern of one segment.
    ///
    /// - Throws: why it can match no namespace.
    public init(parsing text: String) throws(PathPatternError) {
        guard !text.isEmpty, !text.contains("/") else { throw PathPatternError("\"\(text)\" is not a namespace: write its name, or \"*\" for all") }
        let segment = try PathPattern.segment(text[...])
        guard segment.shape != .many else { throw PathPatternError("\"**\" stands for segments of a path: write \"*\" for all namespaces") }
        self.init(segment)
    }

    /// Whether it stands for `namespace`.
    public func matches(_ namespace: String) -> Bool { shape.matches(namespace) }

    /// What its name stands for.
    func parameter(in namespace: String) -> EventParameter? { capture.map { EventParameter(name: $0, value: namespace) } }

    /// The name that it captures.
    var captureName: String? { capture }
}
