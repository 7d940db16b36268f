import HearthJSON

/// The query parameters of a REST read.
public struct RESTQuery: Sendable, Hashable {
    /// The order of the children.
    public enum Order: Sendable, Hashable {
        case key, value
        case child(String)
    }

    /// Only the children's names, each `true`.
    public var isShallow = false
    /// Indented, one member a line.
    public var isPretty = false
    /// With priorities, as `.priority` and `.value`.
    public var isExport = false
    /// The order of the children; limits and bounds require it.
    public var order: Order?
    /// The most children, from the first on.
    public var limitToFirst: Int?
    /// The most children, up to the last.
    public var limitToLast: Int?
    /// JSON, or a string without quotes.
    public var startAt: String?
    /// JSON, or a string without quotes; inclusive.
    public var endAt: String?
    /// JSON, or a string without quotes: only children with this value.
    public var equalTo: String?

    /// The whole value in its default form.
    public init() {}

    /// The parameters of the request.
    public var parameters: [(name: String, value: String)] {
        var all: [(name: String, value: String)] = []
        if isShallow { all.append(("shallow", "true")) }
        if isPretty { all.append(("print", "pretty")) }
        if isExport { all.append(("format", "export")) }
        switch order {
        case .key: all.append(("orderBy", "\"$key\""))
        case .value: all.append(("orderBy", "\"$value\""))
        case .child(let path): all.append(("orderBy", JSONValue.string(path).description))
        case nil: break
        }
        if let limitToFirst { all.append(("limitToFirst", "\(limitToFirst)")) }
        if let limitToLast { all.append(("limitToLast", "\(limitToLast)")) }
        for (name, bound) in [("startAt", startAt), ("endAt", endAt), ("equalTo", equalTo)] {
            if let bound { all.append((name, Self.json(bound))) }
        }
        return all
    }

    /// A bound as JSON: numbers, booleans and quoted text verbatim, other text quoted. Keys are always text.
    private static func json(_ text: String) -> String {
        switch try? JSONValue(parsing: text) {
        case .object, .array, nil: JSONValue.string(text).description
        default: text
        }
    }
}
