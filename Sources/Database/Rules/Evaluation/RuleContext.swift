public import HearthJSON
public import Tree

/// The user and the time of a request.
public struct RuleContext: Sendable {
    /// `{uid, provider, token}`, or nil when no user is signed in.
    public let auth: JSONValue?
    /// Milliseconds since 1970: the same instant for the whole request, also for `{".sv": "timestamp"}`.
    public let now: Int64
    /// `auth.uid`, which most rules use.
    let uid: RuleValue

    /// JSON null means no user.
    public init(auth: JSONValue?, now: Int64) {
        self.auth = auth.flatMap { $0.isNull ? JSONValue?.none : $0 }
        self.now = now
        uid = RuleValue(auth?["uid"])
    }
}

/// A state of the tree for rules. Only data that an expression uses is read.
///
/// Data that cannot be read ends the evaluation, whose caller gets the error: neither "allowed" nor "denied" follows from a failure.
public protocol RuleData<Failure> {
    /// The error of data that cannot be read; `Never` for a tree in memory.
    associatedtype Failure: Error = Never

    /// The value at `key` when it is a leaf.
    func leaf(at key: PathKey) throws(Failure) -> Leaf?
    /// Whether anything is at `key`.
    func exists(at key: PathKey) throws(Failure) -> Bool
    /// Whether anything is below `key`.
    func hasChildren(at key: PathKey) throws(Failure) -> Bool
    /// The priority of the node at `key`.
    func priority(at key: PathKey) throws(Failure) -> Priority?
}

/// The end of an evaluation that needed data which cannot be read.
struct UnreadableData: Error {
    /// The error of the ``RuleData``.
    let cause: any Error

    /// The error with its type.
    func failure<Failure: Error>(_: Failure.Type = Failure.self) -> Failure {
        guard let failure = cause as? Failure else { preconditionFailure("\(cause) is no error of these data") }
        return failure
    }
}

/// A tree in memory, for simulations and tests.
public final class NodeData: RuleData, Sendable {
    private let root: Node

    /// A tree with this root.
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

/// The remaining steps of a request. The paths of a multi-path write share it.
public struct RuleBudget: Sendable {
    /// Operators, and more for expensive operations: see `RuleLimits.stepsMax`.
    public internal(set) var stepsLeft: Int

    /// A budget of `steps`, usually ``RuleLimits/stepsMax``.
    public init(steps: Int) { stepsLeft = steps }

    /// The cost of one access to data.
    static let readSteps = 10
    /// Bytes of text per step.
    static let textBytesPerStep = 16
}

/// An evaluation error and its operator. The rule is then false.
struct Fault: Error {
    enum Reason: UInt8 {
        case needsString
        case needsNumber
        /// Operand of `+` that is neither a number nor a string.
        case needsNumberOrString
        /// `<` with a string and a number.
        case needsSameType
        case needsBoolean
        /// `parent()` of the root.
        case noParent
        /// A string that exceeds the limit.
        case tooLong
        /// The request has no steps left.
        case overBudget
        /// Data that cannot be read; `Evaluator.unreadable` has the error.
        case unreadable
    }

    var reason: Reason
    /// The operator of the wrong operand.
    var op: Int32
    var found: RuleValue.Kind = .null
}
