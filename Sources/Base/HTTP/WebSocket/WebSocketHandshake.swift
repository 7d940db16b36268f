import Crypto
import HearthBytes
import EventLoop

/// The opening handshake of a WebSocket (RFC 6455 section 4.2).
enum WebSocketHandshake {
    /// The status that refuses an invalid handshake; nil if it is valid.
    static func refusal(_ exchange: HTTPExchange) -> HTTPStatus? {
        guard exchange.method == .get, exchange.minorVersion >= 1, !exchange.hasBody else { return .badRequest }
        guard lists(exchange, "upgrade", "websocket"), lists(exchange, "connection", "upgrade") else { return HTTPStatus(rawValue: 426) }
        guard let version = exchange.header("sec-websocket-version"), version.equals("13") else { return HTTPStatus(rawValue: 426) }
        guard let key = exchange.header("sec-websocket-key"), isKey(key), offers(exchange) != nil else { return .badRequest }
        return nil
    }

    /// Whether a field called `name` lists `value`, ignoring case.
    static func lists(_ exchange: HTTPExchange, _ name: StaticString, _ value: StaticString) -> Bool {
        for index in 0..<exchange.headerCount where exchange.headerName(at: index).equalsIgnoringCase(lowercase: name) {
            let field = exchange.headerValue(at: index)
            var start = 0
            while start <= field.count {
                var end = start
                while end < field.count, field[end] != UInt8(ascii: ",") { end += 1 }
                var (first, last) = (start, end)
                while first < last, isBlank(field[first]) { first += 1 }
                while last > first, isBlank(field[last - 1]) { last -= 1 }
                if field.extracting(first..<last).equalsIgnoringCase(lowercase: value) { return true }
                start = end + 1
            }
        }
        return false
    }

    /// The extensions that the client offers, in all of its fields; nil if they are malformed.
    static func offers(_ exchange: HTTPExchange) -> [ExtensionOffer]? {
        var offers: [UInt8] = []
        for index in 0..<exchange.headerCount where exchange.headerName(at: index).equalsIgnoringCase(lowercase: "sec-websocket-extensions") {
            if !offers.isEmpty { offers.append(UInt8(ascii: ",")) }
            exchange.headerValue(at: index).withUnsafeBufferPointer { offers.append(contentsOf: $0) }
        }
        return ExtensionOffer.parse(offers)
    }

    /// The value of `Sec-WebSocket-Accept` for a key.
    static func accept(_ key: Span<UInt8>) -> String {
        Base64.text(Array(Insecure.SHA1.hash(data: key.array() + Array("258EAFA5-E914-47DA-95CA-C5AB0DC85B11".utf8))))
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

    /// Whether the key is sixteen bytes in base64.
    private static func isKey(_ key: Span<UInt8>) -> Bool {
        guard key.count == 24, key[22] == UInt8(ascii: "="), key[23] == UInt8(ascii: "=") else { return false }
        for index in 0..<22 {
            switch key[index] {
            case 48...57, 65...90, 97...122, UInt8(ascii: "+"), UInt8(ascii: "/"): continue
            default: return false
            }
        }
        return true
    }
}

extension HTTPExchange {
    /// Whether the client offers `subprotocol`, given in lower case.
    public func offers(webSocketProtocol subprotocol: StaticString) -> Bool {
        WebSocketHandshake.lists(self, "sec-websocket-protocol", subprotocol)
    }

    /// Upgrades the request's connection to a WebSocket, or refuses. Requests of HTTP/2 are refused: clients open a connection with HTTP/1.1.
    ///
    /// - Parameters:
    ///   - subprotocol: the agreed subprotocol; nil for none.
    ///   - handler: receives the events; the socket retains it until it has closed.
    /// - Returns: nil if the request was refused; it has been answered then.
    public func openWebSocket(
        subprotocol: StaticString? = nil, limits: WebSocketLimits = WebSocketLimits(), handler: any WebSocketHandler
    ) -> WebSocket? {
        guard !isAnswered else { return nil }
        guard let connection, WebSocketHandshake.refusal(self) == nil else {
            let status = connection == nil ? HTTPStatus(rawValue: 426) : WebSocketHandshake.refusal(self) ?? .badRequest
            respond(status, body: Array("this address speaks WebSocket, version 13\n".utf8).span) { fields in
                fields.field("Content-Type", "text/plain; charset=utf-8")
                fields.field("Sec-WebSocket-Version", "13")
            }
            return nil
        }
        guard let key = header("sec-websocket-key") else { return nil }
        let accept = WebSocketHandshake.accept(key)
        let stream = connection.stream
        stream.outbox.append("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ")
        stream.outbox.append(accept)
        if let subprotocol {
            stream.outbox.append("\r\nSec-WebSocket-Protocol: ")
            stream.outbox.append(subprotocol)
        }
        let agreement = limits.allowsCompression ? WebSocketHandshake.offers(self).flatMap { DeflateAgreement(accepting: $0) } : nil
        if let agreement {
            stream.outbox.append("\r\nSec-WebSocket-Extensions: ")
            stream.outbox.append(agreement.answer)
        }
        stream.outbox.append("\r\n\r\n")
        stream.queueFlush()
        stream.yielding = limits.givesWay ? .always : .never
        let socket = WebSocket(connection, limits: limits, agreement: agreement, handler: handler)
        connection.upgrade(to: socket)
        return socket
    }
}
