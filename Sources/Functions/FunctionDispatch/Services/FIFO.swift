/// A queue: elements are removed in the order in which they were appended.
package struct FIFO<Element> {
    private var elements: [Element?] = []
    private var head = 0

    package init() {}

    package var count: Int { elements.count - head }
    package var isEmpty: Bool { count == 0 }
    package var first: Element? { head < elements.count ? elements[head] : nil }

    package mutating func append(_ element: Element) { elements.append(element) }

    package mutating func popFirst() -> Element? {
        guard head < elements.count else { return nil }
        let element = elements[head]
        elements[head] = nil
        head += 1
        // Removes consumed elements once they are half of the array, so that the cost per element stays constant.
        if head * 2 >= elements.count { drop() }
        return element
    }

    private mutating func drop() {
        elements.removeFirst(head)
        head = 0
    }

    /// The first elements, at most `count`.
    package func prefix(_ count: Int) -> [Element] { elements[head...].prefix(count).compactMap { $0 } }

    package mutating func prepend(_ front: [Element]) {
        drop()
        elements.insert(contentsOf: front, at: 0)
    }

    package mutating func removeAll() -> [Element] {
        let all = prefix(count)
        self = FIFO()
        return all
    }
}
