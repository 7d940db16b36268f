import HearthBytes
import EventLoop

extension HTTPConnection {
    /// Reads a head off the front of `bytes`, and the body if all of it is there.
    ///
    /// - Returns: the number of bytes used; nil if more are needed.
    func readHead(_ bytes: UnsafeBufferPointer<UInt8>) -> Int? {
        guard let base = bytes.baseAddress else { return nil }
        if phase == .idle { scan = HeadScan() }
        if scan.position == 0, !hasSkippedBlankLine, bytes.count >= 2, bytes[0] == 0x0D, bytes[1] == 0x0A {
            // Some clients send an empty line after a body (RFC 9112 section 2.2).
            hasSkippedBlankLine = true
            return 2
        }
        if phase == .idle { headBegan() }
        switch scan.advance(base, count: bytes.count) {
        case .complete(let count):
            guard count <= server.limits.headBytesMax else {
                refuse(scan.requestLineEnd > server.limits.targetBytesMax + 64 ? .targetTooLong : .headTooLarge, nil)
                return bytes.count
            }
            hasSkippedBlankLine = false
            return takeHead(bytes, count: count)
        case .incomplete:
            guard let refusal = tooLarge(bytes.count) else { return nil }
            refuse(refusal, nil)
        case .refused(let refusal):
            refuse(refusal, nil)
        }
        return bytes.count
    }

    private func tooLarge(_ count: Int) -> HTTPRefusal? {
        // The method and the version are part of the first line too.
        if scan.requestLineEnd < 0, count > server.limits.targetBytesMax + 64 { return .targetTooLong }
        return count > server.limits.headBytesMax ? .headTooLarge : nil
    }

    private func takeHead(_ bytes: UnsafeBufferPointer<UInt8>, count: Int) -> Int {
        guard let base = bytes.baseAddress else { return 0 }
        let exchange = server.takeExchange()
        exchange.head.load(base, count: count)
        exchange.connection = self
        self.exchange = exchange
        let refusal =
            HeadRules.checkVersion(of: exchange.head, requestLineEnd: scan.requestLineEnd)
            ?? server.parser.parse(&exchange.head, after: scan)
            ?? HeadRules.apply(to: &exchange.head, requestLineEnd: scan.requestLineEnd, limits: server.limits)
        if let refusal {
            refuse(refusal, nil)
            return count
        }
        exchange.intake = BodyIntake(exchange.head)
        phase = exchange.intake.hasBody ? .body : .answering
        if let refusal = exchange.unmetRequirement {
            refuse(refusal, exchange)
            return count
        }
        let plan = server.handler.head(exchange)
        guard self.exchange === exchange else { return count }
        return count + begin(plan, exchange, UnsafeBufferPointer(rebasing: bytes[count...]))
    }
}
