public import HearthBytes
import Store
public import Tree

/// JSON that is produced piece by piece as the consumer has room for it, all from the same snapshot.
protocol JSONSource: AnyObject {
    /// The memory that is used until the end, in addition to the pieces.
    var heldBytes: Int { get }
    /// Appends the next piece, at least `atLeast` bytes except at the end, and at most one value more. Returns whether there is more.
    func next(into buffer: inout ByteBuffer, atLeast: Int) throws(ReadError) -> Bool
}

/// The JSON of a node, produced piece by piece as the consumer has room for it.
///
/// Keeps only the current path in memory. All pieces must come from the same snapshot.
public final class JSONStream: JSONSource {
    private let reader: TreeReader
    private var pieces: [KeyRange]
    private var walk: RowWalk
    private var builder: JSONBuilder
    /// The number of completed ranges, and the position in the current one.
    private var done = 0
    private var position: [UInt8] = []
    private var isFinished = false
    private let isAlwaysThere: Bool

    /// The memory that is used until the end, in addition to the pieces: the selection of a query.
    var heldBytes: Int { pieces.reduce(0) { $0 + $1.lower.count + $1.upper.count + 2 * 32 + MemoryLayout<KeyRange>.stride } }

    /// The whole node at `key`.
    public convenience init(_ reader: TreeReader, at key: PathKey, form: JSONForm, isPretty: Bool = false) {
        let range = KeyRange(lower: key.bytes, upper: key.subtreeEnd)
        self.init(reader, at: key, ranges: [range], isAlwaysThere: false, form: form, isPretty: isPretty)
    }

    /// - Parameters:
    ///   - ranges: the rows to include, in order.
    ///   - isAlwaysThere: whether the node is an empty object if there are no rows.
    init(_ reader: TreeReader, at key: PathKey, ranges: [KeyRange], isAlwaysThere: Bool, form: JSONForm, isPretty: Bool) {
        self.reader = reader
        pieces = ranges
        walk = RowWalk(at: key.bytes, wantsPriorities: form == .export && reader.state.hasPriorities)
        builder = JSONBuilder(reader, form: form, isPretty: isPretty)
        self.isAlwaysThere = isAlwaysThere
    }

    /// The children of the node at `key` that a query selects.
    public convenience init(
        _ reader: TreeReader, query: Query, at key: PathKey, form: JSONForm, isPretty: Bool = false, bytesMax: Int = .max
    ) throws(ReadError) {
        let selection = try reader.select(query, at: key, bytesMax: bytesMax)
        self.init(
            reader, at: key, ranges: selection.ranges, isAlwaysThere: selection.isThere, form: form, isPretty: isPretty)
        do throws(StoreError) {
            builder.topIsArray = form == .value ? try reader.isArray(selection, of: key) : false
        } catch {
            throw .store(error)
        }
    }

    /// Appends the next piece, at least `atLeast` bytes except at the end, and at most one value more. Returns whether there is more.
    public func next(into buffer: inout ByteBuffer, atLeast: Int) throws(ReadError) -> Bool {
        guard !isFinished else { return false }
        swap(&buffer, &builder.buffer)
        defer { swap(&buffer, &builder.buffer) }
        builder.pause = builder.buffer.count.addingClamped(max(atLeast, 1))
        do throws(StoreError) {
            if isAlwaysThere { walk.begin(&builder) }
            while done < pieces.count, try advance() {}
        } catch {
            throw .store(error)
        }
        guard done == pieces.count else { return true }
        walk.finish(&builder)
        if builder.isEmpty { builder.buffer.append("null") }
        isFinished = true
        return false
    }

    /// Continues in the current range. Returns whether there is room for more.
    private func advance() throws(StoreError) -> Bool {
        let range = pieces[done]
        var isPaused = false
        try reader.scan(.tree, from: position.isEmpty ? range.lower : position, to: range.upper) { row, value in
            walk.row(row, value, &builder)
            guard builder.isSatisfied else { return .next }
            isPaused = true
            position = row.array() + [0]
            return .stop
        }
        if let failure = builder.failure { throw failure }
        if isPaused, !builder.isComplete { return false }
        done += 1
        position = []
        return true
    }
}
