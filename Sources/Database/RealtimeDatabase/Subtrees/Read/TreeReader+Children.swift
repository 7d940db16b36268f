public import HearthBytes
public import Store
public import Tree

extension TreeReader {
    /// The keys of up to `limit` children after the key `after`, in order.
    public func childKeys(at key: PathKey, after: String? = nil, limit: Int) throws(StoreError) -> [String] {
        guard limit > 0 else { return [] }
        var keys: [String] = []
        try children(of: key.bytes, from: key.childrenStart(after: after), to: key.subtreeEnd) { row, segment in
            keys.append(PathKey.decodeSegment(row, segment))
            return keys.count < limit
        }
        return keys
    }

    /// Appends the JSON of a shallow read: the value of a leaf, or an object in which each child's key has the value `true`.
    ///
    /// - Parameters:
    ///   - limit: the maximum number of children.
    ///   - startAfter: the key after which the children begin.
    ///   - bytesMax: the size limit of the appended text.
    public func shallow(
        at key: PathKey, limit: Int? = nil, startAfter: String? = nil, isPretty: Bool = false, bytesMax: Int = .max,
        into buffer: inout ByteBuffer
    ) throws(ReadError) {
        let start = buffer.count
        do throws(StoreError) {
            if try get(key.bytes, { buffer.append($0) }) != nil { return }
            try shallowChildren(key, limit: limit ?? .max, after: startAfter, isPretty: isPretty, end: start.addingClamped(bytesMax), &buffer)
        } catch {
            throw .store(error)
        }
        guard buffer.count - start <= bytesMax else { throw .tooLarge }
    }

    private func shallowChildren(
        _ key: PathKey, limit: Int, after: String?, isPretty: Bool, end: Int, _ buffer: inout ByteBuffer
    ) throws(StoreError) {
        var count = 0
        if limit > 0 {
            try children(of: key.bytes, from: key.childrenStart(after: after), to: key.subtreeEnd) { row, segment in
                buffer.append(count == 0 ? UInt8(ascii: "{") : UInt8(ascii: ","))
                if isPretty { buffer.append("\n  ") }
                PathKey.appendSegmentJSON(row, segment, into: &buffer)
                if isPretty { buffer.append(" : true") } else { buffer.append(":true") }
                count += 1
                return count < limit && buffer.count <= end
            }
        }
        if count > 0 {
            if isPretty { buffer.append(UInt8(ascii: "\n")) }
            buffer.append(UInt8(ascii: "}"))
        } else if try hasChildren(at: key) {
            buffer.append("{}")
        } else {
            buffer.append("null")
        }
    }

    /// Calls `body` for each child of `parent` with rows between `lower` and `upper`, until it returns false. The arguments are one row of the
    /// child and the range of its segment in the row. Skips the descendants of the child.
    func children(
        of parent: [UInt8], from lower: [UInt8], to upper: [UInt8], reversed: Bool = false, _ body: (Span<UInt8>, Range<Int>) -> Bool
    ) throws(StoreError) {
        var last: [UInt8] = []
        var steps = 0
        try scan(.tree, from: lower, to: upper, reversed: reversed) { row, _ in
            guard let end = PathKey.segmentEnd(row, from: parent.count) else { return .next }
            if !last.isEmpty, last.count == end, ByteOrder.compare(last.span, row.extracting(first: end)) == 0 {
                steps += 1
                if steps < Self.stepsBeforeSeek { return .next }
                return .seek(reversed ? last : last + [0xFF])
            }
            guard body(row, parent.count..<end) else { return .stop }
            steps = 0
            last.removeAll(keepingCapacity: true)
            row.extracting(first: end).withUnsafeBufferPointer { last.append(contentsOf: $0) }
            return .next
        }
    }

    /// The number of steps over rows that are cheaper than a seek.
    private static let stepsBeforeSeek = 4
}

extension PathKey {
    /// The position of the first row of the children after `key`.
    func childrenStart(after key: String?) -> [UInt8] { key.map { appending($0).subtreeEnd } ?? firstChild }
}

extension Int {
    func addingClamped(_ other: Int) -> Int {
        let (sum, overflows) = addingReportingOverflow(other)
        return overflows ? .max : sum
    }
}
