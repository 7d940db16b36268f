/// The limits of a reader of JSON.
public struct JSONLimits: Sendable, Hashable {
    /// The deepest nesting that any reader supports.
    public static let depthCeiling = 1024

    /// The most arrays and objects that are open at once, from 1 to `depthCeiling`.
    public var depthMax: Int {
        didSet { depthMax = Self.clamped(depthMax) }
    }

    /// A depth out of range becomes the nearest that is in it.
    public init(depthMax: Int = 512) {
        self.depthMax = Self.clamped(depthMax)
    }

    private static func clamped(_ depth: Int) -> Int { min(max(depth, 1), depthCeiling) }
}

/// The six kinds of JSON values.
public enum JSONKind: UInt8, Sendable, Hashable {
    case null, bool, number, string, array, object
}

/// A step of a coding path: a member's name or an element's index.
struct JSONKey: CodingKey {
    let stringValue: String
    let intValue: Int?

    init(_ name: String) {
        stringValue = name
        intValue = nil
    }

    init(index: Int) {
        stringValue = "Index \(index)"
        intValue = index
    }

    init?(stringValue: String) { self.init(stringValue) }

    init?(intValue: Int) {
        stringValue = String(intValue)
        self.intValue = intValue
    }

    static let `super` = JSONKey("super")
}
