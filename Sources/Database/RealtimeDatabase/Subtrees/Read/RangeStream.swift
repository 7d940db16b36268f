import HearthBytes
import HearthJSON
import Store
import Tree

/// The parts of a node that a client lacks, as clients merge them (spec database 3.5, `rm`): `[{"s":START,"e":END,"m":VALUE},...]`. The leaves after
/// `s`, up to and including `e`, are those of `m`, and no others. Without `s` or `e`, the part has no beginning or no end.
final class RangeStream: JSONSource {
    private let reader: TreeReader
    private let key: PathKey
    private var walk: RowWalk
    private var order: LeafOrder<RangeWriter>
    private var position: [UInt8]
    private var isFinished = false

    let heldBytes: Int

    init(_ reader: TreeReader, at key: PathKey, _ hashes: RangeHashes, _ runs: [RangeRun]) {
        self.reader = reader
        self.key = key
        walk = RowWalk(at: key.bytes, wantsPriorities: reader.state.hasPriorities)
        order = LeafOrder(RangeWriter(hashes, runs))
        position = key.bytes
        heldBytes = hashes.heldBytes
    }

    func next(into buffer: inout ByteBuffer, atLeast: Int) throws(ReadError) -> Bool {
        guard !isFinished else { return false }
        swap(&buffer, &order.visitor.buffer)
        defer { swap(&buffer, &order.visitor.buffer) }
        order.visitor.pause = order.visitor.buffer.count.addingClamped(max(atLeast, 1))
        var isPaused = false
        do throws(StoreError) {
            try reader.scan(.tree, from: position, to: key.subtreeEnd) { row, value in
                walk.row(row, value, &order)
                guard order.isSatisfied else { return .next }
                isPaused = true
                position = row.array() + [0]
                return .stop
            }
        } catch {
            throw .store(error)
        }
        if isPaused, !order.visitor.isComplete { return true }
        walk.finish(&order)
        order.visitor.finish()
        isFinished = true
        return false
    }
}

/// Writes the leaves of some ranges.
struct RangeWriter: LeafVisitor, ~Copyable {
    private let hashes: RangeHashes
    private let runs: [RangeRun]
    private var run = 0
    private var hasBegun = false
    /// The number of levels that are open in the value of this run.
    private var open = 0
    private var needsComma = false
    /// The output. Set only while it is used: callers swap a buffer in and out.
    var buffer = ByteBuffer()
    /// The size of the buffer at which the writer pauses.
    var pause = Int.max

    init(_ hashes: RangeHashes, _ runs: [RangeRun]) {
        self.hashes = hashes
        self.runs = runs
    }

    /// Whether no more leaves are needed.
    var isComplete: Bool { run == runs.count }
    var isSatisfied: Bool { isComplete || buffer.count >= pause }

    mutating func leaf(
        at position: Span<UInt8>, _ key: Span<UInt8>?, in levels: [LeafLevel], _ value: Span<UInt8>, priority: Span<UInt8>
    ) {
        guard takes(position) else { return }
        begin(levels)
        if let key { name(key) }
        if priority.isEmpty {
            buffer.append(value)
        } else {
            buffer.append("{\".value\":")
            buffer.append(value)
            buffer.append(",\".priority\":")
            buffer.append(priority)
            buffer.append(UInt8(ascii: "}"))
        }
        needsComma = true
    }

    mutating func priority(at position: Span<UInt8>, in levels: [LeafLevel], _ json: Span<UInt8>) {
        guard takes(position) else { return }
        begin(levels)
        let key = RangeHashes.priorityKeyBytes
        name(key.span)
        buffer.append(json)
        needsComma = true
    }

    mutating func close(_ count: Int) {
        guard open >= count else { return }
        buffer.append(UInt8(ascii: "}"))
        needsComma = true
        open = count - 1
    }

    /// Completes the list.
    mutating func finish() {
        while run < runs.count { endRun() }
        buffer.append(UInt8(ascii: "]"))
    }

    /// Whether a leaf belongs to a run.
    private mutating func takes(_ position: Span<UInt8>) -> Bool {
        while run < runs.count, let end = end(of: run) {
            let post = hashes.posts[end]
            guard ByteOrder.compare(position, post.span) > 0 else { break }
            endRun()
        }
        guard run < runs.count else { return false }
        let start = runs[run].ranges.lowerBound
        if start > 0 {
            let post = hashes.posts[start - 1]
            guard ByteOrder.compare(position, post.span) > 0 else { return false }
        }
        beginRun()
        return true
    }

    /// The index of the path with which a run ends; nil if it has no end.
    private func end(of run: Int) -> Int? {
        let last = runs[run].ranges.upperBound
        return last < hashes.posts.count ? last : nil
    }

    private mutating func beginRun() {
        guard !hasBegun else { return }
        hasBegun = true
        buffer.append(run == 0 ? UInt8(ascii: "[") : UInt8(ascii: ","))
        buffer.append(UInt8(ascii: "{"))
        let start = runs[run].ranges.lowerBound
        if start > 0 {
            buffer.append("\"s\":")
            buffer.append(jsonString: hashes.texts[start - 1])
            buffer.append(UInt8(ascii: ","))
        }
        if let end = end(of: run) {
            buffer.append("\"e\":")
            buffer.append(jsonString: hashes.texts[end])
            buffer.append(UInt8(ascii: ","))
        }
        buffer.append("\"m\":")
        needsComma = false
        open = 0
    }

    private mutating func endRun() {
        if hasBegun {
            for _ in 0..<open { buffer.append(UInt8(ascii: "}")) }
        } else {
            beginRun()
            buffer.append("null")
        }
        buffer.append(UInt8(ascii: "}"))
        hasBegun = false
        open = 0
        run += 1
    }

    private mutating func begin(_ levels: [LeafLevel]) {
        while open < levels.count {
            let key = levels[open].key
            if open > 0 { name(key.span) }
            buffer.append(UInt8(ascii: "{"))
            needsComma = false
            open += 1
        }
    }

    private mutating func name(_ key: Span<UInt8>) {
        if needsComma { buffer.append(UInt8(ascii: ",")) }
        buffer.append(jsonString: key)
        buffer.append(UInt8(ascii: ":"))
    }
}
