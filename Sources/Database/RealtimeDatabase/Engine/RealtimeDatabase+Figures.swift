public import EventLoop
import Synchronization

/// A part of a namespace's figures, from one of its threads.
public enum NamespaceFigures: Sendable {
    case writer(WriterFigures)
    case reader(ReaderFigures)
}

/// The figures of one or several namespaces.
public struct TotalFigures: Sendable {
    /// The sum of the writers.
    public var writer = WriterFigures()
    /// The sum of the readers.
    public var reader = ReaderFigures()

    /// Creates figures without any requests.
    public init() {}
}

/// The figures of closed namespaces.
struct PastFigures: Sendable {
    /// The sum of the counts while they were open.
    private var totals = TotalFigures()
    /// The waiting events and dead letters, for namespaces that have any.
    private(set) var waiting: [String: (events: Int, deadLetters: Int)] = [:]

    mutating func add(_ figures: TotalFigures, of name: String) {
        let (events, letters) = (figures.writer.waitingEvents, figures.writer.deadLetters)
        waiting[name] = events > 0 || letters > 0 ? (events, letters) : nil
        totals.writer.merge(figures.writer)
        totals.reader.merge(figures.reader)
    }

    /// The sums, without the values that open namespaces report themselves.
    func totals(isOpen: (String) -> Bool) -> TotalFigures {
        var totals = totals
        let closed = waiting.filter { !isOpen($0.key) }.values
        totals.writer.waitingEvents = closed.reduce(0) { $0 + $1.events }
        totals.writer.deadLetters = closed.reduce(0) { $0 + $1.deadLetters }
        totals.writer.listeners = 0
        totals.writer.storedBytes = 0
        return totals
    }
}

extension RealtimeDatabase {
    /// The result of a request for figures.
    public struct Asked: Sendable {
        /// The ids of the open namespaces, each of which reports two parts.
        public var ids: Set<UInt64>
        /// The figures of the closed namespaces.
        public var past: TotalFigures
    }

    /// Requests the figures of all open namespaces. `receive` is called on `loop` with each part, late if a disk is slow. A namespace that was
    /// closed and opened again has another id, and counts from zero.
    public func askForFigures(on loop: EventLoop, receive: @escaping (_ id: UInt64, _ part: NamespaceFigures) -> Void) -> Asked {
        let answer = LoopBound(receive, loop: loop)
        let (namespaces, past) = state.withLock { state in
            // Namespaces that are being closed are not included in the past figures yet.
            (Array(state.namespaces.values) + state.closing, state.past.totals { state.namespaces[$0] != nil })
        }
        for namespace in namespaces {
            let id = namespace.id
            namespace.onWriter { writer in
                let figures = writer.currentFigures
                loop.post { answer.value(id, .writer(figures)) }
            }
            let sum = Mutex(ReaderFigures())
            namespace.onEachReader { reader in
                sum.withLock { $0.merge(reader.figures) }
            } completion: {
                var figures = sum.withLock { $0 }
                figures.merge(namespace.readers.pointFigures)
                loop.post { [figures] in answer.value(id, .reader(figures)) }
            }
        }
        return Asked(ids: Set(namespaces.map(\.id)), past: past)
    }
}
