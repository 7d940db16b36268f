public import HearthJSON
public import Tree

/// Who asks, and when.
public struct RuleContext: Sendable {
    /// `{uid, provider, token}`, or nil when nobody is signed in.
    public let auth: JSONValue?
    /// Milliseconds since 1970. One instant for a whole request, the same that `{".sv": "timestamp"}` becomes.
    public let now: Int64
    /// `auth.uid`, which most rules ask for.
    let uid: RuleValue

    /// A JSON null is nobody too.
    public init(auth: JSONValue?, now: Int64) {
        self.auth = auth.flatMap { $0.isNull ? JSONValue?.none : $0 }
        self.now = now
        uid = RuleValue(auth?["uid"])
    }
}

/// A state of the tree that rules look at. Only what an expression touches is asked for.
///
/// Rules know no failing store: whoever implements this remembers the failure and answers as if nothing were there.
public protocol RuleData {
    /// The value at `key` when it is a leaf.
    func leaf(at key: PathKey) -> Leaf?
    /// Whether anything is at `key`.
    func exists(at key: PathKey) -> Bool
    /// Whether anything is below `key`.
    func hasChildren(at key: PathKey) -> Bool
    /// The priority of the node at `key`.
    func priority(at key: PathKey) -> Priority?
}

/// A tree in memory for rules to look at: what a simulation or a test runs on.
public final class NodeData: RuleData, Sendable {
    private let root: Node

    /// The tree as seen from its root.
    public init(_ root: Node) { self.root = root }

    private func node(at key: PathKey) -> Node {
        var node = root
        var start = 0
        let row = key.bytes.span
        while let end = PathKey.segmentEnd(row, from: start) {
            guard case .children = node.content else { return .empty }
            node = node.child(PathKey.decodeSegment(row, start..<end))
            start = end
        }
        return node
    }

    public func leaf(at key: PathKey) -> Leaf? { node(at: key).leaf }
    public func exists(at key: PathKey) -> Bool { !node(at: key).isEmpty }
    public func priority(at key: PathKey) -> Priority? { node(at: key).priority }

    public func hasChildren(at key: PathKey) -> Bool {
        if case .children = node(at: key).content { true } else { false }
    }
}

/// How many steps a request may still take. Handed from path to path of a write that has many.
public struct RuleBudget: Sendable {
    /// Operators evaluated, and more for what takes longer: see `RuleLimits.stepsMax`.
    public internal(set) var stepsLeft: Int

    /// The steps of one request, mostly ``RuleLimits/stepsMax``.
    public init(steps: Int) { stepsLeft = steps }

    /// What a look at the data costs.
    static let readSteps = 10
    /// How many bytes of text are gone over in a step.
    static let textBytesPerStep = 16
}

/// Why an expression has no value, and at which operator. Whatever else it says, its rule is then false.
struct Fault: Error {
    enum Reason: UInt8 {
        case needsString
        case needsNumber
        /// `+` of something that is neither number nor string.
        case needsNumberOrString
        /// `<` of a string and a number.
        case needsSameType
        case needsBoolean
        /// `parent()` of the root.
        case noParent
        /// A string longer than an expression may make.
        case tooLong
        /// The request has used up its steps.
        case overBudget
    }

    var reason: Reason
    /// The operand that does not fit.
    var op: Int32
    var found: RuleValue.Kind = .null
}
