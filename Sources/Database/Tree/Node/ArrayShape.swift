/// When children are shown as an array: all keys are whole numbers in their shortest form, not negative, and the greatest is
/// less than twice the number of children (spec database 1.2).
public enum ArrayShape {
    /// How many elements the array has, holes counted; nil when the children are an object.
    static func slots(of children: [Node.Child]) -> Int? {
        guard let last = children.last, let greatest = index(last.key), isDense(greatest: greatest, count: children.count) else {
            return nil
        }
        for child in children where index(child.key) == nil { return nil }
        return greatest + 1
    }

    /// Whether so many children, all with an index for a key, are an array when `greatest` is the greatest index.
    public static func isDense(greatest: Int, count: Int) -> Bool { greatest < 2 * count }

    /// The index that a key is; nil for any other key.
    @inline(__always)
    public static func index(_ key: String) -> Int? {
        var key = key
        return key.withUTF8 { IntegerKey($0)?.arrayIndex }
    }
}
