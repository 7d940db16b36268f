import HearthBytes
import EventLoop

/// The way of a body from the connection to the handler.
extension HTTPExchange {
    /// Applies the handler's plan.
    func setSink(_ plan: BodyPlan, _ limits: HTTPLimits) {
        intake.countMax = limits.bodyBytesMax
        switch plan {
        case .stream(let receiver) where isOpen:
            intake.sink = .stream(receiver)
        case .collect(let limit) where isOpen:
            intake.sink = .collect
            intake.countMax = min(limit, limits.bodyBytesMax)
            intake.isPaused = false
        default:
            intake.sink = .discard
            intake.isPaused = false
        }
    }

    /// Prepares decompression if the body is compressed.
    func startInflating() {
        switch head.contentCoding {
        case .gzip: intake.inflater = Inflater(.gzip)
        case .deflate: intake.inflater = Inflater(.deflate)
        case .identity, .unknown: break
        }
    }

    /// A requirement of a well-formed head that the server does not support.
    var unmetRequirement: HTTPRefusal? {
        if head.expectation == .unknown { return .unknownExpectation }
        guard intake.hasBody else { return nil }
        return head.contentCoding == .unknown ? .unknownCoding : nil
    }

    /// Takes a piece of the body as it arrived.
    func deliver(_ bytes: UnsafeBufferPointer<UInt8>) -> HTTPRefusal? {
        intake.arrived += bytes.count
        guard let inflater = intake.inflater else { return take(bytes) }
        switch inflater.inflate(bytes, { take($0) }) {
        case .taken: return nil
        case .invalid: return .badCompression
        case .refused(let refusal): return refusal
        }
    }

    private func take(_ bytes: UnsafeBufferPointer<UInt8>) -> HTTPRefusal? {
        switch intake.sink {
        case .undecided, .discard: return nil
        case .collect:
            guard count(bytes) else { return .bodyTooLarge }
            let inflating = intake.inflater == nil ? 0 : Inflater.stateBytes
            if let refusal = claimOrRefuse(body.count + bytes.count + inflating) { return refusal }
            body.append(UnsafeRawBufferPointer(bytes))
        case .stream(let receiver):
            guard count(bytes) else { return .bodyTooLarge }
            receiver.exchange(self, didReceive: Span(_unsafeElements: bytes))
        }
        return nil
    }

    /// Charges a body of `count` bytes, or refuses the request.
    func claimOrRefuse(_ count: Int) -> HTTPRefusal? {
        switch claim(count) {
        case .granted: nil
        case .shareIsFull: .clientIsFull
        case .partIsFull: .hostIsFull
        }
    }

    private func count(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        intake.count += bytes.count
        return intake.count <= intake.countMax
    }

    /// Whether the compressed body ends too early. A body that nobody reads may be damaged.
    var isCutShort: Bool {
        guard let inflater = intake.inflater, !inflater.isComplete else { return false }
        if case .discard = intake.sink { return false }
        return true
    }

    /// Tells the handler that the request is complete.
    func finishBody(_ handler: any HTTPHandler) {
        switch intake.sink {
        case .undecided, .discard: break
        case .collect:
            // The answer may take long; the body is not needed for it.
            var body = ByteBuffer()
            swap(&body, &self.body)
            handler.request(self, body: body.bytes)
            dropBody()
        case .stream(let receiver): receiver.exchangeDidReceiveAll(self)
        }
    }
}
