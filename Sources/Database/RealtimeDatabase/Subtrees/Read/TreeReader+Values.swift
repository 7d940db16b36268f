public import HearthBytes
public import Store
public import Tree

extension TreeReader {
    /// The node at `key`, in memory.
    ///
    /// - Parameter bytesMax: the size limit of keys and values. A larger node throws `tooLarge`.
    public func node(at key: PathKey, bytesMax: Int = .max) throws(ReadError) -> Node {
        try node(at: key, ranges: [KeyRange(lower: key.bytes, upper: key.subtreeEnd)], bytesMax: bytesMax)
    }

    func node(at key: PathKey, ranges: [KeyRange], bytesMax: Int) throws(ReadError) -> Node {
        var walk = RowWalk(at: key.bytes, wantsPriorities: state.hasPriorities)
        var builder = NodeBuilder(bytesMax: bytesMax)
        do throws(StoreError) {
            for range in ranges where !builder.isTooLarge { try self.walk(&walk, range, &builder) }
        } catch {
            throw .store(error)
        }
        walk.finish(&builder)
        guard !builder.isTooLarge else { throw .tooLarge }
        return builder.node
    }

    /// The entity tag of the node at `key` (spec database 3.8).
    public func etag(at key: PathKey) throws(StoreError) -> EntityTag {
        var walk = RowWalk(at: key.bytes, wantsPriorities: state.hasPriorities)
        var builder = HashBuilder()
        try self.walk(&walk, KeyRange(lower: key.bytes, upper: key.subtreeEnd), &builder)
        walk.finish(&builder)
        return EntityTag(builder.hashes)
    }

    /// Appends the JSON of the node at `key`; `null` if it does not exist.
    ///
    /// - Parameter bytesMax: the size limit of the appended text. A larger one throws `tooLarge`, and the buffer then contains a part.
    public func write(
        at key: PathKey, form: JSONForm = .value, isPretty: Bool = false, bytesMax: Int = .max, into buffer: inout ByteBuffer
    ) throws(ReadError) {
        let stream = JSONStream(self, at: key, form: form, isPretty: isPretty)
        try write(stream, bytesMax: bytesMax, into: &buffer)
    }

    func write(_ stream: JSONStream, bytesMax: Int, into buffer: inout ByteBuffer) throws(ReadError) {
        let start = buffer.count
        let hasMore = try stream.next(into: &buffer, atLeast: bytesMax.addingClamped(1))
        guard !hasMore, buffer.count - start <= bytesMax else { throw .tooLarge }
    }

    /// Passes the rows of a range to `visitor` until it is satisfied.
    func walk(_ walk: inout RowWalk, _ range: KeyRange, _ visitor: inout some RowVisitor & ~Copyable) throws(StoreError) {
        try scan(.tree, from: range.lower, to: range.upper) { row, value in
            walk.row(row, value, &visitor)
            return visitor.isSatisfied ? .stop : .next
        }
    }
}
