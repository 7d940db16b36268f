/// Elements in the order of their times: a binary heap. An element whose time has changed is added again, and its old place is skipped.
struct DueHeap<Element> {
    private var places: [(time: Int64, element: Element)] = []

    var count: Int { places.count }

    /// The earliest time.
    var first: Int64? { places.first?.time }

    mutating func add(_ element: Element, at time: Int64) {
        places.append((time, element))
        var index = places.count - 1
        while index > 0, places[(index - 1) / 2].time > places[index].time {
            places.swapAt(index, (index - 1) / 2)
            index = (index - 1) / 2
        }
    }

    /// Removes and returns the element with the earliest time.
    mutating func removeFirst() -> (time: Int64, element: Element)? {
        guard let first = places.first, let last = places.popLast() else { return nil }
        guard !places.isEmpty else { return first }
        places[0] = last
        var index = 0
        while true {
            var least = index
            for child in [2 * index + 1, 2 * index + 2] where child < places.count && places[child].time < places[least].time { least = child }
            guard least != index else { return first }
            places.swapAt(index, least)
            index = least
        }
    }

    /// Removes the places that do not count any more.
    mutating func keep(where isCurrent: (Int64, Element) -> Bool) {
        let kept = places.filter { isCurrent($0.time, $0.element) }
        places = []
        for place in kept { add(place.element, at: place.time) }
    }
}
