public import EventLoop

/// What the messaging service has counted, and what there is at this moment.
public struct MessagingFigures: Sendable {
    public var sends = SendFigures()
    public var store = StoreFigures()
    public var google = GoogleFigures()

    /// Nothing was done yet.
    public init() {}
}

extension MessagingService {
    /// Asks all threads that count; answers on `loop`, when the store's thread has its turn.
    public func askForFigures(on loop: EventLoop, _ answer: @escaping (MessagingFigures) -> Void) {
        let answer = LoopBound(answer, loop: loop)
        embedded.askForFigures { [sendCounter, backend] store in
            var figures = MessagingFigures()
            figures.store = store
            figures.sends = sendCounter.figures
            if let google = backend as? GoogleBackend { figures.google = google.figures }
            loop.post { [figures] in answer.value(figures) }
        }
    }
}
