public import EventLoop

/// Metrics of the messaging service.
public struct MessagingFigures: Sendable {
    public var sends = SendFigures()
    public var store = StoreFigures()
    public var google = GoogleFigures()

    /// Figures of a new service.
    public init() {}
}

extension MessagingService {
    /// Collects the figures of all threads, and answers on `loop`.
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
