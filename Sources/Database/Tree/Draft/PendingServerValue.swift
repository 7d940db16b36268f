/// A value that only the server can know (spec database 2.7).
public enum PendingServerValue: Sendable, Hashable {
    /// The milliseconds since 1970 at which the request is carried out.
    case timestamp
    /// What is there plus a number.
    case increment(Leaf)

    /// Reads what stands under `.sv`; nil when there is no such server value.
    init?(_ node: Node) {
        switch node.content {
        case .leaf(.string("timestamp")): self = .timestamp
        case .children(let children):
            guard children.count == 1, children[0].key == "increment", children[0].node.priority == nil,
                let delta = children[0].node.leaf, delta.number != nil
            else { return nil }
            self = .increment(delta)
        default: return nil
        }
    }

    /// The value at the time `now` where `existing` is. Whole numbers are added exactly while they fit 64 bits, and as doubles
    /// otherwise; a sum that is out of the range of doubles stays at its end.
    public func resolved(now: Int64, existing: Leaf?) -> Leaf {
        switch self {
        case .timestamp: return .integer(now)
        case .increment(let delta):
            if case .integer(let one) = existing, case .integer(let other) = delta {
                let (sum, overflow) = one.addingReportingOverflow(other)
                if !overflow { return .integer(sum) }
            }
            guard let base = existing?.number else { return delta }
            let sum = base + (delta.number ?? 0)
            if sum.isFinite { return .number(sum) }
            return .double(sum < 0 ? -Double.greatestFiniteMagnitude : Double.greatestFiniteMagnitude)
        }
    }

    /// What holds the place until the value is known.
    var placeholder: Leaf {
        switch self {
        case .timestamp: .integer(0)
        case .increment(let delta): delta
        }
    }
}
