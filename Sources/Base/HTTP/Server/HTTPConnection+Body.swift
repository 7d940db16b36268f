import HearthBytes
import EventLoop

extension HTTPConnection {
    /// Starts the handler's plan for the body; `rest` is the data after the head.
    ///
    /// - Returns: the number of bytes of `rest` that were used.
    func begin(_ plan: BodyPlan, _ exchange: HTTPExchange, _ rest: UnsafeBufferPointer<UInt8>) -> Int {
        setSink(of: exchange, plan)
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

    private func setSink(of exchange: HTTPExchange, _ plan: BodyPlan) {
        exchange.intake.countMax = server.limits.bodyBytesMax
        switch plan {
        case .stream(let receiver) where exchange.isOpen:
            exchange.intake.sink = .stream(receiver)
        case .collect(let limit) where exchange.isOpen:
            exchange.intake.sink = .collect
            exchange.intake.countMax = min(limit, server.limits.bodyBytesMax)
            exchange.intake.isPaused = false
        default:
            exchange.intake.sink = .discard
            exchange.intake.isPaused = false
        }
    }

    private func beginWanted(_ exchange: HTTPExchange, _ rest: UnsafeBufferPointer<UInt8>) -> Int {
        if exchange.intake.awaitsContinue, rest.isEmpty { stream.write("HTTP/1.1 100 Continue\r\n\r\n") }
        exchange.intake.awaitsContinue = false
        switch exchange.head.contentCoding {
        case .gzip: exchange.intake.inflater = Inflater(.gzip)
        case .deflate: exchange.intake.inflater = Inflater(.deflate)
        case .identity, .unknown: break
        }
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
        case .none: break
        case .length(let remaining):
            used = min(remaining, piece)
            exchange.intake.framing = .length(remaining: remaining - used)
            refusal = deliver(UnsafeBufferPointer(rebasing: bytes[..<used]), exchange)
        case .chunked(var decoder):
            let outcome = decoder.next(UnsafeBufferPointer(rebasing: bytes[..<piece]))
            exchange.intake.framing = .chunked(decoder)
            switch outcome {
            case .refused(let reason): refusal = reason
            case .progress(let consumed, let dataCount):
                used = consumed
                if dataCount > 0 {
                    refusal = deliver(UnsafeBufferPointer(rebasing: bytes[(consumed - dataCount)..<consumed]), exchange)
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

    private func deliver(_ bytes: UnsafeBufferPointer<UInt8>, _ exchange: HTTPExchange) -> HTTPRefusal? {
        exchange.intake.arrived += bytes.count
        guard let inflater = exchange.intake.inflater else { return take(bytes, exchange) }
        switch inflater.inflate(bytes, { take($0, exchange) }) {
        case .taken: return nil
        case .invalid: return .badCompression
        case .refused(let refusal): return refusal
        }
    }

    private func take(_ bytes: UnsafeBufferPointer<UInt8>, _ exchange: HTTPExchange) -> HTTPRefusal? {
        switch exchange.intake.sink {
        case .undecided, .discard: return nil
        case .collect:
            guard count(bytes, exchange) else { return .bodyTooLarge }
            let inflating = exchange.intake.inflater == nil ? 0 : Inflater.stateBytes
            switch exchange.claim(exchange.body.count + bytes.count + inflating) {
            case .granted: exchange.body.append(UnsafeRawBufferPointer(bytes))
            case .shareIsFull: return .clientIsFull
            case .partIsFull: return .hostIsFull
            }
        case .stream(let receiver):
            guard count(bytes, exchange) else { return .bodyTooLarge }
            receiver.exchange(exchange, didReceive: Span(_unsafeElements: bytes))
        }
        return nil
    }

    private func count(_ bytes: UnsafeBufferPointer<UInt8>, _ exchange: HTTPExchange) -> Bool {
        exchange.intake.count += bytes.count
        return exchange.intake.count <= exchange.intake.countMax
    }

    /// The request is complete.
    private func bodyDidEnd(_ exchange: HTTPExchange) {
        if let inflater = exchange.intake.inflater, !inflater.isComplete {
            if case .discard = exchange.intake.sink {} else { return refuse(.badCompression, exchange) }
        }
        phase = .answering
        exchange.intake.inflater = nil
        guard exchange.state != .finished else { return endRequest() }
        switch exchange.intake.sink {
        case .undecided, .discard: break
        case .collect:
            // The answer may take long; the body is not needed for it.
            var body = ByteBuffer()
            swap(&body, &exchange.body)
            server.handler.request(exchange, body: body.bytes)
            exchange.dropBody()
        case .stream(let receiver): receiver.exchangeDidReceiveAll(exchange)
        }
    }
}
