import HearthBytes
import HearthJSON
import Tree

/// A message of a client, split into its parts (spec database 3.3). The body is parsed later, by the action.
enum LiveMessage {
    /// A request for data, with the number for its answer.
    case request(number: Int, action: String, body: Range<Int>)
    /// A message about the connection: `p`, `o`, `n` or `a`.
    case control(String)

    /// The reason why a text is not a message, as a sentence for the client's log.
    struct Fault: Error, Equatable {
        var reason: String
    }

    init(parsing text: Span<UInt8>) throws(Fault) {
        var type: Range<Int>?
        var data: Range<Int>?
        try JSONMembers.read(text, 0..<text.count) { name, value in
            if text.extracting(name).equals("t") { type = value }
            if text.extracting(name).equals("d") { data = value }
        }
        guard let type, let data else { throw Fault(reason: "a message must have the members \"t\" and \"d\"") }
        if text.extracting(type).equals("\"c\"") {
            var kind: Range<Int>?
            try JSONMembers.read(text, data) { name, value in
                if text.extracting(name).equals("t") { kind = value }
            }
            guard let kind, kind.count >= 2 else { throw Fault(reason: "a control message must have a type \"t\"") }
            self = .control(text.extracting(kind.lowerBound + 1..<kind.upperBound - 1).string())
            return
        }
        guard text.extracting(type).equals("\"d\"") else { throw Fault(reason: "the type of a message must be \"c\" or \"d\"") }
        self = try Self.request(text, data)
    }

    private static func request(_ text: Span<UInt8>, _ data: Range<Int>) throws(Fault) -> LiveMessage {
        var number: Range<Int>?
        var action: Range<Int>?
        var body: Range<Int>?
        try JSONMembers.read(text, data) { name, value in
            if text.extracting(name).equals("r") { number = value }
            if text.extracting(name).equals("a") { action = value }
            if text.extracting(name).equals("b") { body = value }
        }
        guard let number, let value = Int(text.extracting(number).string()), value >= 0, value <= Int32.max else {
            throw Fault(reason: "a request must have a number \"r\" from 0 to \(Int32.max)")
        }
        guard let action, action.count >= 2, action.count <= 64, text[action.lowerBound] == UInt8(ascii: "\"") else {
            throw Fault(reason: "a request must have an action \"a\"")
        }
        return .request(
            number: value, action: text.extracting(action.lowerBound + 1..<action.upperBound - 1).string(),
            body: body ?? data.upperBound..<data.upperBound)
    }
}

/// Finds the members of a JSON object without parsing their values.
///
/// Looks only at the strings and brackets of the values. The parser that takes a value finds its other mistakes.
enum JSONMembers {
    /// Calls `body` with the places of each member's name, without its quotes, and of its value.
    static func read(
        _ text: Span<UInt8>, _ range: Range<Int>, _ body: (_ name: Range<Int>, _ value: Range<Int>) -> Void
    ) throws(LiveMessage.Fault) {
        var place = skipBlanks(text, range.lowerBound, range.upperBound)
        let end = range.upperBound
        guard place < end, text[place] == UInt8(ascii: "{") else { throw LiveMessage.Fault(reason: "a JSON object is expected") }
        place = skipBlanks(text, place + 1, end)
        if place < end, text[place] == UInt8(ascii: "}") { return try checkEnd(text, place + 1, end) }
        while true {
            guard place < end, text[place] == UInt8(ascii: "\""), let nameEnd = stringEnd(text, place, end) else { throw malformed(place) }
            let name = place + 1..<nameEnd - 1
            place = skipBlanks(text, nameEnd, end)
            guard place < end, text[place] == UInt8(ascii: ":") else { throw malformed(place) }
            place = skipBlanks(text, place + 1, end)
            guard let valueEnd = valueEnd(text, place, end) else { throw malformed(place) }
            body(name, place..<valueEnd)
            place = skipBlanks(text, valueEnd, end)
            guard place < end else { throw malformed(place) }
            if text[place] == UInt8(ascii: "}") { return try checkEnd(text, place + 1, end) }
            guard text[place] == UInt8(ascii: ",") else { throw malformed(place) }
            place = skipBlanks(text, place + 1, end)
        }
    }

    private static func malformed(_ place: Int) -> LiveMessage.Fault { LiveMessage.Fault(reason: "the message is not JSON (at byte \(place))") }

    private static func checkEnd(_ text: Span<UInt8>, _ place: Int, _ end: Int) throws(LiveMessage.Fault) {
        let rest = skipBlanks(text, place, end)
        if rest < end { throw malformed(rest) }
    }

    private static func skipBlanks(_ text: Span<UInt8>, _ start: Int, _ end: Int) -> Int {
        var place = start
        while place < end, text[place] == 0x20 || text[place] == 0x0A || text[place] == 0x0D || text[place] == 0x09 { place += 1 }
        return place
    }

    /// The index after the string that begins at `start`; nil if it does not end.
    private static func stringEnd(_ text: Span<UInt8>, _ start: Int, _ end: Int) -> Int? {
        var place = start + 1
        while place < end {
            if text[place] == UInt8(ascii: "\"") { return place + 1 }
            place += text[place] == UInt8(ascii: "\\") ? 2 : 1
        }
        return nil
    }

    /// The index after the value that begins at `start`; nil if it does not end, or if there is none.
    private static func valueEnd(_ text: Span<UInt8>, _ start: Int, _ end: Int) -> Int? {
        var place = start
        var depth = 0
        while place < end {
            switch text[place] {
            case UInt8(ascii: "\""):
                guard let next = stringEnd(text, place, end) else { return nil }
                place = next
                if depth == 0 { return place }
                continue
            case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                if depth == 0 { return place > start ? place : nil }
                depth -= 1
                if depth == 0 { return place + 1 }
            case UInt8(ascii: ","), 0x20, 0x0A, 0x0D, 0x09: if depth == 0 { return place > start ? place : nil }
            default: break
            }
            place += 1
        }
        return depth == 0 && place > start ? place : nil
    }
}
