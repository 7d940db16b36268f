import Configuration
import EventLoop
import FunctionDispatch
import HearthBytes
import HTTP

/// The server-sent events of a streaming callable (spec functions 6): a frame for each chunk, one for the end, and heartbeats while
/// nothing else is sent.
final class EventStream {
    private unowned let call: CallableCall
    private var timer: Timer?
    private var hasStarted = false
    /// Whether `data: ` of the next frame has been sent, by a padding heartbeat.
    private var isFrameOpen = false

    init(_ call: CallableCall) { self.call = call }

    /// Starts the timer of the first heartbeat.
    func startHeartbeats() {
        let options = call.function.options
        guard case .every(let seconds) = options.heartbeat, options.heartbeatStyle != .off, call.exchange.isOpen else { return }
        let milliseconds = UInt64(max(1, seconds * 1000))
        let timer = Timer(loop: call.frontEnd.loop) { [unowned self] in beat() }
        timer.start(afterMilliseconds: milliseconds, repeatMilliseconds: milliseconds)
        self.timer = timer
    }

    /// Sends a frame with `json` in it.
    ///
    /// - Parameter size: the number of bytes to acknowledge to the worker.
    func send(_ json: Span<UInt8>, size: Int) {
        startIfNeeded()
        restartTimer()
        if !isFrameOpen { call.exchange.write("data: ") }
        isFrameOpen = false
        call.send(json, size: size)
        call.exchange.write("\n\n")
    }

    /// Sends the last frame and ends the answer.
    func finish(_ json: Span<UInt8>) {
        send(json, size: 0)
        stop()
        call.exchange.end()
    }

    /// Stops the heartbeats.
    func stop() {
        timer?.close()
        timer = nil
    }

    private func startIfNeeded() {
        guard !hasStarted else { return }
        hasStarted = true
        call.exchange.startResponse(.ok) { fields in
            fields.field("Content-Type", "text/event-stream; charset=utf-8")
            fields.field("Cache-Control", "no-cache, no-transform")
            fields.field("X-Accel-Buffering", "no")
            CORSHeaders.write(call.function.options.cors, for: call.exchange, to: fields)
        }
    }

    private func restartTimer() {
        guard let timer, case .every(let seconds) = call.function.options.heartbeat else { return }
        let milliseconds = UInt64(max(1, seconds * 1000))
        timer.start(afterMilliseconds: milliseconds, repeatMilliseconds: milliseconds)
    }

    /// Sends a heartbeat. The padding style sends blanks before the JSON of the next frame, which the parsers of all clients skip; the comments
    /// of the other style end the stream in two clients.
    private func beat() {
        startIfNeeded()
        switch call.function.options.heartbeatStyle {
        case .comment: call.exchange.write(": ping\n\n")
        case .padding:
            call.exchange.write(isFrameOpen ? " " : "data: ")
            isFrameOpen = true
        case .off: stop()
        }
    }
}

extension HTTPExchange {
    /// Sends a piece of the body.
    func write(_ text: StaticString) {
        write(Span(_unsafeElements: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)))
    }
}
