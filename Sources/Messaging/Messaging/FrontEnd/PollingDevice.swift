import HearthBytes
import EventLoop
import HTTP
import HearthJSON

/// A device that polls for messages, and waits for a limited time if there are none (spec messaging 6.8). For tests and scripts.
final class PollingDevice: DeviceClient, HTTPExchangeObserver {
    private let exchange: HTTPExchange
    private let streams: DeviceStreams
    private let messagesMax: Int
    private let waitMilliseconds: UInt64
    private var connection: EmbeddedBackend.Connecting?
    private var timer: Timer?
    private var isOver = false

    init(_ exchange: HTTPExchange, _ streams: DeviceStreams, waitSeconds: Int, messagesMax: Int) {
        self.exchange = exchange
        self.streams = streams
        self.messagesMax = messagesMax
        waitMilliseconds = UInt64(waitSeconds) * 1000
    }

    func open(token: String, state: DeviceState) {
        guard streams.join(self) else { return MessagingAnswer.refuse(exchange, .unavailable(retryAfterSeconds: 1)) }
        exchange.observer = self
        connection = streams.backend.connect(token: token, state: state, last: nil, on: streams.loop) { [self] in receive($0) }
    }

    private func receive(_ news: LinkNews) {
        guard !isOver else { return }
        switch news {
        case .frames(let frames):
            let messages = frames.filter { $0.kind != .ready }.prefix(messagesMax)
            if !messages.isEmpty || waitMilliseconds == 0 { return answer(Array(messages)) }
            guard timer == nil else { return }
            let timer = Timer(loop: streams.loop) { [unowned self] in answer([]) }
            timer.start(afterMilliseconds: waitMilliseconds)
            self.timer = timer
        case .ended(let reason):
            leave()
            let isGone = reason == .unknownToken || reason == .unregistered
            MessagingAnswer.refuse(exchange, isGone ? .unregistered : .unavailable(retryAfterSeconds: 1))
        }
    }

    private func answer(_ frames: [DeviceFrame]) {
        leave()
        let body = JSONWriter.bytes { json in
            json.object { json in
                json.key("messages")
                json.array { json in for frame in frames { json.raw(frame.json.span) } }
            }
        }
        exchange.respond(.ok, body: body.span) { MessagingAnswer.writeFields(to: $0, "application/json; charset=UTF-8") }
    }

    private func leave() {
        guard !isOver else { return }
        isOver = true
        timer?.close()
        timer = nil
        streams.leave(self)
        connection?.end()
        connection = nil
    }

    func beat() {}

    func stop() { if !isOver { answer([]) } }

    func exchangeDidClose(_ exchange: HTTPExchange) { leave() }
}
