import EventLoop
import HearthBytes
import HearthJSON
import HTTP

/// A request of a polling client that waits for its answer, on whichever loop it is.
struct LivePollAnswer: Sendable {
    /// The number of the request, by the client.
    let serial: Int
    private let loop: EventLoop
    private let exchange: LoopBound<HTTPExchange>

    /// - Parameter loop: the loop of the exchange.
    init(_ exchange: HTTPExchange, serial: Int, loop: EventLoop) {
        self.serial = serial
        self.loop = loop
        self.exchange = LoopBound(exchange, loop: loop)
    }

    /// Answers with a script. Callable on any thread.
    func send(_ script: [UInt8]) {
        loop.post { [exchange] in Self.answer(exchange.value, script) }
    }

    private static func answer(_ exchange: HTTPExchange, _ script: [UInt8]) {
        exchange.observer = nil
        exchange.respond(.ok, body: script.span) { fields in
            fields.field("Content-Type", "application/javascript; charset=utf-8")
            writeFields(to: fields)
        }
    }

    /// Answers with a page that tells the host when the browser leaves it. `id` and `password` are known ones, so they need no escape.
    static func sendFrame(_ exchange: HTTPExchange, _ id: String, _ password: [UInt8]) {
        let address = "/.lp?disconn=t&id=\(id)&pw=\(String(decoding: password, as: UTF8.self))"
        let page = "<!doctype html><script>addEventListener(\"pagehide\",function(){navigator.sendBeacon(\"\(address)\")})</script>"
        exchange.respond(.ok, body: Array(page.utf8).span) { fields in
            fields.field("Content-Type", "text/html; charset=utf-8")
            writeFields(to: fields)
        }
    }

    /// Adds the header fields of all answers. Pages of every site may run the script: its address has a secret.
    static func writeFields(to fields: ResponseHead) {
        fields.field("Cache-Control", "no-store")
        fields.field("X-Content-Type-Options", "nosniff")
        fields.field("Cross-Origin-Resource-Policy", "cross-origin")
        fields.field("Referrer-Policy", "no-referrer")
    }
}

/// Reports the loss of a request that waits.
final class LivePollWatch: HTTPExchangeObserver {
    private let entry: LivePollTable.Entry
    private let serial: Int

    init(_ entry: LivePollTable.Entry, serial: Int) {
        self.entry = entry
        self.serial = serial
    }

    func exchangeDidClose(_ exchange: HTTPExchange) {
        entry.loop.post { [entry, serial] in entry.poll.value.lose(serial) }
    }
}

/// The scripts of polling (spec database 3.9). They run in a frame, and call functions of the page.
struct LivePollScript: ~Copyable {
    /// The digits that the functions' names end with.
    let suffix: String
    private(set) var text = ByteBuffer()

    init(suffix: String) { self.suffix = suffix }

    /// Gives the client its id and password.
    mutating func start(_ id: String, _ password: String) {
        text.append("parent.window[\"pLPCommand\(suffix)\"](\"start\",\"\(id)\",\"\(password)\");")
    }

    /// Ends the connection when the client has got the answer with a number; nil for at once.
    mutating func close(after number: Int?) {
        text.append("parent.window[\"pLPCommand\(suffix)\"](\"close\"\(number.map { ",\($0)" } ?? ""));")
    }

    /// Delivers messages.
    mutating func deliver(_ messages: [[UInt8]], number: Int) {
        text.append("parent.window[\"pRTLPCB\(suffix)\"](\(number),[")
        for (index, message) in messages.enumerated() {
            if index > 0 { text.append(UInt8(ascii: ",")) }
            guard Self.hasPrototypeKey(message) else {
                text.append(message.span)
                continue
            }
            // As a literal, the key would replace the object's prototype.
            text.append("JSON.parse(")
            text.append(jsonString: message.span)
            text.append(")")
        }
        text.append("]);")
    }

    private static func hasPrototypeKey(_ message: [UInt8]) -> Bool {
        let key = Array("\"__proto__\"".utf8)
        guard message.count >= key.count else { return false }
        return (0...message.count - key.count).contains { start in
            message[start] == key[0] && message[start + 1] == key[1] && message[start..<start + key.count].elementsEqual(key)
        }
    }
}
