/// Framing of a request's body, destination of its bytes, and progress.
struct BodyIntake {
    enum Framing {
        case none
        case length(remaining: Int)
        case chunked(ChunkDecoder)
        /// The frames of HTTP/2 say where the body ends.
        case framed(isComplete: Bool)
    }

    enum Sink {
        /// The handler has not decided yet.
        case undecided
        case discard
        case collect
        case stream(any HTTPBodyReceiver)
    }

    var framing = Framing.none
    var sink = Sink.undecided
    var inflater: Inflater?
    /// Bytes of the body after decompression, and their limit.
    var count = 0
    var countMax = 0
    /// Bytes taken from the connection since progress was last checked.
    var arrived = 0
    /// Whether the client waits for `100 Continue` before it sends the body.
    var awaitsContinue = false
    /// Whether no more data is wanted now, by the receiver or because there is none.
    var isPaused = false

    init() {}

    /// Framing as the fields of `head` declare it.
    init(_ head: borrowing RequestHead) {
        if head.isChunked {
            framing = .chunked(ChunkDecoder())
        } else if head.contentLength > 0 {
            framing = .length(remaining: head.contentLength)
        }
        awaitsContinue = hasBody && head.expectation == .continueFirst
    }

    /// The body of a stream of HTTP/2.
    init(_ head: borrowing RequestHead, isComplete: Bool) {
        if !isComplete { framing = .framed(isComplete: false) }
        awaitsContinue = hasBody && head.expectation == .continueFirst
    }

    var hasBody: Bool {
        if case .none = framing { false } else { true }
    }

    var isComplete: Bool {
        switch framing {
        case .none: true
        case .length(let remaining): remaining == 0
        case .chunked(let decoder): decoder.isComplete
        case .framed(let isComplete): isComplete
        }
    }

    /// Whether the rest is certainly small enough to be read and discarded.
    func isDiscardable(upTo limit: Int) -> Bool {
        switch framing {
        case .none: true
        case .length(let remaining): !awaitsContinue && remaining <= limit
        case .chunked(let decoder): decoder.isComplete
        case .framed(let isComplete): isComplete
        }
    }
}
