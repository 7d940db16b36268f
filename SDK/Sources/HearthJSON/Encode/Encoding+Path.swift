import HearthBytes

extension Encoding {
    /// The way from the top to where the text ends now.
    ///
    /// Nobody keeps paths while encoding goes well: this reads them off the text that is there, at a cost that only an error
    /// pays.
    var path: [any CodingKey] { path(isDue: text.pointee.shape == .nothing || text.pointee.shape == .scalar) }

    /// `isDue` says whether a member's value or an element comes next, so that the innermost container counts.
    func path(isDue: Bool) -> [any CodingKey] { path(upTo: text.pointee.output.count, isDue: isDue) }

    private func path(upTo end: Int, isDue: Bool) -> [any CodingKey] {
        let start = min(text.pointee.start, end)
        var steps = text.pointee.output.withUnsafeBytes { OpenContainers(UnsafeRawBufferPointer(rebasing: $0[start..<end])).steps }
        if !isDue, !steps.isEmpty { steps.removeLast() }
        guard let place = text.pointee.place else { return steps }
        return place.parent.path(upTo: place.position, isDue: true) + steps
    }
}

/// Which containers an unfinished text leaves open, each with the step that leads on from it.
private struct OpenContainers {
    private var isObject: [Bool] = []
    private var last: [JSONKey] = []

    var steps: [any CodingKey] { last }

    init(_ text: UnsafeRawBufferPointer) {
        var index = 0
        while index < text.count {
            let byte = text[index]
            index += 1
            switch byte {
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                isObject.append(byte == UInt8(ascii: "{"))
                last.append(JSONKey(index: 0))
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                isObject.removeLast()
                last.removeLast()
            case UInt8(ascii: ","):
                guard let step = last.last?.intValue, isObject.last == false else { continue }
                last[last.count - 1] = JSONKey(index: step + 1)
            case UInt8(ascii: "\""):
                let name = Self.stringEnd(text, index)
                if name + 1 < text.count, text[name + 1] == UInt8(ascii: ":"), isObject.last == true {
                    last[last.count - 1] = JSONKey(Self.decoded(text, index..<name))
                }
                index = name + 1
            default:
                continue
            }
        }
    }

    /// The position of the closing quote.
    private static func stringEnd(_ text: UnsafeRawBufferPointer, _ start: Int) -> Int {
        var index = start
        while index < text.count, text[index] != UInt8(ascii: "\"") {
            index += text[index] == UInt8(ascii: "\\") ? 2 : 1
        }
        return index
    }

    private static func decoded(_ text: UnsafeRawBufferPointer, _ range: Range<Int>) -> String {
        guard let base = text.baseAddress else { return "" }
        let name = (base + range.lowerBound).assumingMemoryBound(to: UInt8.self)
        return KeyText(name, count: range.count, hasEscapes: true).string
    }
}
