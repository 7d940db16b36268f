import HearthBytes
import Store
import Tree

/// The result of comparing a node with a client's hashes of it.
enum RangeComparison: Equatable {
    /// The client has the node as it is.
    case same
    /// Some ranges differ.
    case different([RangeRun])
    /// The client needs the whole node: because every range differs, or because it could not apply the parts correctly.
    case whole
}

extension TreeReader {
    /// Compares the node at `key` with a client's hashes of it. Reads all of the node.
    func compare(_ hashes: RangeHashes, at key: PathKey) throws(ReadError) -> RangeComparison {
        guard !hashes.hasDisputedKey else { return .whole }
        var walk = RowWalk(at: key.bytes, wantsPriorities: state.hasPriorities)
        var order = LeafOrder(RangeComparer(hashes))
        do throws(StoreError) {
            try self.walk(&walk, KeyRange(lower: key.bytes, upper: key.subtreeEnd), &order)
        } catch {
            throw .store(error)
        }
        walk.finish(&order)
        return order.visitor.finish(hasDisputedKey: order.hasDisputedKey)
    }
}

/// Computes the hashes of a client's ranges over the leaves of a node, and compares them.
struct RangeComparer: LeafVisitor, ~Copyable {
    private let hashes: RangeHashes
    private var hasher = RangeHasher()
    /// The index of the present range.
    private var range = 0
    /// The number of levels that the hasher has begun in this range.
    private var begun = 0
    private var runs: [RangeRun] = []
    /// For each level, the range of the last leaf in it.
    private var leafRanges: [Int] = []
    /// Priorities whose node has had no leaf in their range yet: the number of levels and the range.
    private var alone: [(level: Int, range: Int)] = []
    /// Whether a range has a priority, and no leaf of its node. Clients ignore such a priority in a merge, and lose one that they have if a merge
    /// leaves the node without children for a moment.
    private var hasLonePriority = false
    /// The ranges that end with a value that has a priority. Clients remove this priority when they merge the next range.
    private var endsWithPriority: Set<Int> = []

    init(_ hashes: RangeHashes) { self.hashes = hashes }

    var isSatisfied: Bool { false }

    mutating func leaf(
        at position: Span<UInt8>, _ key: Span<UInt8>?, in levels: [LeafLevel], _ value: Span<UInt8>, priority: Span<UInt8>
    ) {
        guard let leaf = Leaf(json: value) else { return }
        advance(to: position)
        begin(levels)
        if let key { hasher.begin(key) }
        hasher.add(leaf, priority: priority.isEmpty ? nil : Priority(json: priority))
        if key != nil { hasher.end() }
        if !priority.isEmpty, range < hashes.posts.count {
            let post = hashes.posts[range]
            if ByteOrder.compare(position, post.span) == 0 { endsWithPriority.insert(range) }
        }
        noteLeaf(levels.count)
    }

    mutating func priority(at position: Span<UInt8>, in levels: [LeafLevel], _ json: Span<UInt8>) {
        guard let priority = Priority(json: json) else { return }
        advance(to: position)
        begin(levels)
        let key = RangeHashes.priorityKeyBytes
        hasher.begin(key.span)
        hasher.add(priority.leaf, priority: nil)
        hasher.end()
        let level = levels.count
        if leafRanges.count < level || leafRanges[level - 1] != range { alone.append((level, range)) }
    }

    mutating func close(_ count: Int) {
        if begun >= count {
            // The top node has no key.
            if count > 1 { hasher.end() }
            begun = count - 1
        }
        if leafRanges.count >= count { leafRanges.removeLast(leafRanges.count - count + 1) }
        while let last = alone.last, last.level >= count {
            hasLonePriority = true
            alone.removeLast()
        }
    }

    /// Completes the comparison.
    mutating func finish(hasDisputedKey: Bool) -> RangeComparison {
        while range < hashes.hashes.count { endRange() }
        if runs.isEmpty { return .same }
        guard !hasDisputedKey, !hasLonePriority, !runs.contains(where: { endsWithPriority.contains($0.ranges.lowerBound - 1) }) else { return .whole }
        return runs[0].ranges == 0...hashes.posts.count ? .whole : .different(runs)
    }

    private mutating func advance(to position: Span<UInt8>) {
        while range < hashes.posts.count {
            let post = hashes.posts[range]
            guard ByteOrder.compare(position, post.span) > 0 else { return }
            endRange()
        }
    }

    private mutating func endRange() {
        let hash = hasher.finish()?.string ?? ""
        if hash != hashes.hashes[range] {
            if let last = runs.last, last.ranges.upperBound == range - 1 {
                runs[runs.count - 1].ranges = last.ranges.lowerBound...range
            } else {
                runs.append(RangeRun(ranges: range...range))
            }
        }
        range += 1
        begun = 0
    }

    private mutating func begin(_ levels: [LeafLevel]) {
        while begun < levels.count {
            let key = levels[begun].key
            if begun > 0 { hasher.begin(key.span) }
            begun += 1
        }
    }

    private mutating func noteLeaf(_ count: Int) {
        for index in 0..<count {
            if index < leafRanges.count { leafRanges[index] = range } else { leafRanges.append(range) }
        }
        if alone.contains(where: { $0.range != range }) { hasLonePriority = true }
        alone.removeAll(keepingCapacity: true)
    }
}
