import HearthBytes
import HTTP

/// A device that is connected by server-sent events (spec messaging 6.8).
///
/// A device that does not read gets only the messages that it may leave unacknowledged. One that acknowledges messages without reading them is
/// disconnected when too many bytes wait here.
final class EventStreamDevice: DeviceClient, HTTPExchangeObserver {
    private let exchange: HTTPExchange
    private let streams: DeviceStreams
    private var connection: EmbeddedBackend.Connecting?
    private var isOver = false
    /// The number of bytes written since the device has fallen behind.
    private var behindBytes = 0

    /// A limit that a device without acknowledgements cannot reach: a message has at most 4 KiB, in a frame of less than 8 KiB.
    private let behindBytesMax: Int

    init(_ exchange: HTTPExchange, _ streams: DeviceStreams) {
        self.exchange = exchange
        self.streams = streams
        behindBytesMax = streams.backend.settings.unacknowledgedMax * (8 << 10) + 1 << 20
    }

    func open(token: String, state: DeviceState, last: String?) {
        guard streams.join(self) else { return MessagingAnswer.refuse(exchange, .unavailable(retryAfterSeconds: 1)) }
        exchange.observer = self
        connection = streams.backend.connect(token: token, state: state, last: last, on: streams.loop) { [self] in receive($0) }
    }

    private func receive(_ news: LinkNews) {
        guard !isOver else { return }
        switch news {
        case .frames(let frames):
            if !exchange.isAnswered { start() }
            var text = ByteBuffer()
            for frame in frames {
                text.append("event: \(frame.kind.rawValue)\n")
                if !frame.id.isEmpty { text.append("id: \(frame.id)\n") }
                text.append("data: ")
                text.append(frame.json)
                text.append("\n\n")
            }
            switch exchange.write(text.bytes) {
            case .ready: return
            case .closed: return leave()
            case .congested: behindBytes += text.count
            }
            guard behindBytes > behindBytesMax else { return }
            leave()
            exchange.abort()
        case .ended(let reason): finish(reason)
        }
    }

    private func start() {
        exchange.startResponse(.ok) { fields in
            MessagingAnswer.writeFields(to: fields, "text/event-stream; charset=utf-8")
            fields.field("X-Accel-Buffering", "no")
        }
    }

    private func finish(_ reason: LinkEnd) {
        let wasAnswered = exchange.isAnswered
        leave()
        guard wasAnswered else {
            switch reason {
            case .unknownToken, .unregistered: MessagingAnswer.refuse(exchange, .unregistered)
            case .tooMany, .stopping, .failed, .replaced: MessagingAnswer.refuse(exchange, .unavailable(retryAfterSeconds: 1))
            }
            return
        }
        exchange.write(Array("event: end\ndata: {\"code\":\(reason.closeCode),\"reason\":\"\(reason.reason)\"}\n\n".utf8).span)
        exchange.end()
    }

    private func leave() {
        guard !isOver else { return }
        isOver = true
        streams.leave(self)
        connection?.end()
        connection = nil
    }

    func beat() {
        if exchange.isAnswered { exchange.write(Array(": alive\n\n".utf8).span) }
    }

    func stop() { finish(.stopping) }

    func exchangeDidDrain(_ exchange: HTTPExchange) { behindBytes = 0 }

    func exchangeDidClose(_ exchange: HTTPExchange) { leave() }
}
