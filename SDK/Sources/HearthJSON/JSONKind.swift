/// The six sorts of value that JSON knows.
public enum JSONKind: UInt8, Sendable, Hashable {
    case null, bool, number, string, array, object
}
