import HearthBytes
import EventLoop

extension HTTPConnection {
    /// Starts the handler's plan for the body; `rest` is the data after the head.
    ///
    /// - Returns: the number of bytes of `rest` that were used.
    func begin(_ plan: BodyPlan, _ exchange: HTTPExchange, _ rest: UnsafeBufferPointer<UInt8>) -> Int {
        exchange.setSink(plan, server.limits)
        guard exchange.intake.hasBody else {
            bodyDidEnd(exchange)
            return 0
        }
        if case .discard = exchange.intake.sink {
            beginDiscarding(exchange)
            return 0
        }
        if exchange.head.contentLength > exchange.intake.countMax {
            refuse(.bodyTooLarge, exchange)
            return 0
        }
        restartBodyWindow(exchange)
        return beginWanted(exchange, rest)
    }

    private func beginWanted(_ exchange: HTTPExchange, _ rest: UnsafeBufferPointer<UInt8>) -> Int {
        if exchange.intake.awaitsContinue, rest.isEmpty { stream.write("HTTP/1.1 100 Continue\r\n\r\n") }
        exchange.intake.awaitsContinue = false
        exchange.startInflating()
        // The whole body is here: lend it to the handler in place.
        if case .collect = exchange.intake.sink, case .length(let count) = exchange.intake.framing, rest.count >= count,
            exchange.intake.inflater == nil
        {
            exchange.intake.framing = .length(remaining: 0)
            phase = .answering
            server.handler.request(exchange, body: Span(_unsafeElements: UnsafeBufferPointer(rebasing: rest[..<count])))
            return count
        }
        return 0
    }

    private func beginDiscarding(_ exchange: HTTPExchange) {
        restartBodyWindow(exchange)
        guard !exchange.intake.isDiscardable(upTo: server.limits.discardedBytesMax) else { return }
        closesAfterAnswer = true
        exchange.intake.isPaused = true
        if exchange.state == .finished { beginClosing() }
    }

    /// Takes part of the body off the front of `bytes`; returns the number of bytes used.
    func readBody(_ bytes: UnsafeBufferPointer<UInt8>, _ exchange: HTTPExchange) -> Int {
        // Small pieces if they may inflate, so that a pause of the receiver takes effect soon.
        let piece = exchange.intake.inflater == nil ? bytes.count : min(bytes.count, 4096)
        var used = piece
        var refusal: HTTPRefusal?
        switch exchange.intake.framing {
        case .none, .framed: break
        case .length(let remaining):
            used = min(remaining, piece)
            exchange.intake.framing = .length(remaining: remaining - used)
            refusal = exchange.deliver(UnsafeBufferPointer(rebasing: bytes[..<used]))
        case .chunked(var decoder):
            let outcome = decoder.next(UnsafeBufferPointer(rebasing: bytes[..<piece]))
            exchange.intake.framing = .chunked(decoder)
            switch outcome {
            case .refused(let reason): refusal = reason
            case .progress(let consumed, let dataCount):
                used = consumed
                if dataCount > 0 {
                    refusal = exchange.deliver(UnsafeBufferPointer(rebasing: bytes[(consumed - dataCount)..<consumed]))
                }
            }
        }
        guard self.exchange === exchange else { return used }
        if let refusal {
            refuse(refusal, exchange)
        } else if exchange.intake.isComplete {
            bodyDidEnd(exchange)
        }
        return used
    }

    /// The request is complete.
    private func bodyDidEnd(_ exchange: HTTPExchange) {
        guard !exchange.isCutShort else { return refuse(.badCompression, exchange) }
        phase = .answering
        exchange.intake.inflater = nil
        guard exchange.state != .finished else { return endRequest() }
        exchange.finishBody(server.handler)
    }
}
