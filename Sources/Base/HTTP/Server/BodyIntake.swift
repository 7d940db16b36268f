/// How a request's body is delimited, where its bytes go, and how far it has come.
struct BodyIntake {
    enum Framing {
        case none
        case length(remaining: Int)
        case chunked(ChunkDecoder)
    }

    enum Sink {
        /// The handler has not said yet.
        case undecided
        case discard
        case collect
        case stream(any HTTPBodyReceiver)
    }

    var framing = Framing.none
    var sink = Sink.undecided
    var inflater: Inflater?
    /// Bytes of the body after decompression, and how many there may be.
    var count = 0
    var countMax = 0
    /// Bytes taken from the connection since the progress of the body was last looked at.
    var arrived = 0
    /// Whether the client waits for `100 Continue` before it sends the body.
    var awaitsContinue = false
    /// Whether the receiver, or nobody, wants more now.
    var isPaused = false

    init() {}

    /// What the framing fields of `head` promise.
    init(_ head: borrowing RequestHead) {
        if head.isChunked {
            framing = .chunked(ChunkDecoder())
        } else if head.contentLength > 0 {
            framing = .length(remaining: head.contentLength)
        }
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
        }
    }

    /// Whether what is left is surely little enough to be read and thrown away.
    func isDiscardable(upTo limit: Int) -> Bool {
        switch framing {
        case .none: true
        case .length(let remaining): !awaitsContinue && remaining <= limit
        case .chunked(let decoder): decoder.isComplete
        }
    }
}
