import HearthBytes
import HTTP

/// A request of a polling client (spec database 3.9).
enum LivePollRequest {
    /// The first request, with the digits that the names of the page's functions end with.
    case start(suffix: String)
    /// A request that waits for messages, and may bring parts of the client's own.
    case poll(id: String, password: [UInt8], serial: Int, segments: [LivePollSegment])
    /// A page that says when its browser leaves it.
    case frame(id: String, password: [UInt8])
    /// The browser has left the page.
    case leave(id: String, password: [UInt8])

    /// The reason why a request is none of a polling client.
    struct Fault: Error, Equatable {
        var reason: String
        var isUnknown = false

        /// The client's connection has ended, or never was.
        static let unknown = Fault(reason: "no connection has this \"id\" and \"pw\"", isUnknown: true)
    }

    /// - Parameter query: the part of the URL after `?`.
    init(_ query: Span<UInt8>) throws(Fault) {
        var members: [String: String] = [:]
        for part in query.array().split(separator: UInt8(ascii: "&")) {
            let pair = part.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            let name = String(decoding: pair[0], as: UTF8.self)
            members[name] = pair.count == 2 ? String(decoding: pair[1], as: UTF8.self) : ""
        }
        if members["start"] != nil {
            let suffix = members["cb"] ?? ""
            guard suffix.utf8.count <= 10, suffix.utf8.allSatisfy({ (48...57).contains($0) }) else {
                throw Fault(reason: "\"cb\" must be a number of at most ten digits")
            }
            self = .start(suffix: suffix)
            return
        }
        guard let id = members["id"], let password = members["pw"] else { throw Fault(reason: "\"start\", or \"id\" and \"pw\", must be given") }
        if members["disconn"] != nil {
            self = .leave(id: id, password: Array(password.utf8))
        } else if members["dframe"] != nil {
            self = .frame(id: id, password: Array(password.utf8))
        } else {
            guard let serial = Self.number(members["ser"]) else { throw Fault(reason: "\"ser\" must be a number") }
            self = .poll(id: id, password: Array(password.utf8), serial: serial, segments: try Self.segments(members))
        }
    }

    private static func segments(_ members: [String: String]) throws(Fault) -> [LivePollSegment] {
        var segments: [LivePollSegment] = []
        while let number = members["seg\(segments.count)"] {
            let index = segments.count
            guard let number = self.number(number), let total = self.number(members["ts\(index)"]), total > 0, let data = members["d\(index)"] else {
                throw Fault(reason: "\"seg\(index)\" must be a number, and come with a number \"ts\(index)\" above 0 and data \"d\(index)\"")
            }
            segments.append(LivePollSegment(number: number, total: total, letters: Array(data.utf8)))
        }
        return segments
    }

    private static func number(_ text: String?) -> Int? {
        guard let text, text.utf8.count <= 9, text.utf8.allSatisfy({ (48...57).contains($0) }) else { return nil }
        return Int(text)
    }
}

/// A part of a client's message.
struct LivePollSegment: Equatable {
    /// Counts the parts of all messages of the client, from 0.
    var number: Int
    /// The number of parts of the message.
    var total: Int
    /// A part of the message in base64.
    var letters: [UInt8]
}

/// Joins the parts of a polling client's messages, which may arrive in another order.
struct LivePollAssembler {
    /// The most parts that may arrive before the next one: a request can be late by many others. Their memory is counted.
    static let aheadMax = 1024

    private let bytesMax: Int
    private var next = 0
    private var ahead: [Int: LivePollSegment] = [:]
    /// The letters of the incomplete message, and the number of its parts that are missing; 0 between messages.
    private var letters: [UInt8] = []
    private var missing = 0
    /// The bytes that are held.
    private(set) var heldBytes = 0

    init(bytesMax: Int) { self.bytesMax = bytesMax }

    /// Takes a part, and calls `body` with each message that is complete now.
    mutating func take(_ segment: LivePollSegment, _ body: ([UInt8]) -> Void) throws(LiveMessage.Fault) {
        guard segment.number >= next, ahead[segment.number] == nil else { return }
        guard segment.number - next < Self.aheadMax else { throw LiveMessage.Fault(reason: "part \(next) of the messages is missing") }
        ahead[segment.number] = segment
        heldBytes += segment.letters.count
        while let segment = ahead.removeValue(forKey: next) {
            next += 1
            if missing == 0 { missing = segment.total }
            letters += segment.letters
            guard letters.count / 4 * 3 <= bytesMax, missing <= bytesMax / 16 else {
                throw LiveMessage.Fault(reason: "a message may have at most \(bytesMax) bytes")
            }
            missing -= 1
            guard missing == 0 else { continue }
            heldBytes -= letters.count
            // The padding is not the usual one, because = has a meaning in URLs.
            while letters.last == UInt8(ascii: ".") { letters.removeLast() }
            guard let message = Base64URL.bytes(letters[...]), String(validating: message, as: UTF8.self) != nil else {
                throw LiveMessage.Fault(reason: "a message must be UTF-8 in base64")
            }
            letters = []
            body(message)
        }
    }
}
