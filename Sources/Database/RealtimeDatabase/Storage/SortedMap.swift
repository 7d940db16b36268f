/// An ordered map from bytes to bytes that can be copied in constant time: a B+ tree whose pages are copied before they are changed, unless
/// only this map refers to them.
struct SortedMap {
    private var root = SortedPage()
    /// The total size of all keys and values.
    private(set) var sizeBytes = 0

    subscript(_ key: [UInt8]) -> [UInt8]? {
        var page = root
        while !page.isLeaf { page = page.children[page.child(for: key)] }
        let place = page.place(of: key)
        return place < page.keys.count && page.keys[place] == key ? page.values[place] : nil
    }

    mutating func put(_ key: [UInt8], _ value: [UInt8]) {
        let old = self[key]
        sizeBytes += value.count - (old?.count ?? -key.count)
        guard let sibling = SortedMap.put(key, value, in: &root) else { return }
        root = SortedPage(keys: [[], sibling.keys[0]], children: [root, sibling])
    }

    mutating func delete(_ key: [UInt8]) -> Bool {
        guard let old = self[key] else { return false }
        sizeBytes -= key.count + old.count
        SortedMap.delete(key, in: &root)
        while root.children.count == 1 { root = root.children[0] }
        return true
    }

    /// Works like `ReadableStore.scan`.
    func scan(
        from lower: [UInt8], to upper: [UInt8], reversed: Bool, _ body: (_ key: Span<UInt8>, _ value: Span<UInt8>) -> ScanStep
    ) {
        var (lower, upper) = (lower, upper)
        while true {
            let end = reversed ? root.walkBackward(lower, upper, body) : root.walkForward(lower, upper, body)
            guard case .seek(let target) = end else { return }
            if reversed {
                // The bound is exclusive, so it is the first key after `target`.
                upper = target + [0]
            } else {
                lower = target
            }
        }
    }

    /// Adds a key. Returns the new right sibling of `page` if it had to be split.
    private static func put(_ key: [UInt8], _ value: [UInt8], in page: inout SortedPage) -> SortedPage? {
        if !isKnownUniquelyReferenced(&page) { page = SortedPage(page) }
        if page.isLeaf {
            let place = page.place(of: key)
            if place < page.keys.count && page.keys[place] == key {
                page.values[place] = value
                return nil
            }
            page.keys.insert(key, at: place)
            page.values.insert(value, at: place)
        } else {
            let place = page.child(for: key)
            // After its first children were removed, the first key can be greater than a new key.
            if place == 0, ByteOrder.precedes(key, page.keys[0]) { page.keys[0] = key }
            guard let sibling = put(key, value, in: &page.children[place]) else { return nil }
            page.keys.insert(sibling.keys[0], at: place + 1)
            page.children.insert(sibling, at: place + 1)
        }
        return page.keys.count > SortedPage.countMax ? page.split() : nil
    }

    /// Removes an existing key, and pages that become empty.
    private static func delete(_ key: [UInt8], in page: inout SortedPage) {
        if !isKnownUniquelyReferenced(&page) { page = SortedPage(page) }
        if page.isLeaf {
            let place = page.place(of: key)
            page.keys.remove(at: place)
            page.values.remove(at: place)
            return
        }
        let place = page.child(for: key)
        delete(key, in: &page.children[place])
        if page.children[place].keys.isEmpty {
            page.keys.remove(at: place)
            page.children.remove(at: place)
        }
    }
}

/// A page of a `SortedMap`: a leaf with values, or a branch. In a branch, no key in a child is less than the key at the child's position.
final class SortedPage {
    static let countMax = 64

    var keys: [[UInt8]]
    var values: [[UInt8]]
    var children: [SortedPage]

    init(keys: [[UInt8]] = [], values: [[UInt8]] = [], children: [SortedPage] = []) {
        self.keys = keys
        self.values = values
        self.children = children
    }

    convenience init(_ page: SortedPage) {
        self.init(keys: page.keys, values: page.values, children: page.children)
    }

    var isLeaf: Bool { children.isEmpty }

    /// The number of keys that are less than `key`.
    func place(of key: [UInt8]) -> Int {
        var range = 0..<keys.count
        while !range.isEmpty {
            let middle = (range.lowerBound + range.upperBound) / 2
            range = ByteOrder.precedes(keys[middle], key) ? middle + 1..<range.upperBound : range.lowerBound..<middle
        }
        return range.lowerBound
    }

    /// The position of the child for `key`.
    func child(for key: [UInt8]) -> Int {
        let place = place(of: key)
        return place < keys.count && keys[place] == key ? place : max(place - 1, 0)
    }

    /// Moves the upper half to a new page.
    func split() -> SortedPage {
        let half = keys.count / 2
        let sibling = SortedPage(
            keys: Array(keys[half...]), values: isLeaf ? Array(values[half...]) : [], children: isLeaf ? [] : Array(children[half...]))
        keys.removeSubrange(half...)
        if isLeaf { values.removeSubrange(half...) } else { children.removeSubrange(half...) }
        return sibling
    }

    /// Calls `body` with the rows from `lower` to below `upper`. Returns `next` at the end of the page.
    func walkForward(_ lower: [UInt8], _ upper: [UInt8], _ body: (Span<UInt8>, Span<UInt8>) -> ScanStep) -> ScanStep {
        let first = isLeaf ? place(of: lower) : child(for: lower)
        for place in first..<max(first, keys.count) {
            if !upper.isEmpty, isLeaf || place > first, !ByteOrder.precedes(keys[place], upper) { return .stop }
            if isLeaf {
                let (key, value) = (keys[place], values[place])
                switch body(key.span, value.span) {
                case .next: break
                case .stop: return .stop
                case .seek(let target): if ByteOrder.precedes(key, target) { return .seek(target) }
                }
            } else {
                let step = children[place].walkForward(place == first ? lower : [], upper, body)
                guard case .next = step else { return step }
            }
        }
        return .next
    }

    /// The same in reversed order.
    func walkBackward(_ lower: [UInt8], _ upper: [UInt8], _ body: (Span<UInt8>, Span<UInt8>) -> ScanStep) -> ScanStep {
        let count = upper.isEmpty ? keys.count : isLeaf ? place(of: upper) : child(for: upper) + 1
        for place in (0..<count).reversed() {
            if isLeaf {
                if ByteOrder.precedes(keys[place], lower) { return .stop }
                let (key, value) = (keys[place], values[place])
                switch body(key.span, value.span) {
                case .next: break
                case .stop: return .stop
                case .seek(let target): if ByteOrder.precedes(target, key) { return .seek(target) }
                }
            } else {
                let step = children[place].walkBackward(lower, place == count - 1 ? upper : [], body)
                guard case .next = step else { return step }
            }
        }
        return .next
    }
}
