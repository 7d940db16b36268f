import HearthBytes
import EventLoop
import HTTP
import HearthJSON

/// A device that is connected by a WebSocket with the subprotocol `fcm-device.v1` (spec messaging 6.8).
///
/// It presents its token in the Authorization header or in the first frame, `hello`. A device that does not read gets only the messages that it
/// may leave unacknowledged.
final class WebSocketDevice: DeviceClient, WebSocketHandler {
    private let streams: DeviceStreams
    private var socket: WebSocket?
    private var connection: EmbeddedBackend.Connecting?
    private var token: String?
    private var greeting: Timer?
    private let address: NetworkAddress

    static let subprotocol: StaticString = "fcm-device.v1"
    /// The time limit for the `hello` frame.
    private static let greetingMilliseconds: UInt64 = 10_000

    /// - Parameter address: the address of the device.
    init(_ streams: DeviceStreams, address: NetworkAddress) {
        self.streams = streams
        self.address = address
    }

    /// Upgrades the request's connection to a WebSocket.
    func open(_ exchange: HTTPExchange, token: String?) {
        guard streams.join(self) else { return MessagingAnswer.refuse(exchange, .unavailable(retryAfterSeconds: 1)) }
        var limits = WebSocketLimits()
        limits.messageBytesMax = 64 * 1024
        limits.allowsCompression = true
        limits.givesWay = true
        let subprotocol = exchange.offers(webSocketProtocol: Self.subprotocol) ? Self.subprotocol : nil
        guard let socket = exchange.openWebSocket(subprotocol: subprotocol, limits: limits, handler: self) else {
            return streams.leave(self)
        }
        self.socket = socket
        if let token { return connect(token, .foreground, last: nil) }
        let greeting = Timer(loop: streams.loop) { [unowned self] in end(4401, "there was no hello frame") }
        greeting.start(afterMilliseconds: Self.greetingMilliseconds)
        self.greeting = greeting
    }

    private func connect(_ token: String, _ state: DeviceState, last: String?) {
        greeting?.close()
        greeting = nil
        self.token = token
        connection = streams.backend.connect(token: token, state: state, last: last, on: streams.loop) { [weak self] in self?.receive($0) }
    }

    private func receive(_ news: LinkNews) {
        guard let socket, socket.isOpen else { return }
        switch news {
        case .frames(let frames): for frame in frames { socket.send(text: frame.json.span) }
        case .ended(let reason): end(reason.closeCode, reason.reason)
        }
    }

    private func end(_ code: UInt16, _ reason: String) {
        socket?.close(code: code, reason: reason)
        leave()
    }

    private func leave() {
        greeting?.close()
        greeting = nil
        streams.leave(self)
        connection?.end()
        connection = nil
        token = nil
    }

    // MARK: Frames from the device

    func webSocket(_ socket: WebSocket, didReceiveText text: Span<UInt8>) {
        guard let frame = (try? JSONValue(parsing: text, limits: JSONLimits(depthMax: 16)))?.object, let type = frame["type"]?.string else {
            return end(1003, "a frame must be a JSON object with a type")
        }
        guard let token else { return greet(type, frame) }
        switch type {
        case "ack":
            let ids = frame["message_ids"]?.array?.compactMap(\.string) ?? frame["message_id"]?.string.map { [$0] } ?? []
            streams.backend.acknowledge(ids, token: token, on: streams.loop) { _ in }
        case "state":
            guard let state = (frame["state"]?.string).flatMap({ DeviceState(rawValue: $0) }) else {
                return say("error", "state must be foreground, background or idle")
            }
            streams.backend.setState(state, token: token)
        case "subscribe", "unsubscribe": changeTopic(token, frame, isOn: type == "subscribe")
        case "unregister": unregister(token)
        case "ping": say("pong")
        default: say("error", "this type of frame is unknown")
        }
    }

    func webSocket(_ socket: WebSocket, didReceive bytes: Span<UInt8>) { end(1003, "frames must be texts") }

    func webSocket(_ socket: WebSocket, didCloseWith code: UInt16) {
        self.socket = nil
        leave()
    }

    private func greet(_ type: String, _ frame: JSONObject) {
        guard type == "hello", let token = frame["token"]?.string else { return end(4401, "the first frame must be a hello with a token") }
        let state = (frame["state"]?.string).flatMap { DeviceState(rawValue: $0) } ?? .foreground
        connect(token, state, last: frame["last_message_id"]?.string)
    }

    private func changeTopic(_ token: String, _ frame: JSONObject, isOn: Bool) {
        guard let topic = TopicName(frame["topic"]?.string ?? "") else { return say("error", MessagingError.badTopic.message) }
        streams.backend.ask(on: streams.loop, limitedBy: address) { [weak self] (result: Result<Bool, MessagingError>) in
            switch result {
            case .success: self?.say(isOn ? "subscribed" : "unsubscribed", topic: topic.text)
            case .failure(let error): self?.say("error", error.message)
            }
        } _: { writer, store throws(StoreFailure) in
            guard let device = try store.device(token: token) else { return .failure(.unregistered) }
            return try writer.setSubscription(isOn, topic, device, store)
        }
    }

    private func unregister(_ token: String) {
        streams.backend.ask(on: streams.loop) { (_: Result<Bool, MessagingError>) in } _: { writer, store throws(StoreFailure) in
            if let device = try store.device(token: token) { try writer.remove(device, store) }
            return .success(true)
        }
    }

    private func say(_ type: String, _ message: String? = nil, topic: String? = nil) {
        var frame: JSONObject = ["type": .string(type)]
        if let message { frame["message"] = .string(message) }
        if let topic { frame["topic"] = .string(topic) }
        let bytes = JSONValue.object(frame).serialized()
        socket?.send(text: bytes.span)
    }

    // MARK: DeviceClient

    /// Does nothing: the WebSocket sends pings itself.
    func beat() {}

    func stop() { end(1001, LinkEnd.stopping.reason) }
}

extension MessagingFrontEnd {
    /// `GET /_messaging/v1/connect`.
    func connect(_ exchange: HTTPExchange) {
        var token: String?
        if let header = Self.header(exchange, "authorization") {
            token = header.lowercased().hasPrefix("bearer ") ? String(header.dropFirst(7)) : header
        }
        WebSocketDevice(streams, address: proxies.customer(of: exchange)).open(exchange, token: token)
    }
}
