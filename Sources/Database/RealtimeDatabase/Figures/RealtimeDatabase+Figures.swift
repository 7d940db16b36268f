public import EventLoop
import Synchronization

/// A part of a namespace's figures, as its threads tell them.
public enum NamespaceFigures: Sendable {
    case writer(WriterFigures)
    case reader(ReaderFigures)
}

/// What a namespace has counted, or several together.
public struct TotalFigures: Sendable {
    /// Of their writers.
    public var writer = WriterFigures()
    /// Of their readers.
    public var reader = ReaderFigures()

    /// Nothing was done yet.
    public init() {}
}

/// What is known of namespaces that are closed.
struct PastFigures: Sendable {
    /// What they counted while they were open.
    private var totals = TotalFigures()
    /// What waits in those in which something does.
    private(set) var waiting: [String: (events: Int, deadLetters: Int)] = [:]

    mutating func add(_ figures: TotalFigures, of name: String) {
        let (events, letters) = (figures.writer.waitingEvents, figures.writer.deadLetters)
        waiting[name] = events > 0 || letters > 0 ? (events, letters) : nil
        totals.writer.merge(figures.writer)
        totals.reader.merge(figures.reader)
    }

    /// The sums, without what open namespaces tell themselves.
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
    /// Who was asked for figures.
    public struct Asked: Sendable {
        /// The ids of namespaces that are open, each of which has two parts.
        public var ids: Set<UInt64>
        /// The figures of those that were open and are not.
        public var past: TotalFigures
    }

    /// Asks every open namespace for its figures. `receive` is called on `loop` with each part; one whose disk does not answer
    /// comes late. A namespace that was closed and opened again has another id, and counts from zero.
    public func askForFigures(on loop: EventLoop, receive: @escaping (_ id: UInt64, _ part: NamespaceFigures) -> Void) -> Asked {
        let answer = LoopBound(receive, loop: loop)
        let (namespaces, past) = state.withLock { state in
            // What is being closed is not among the past yet.
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
                let figures = sum.withLock { $0 }
                loop.post { answer.value(id, .reader(figures)) }
            }
        }
        return Asked(ids: Set(namespaces.map(\.id)), past: past)
    }
}
