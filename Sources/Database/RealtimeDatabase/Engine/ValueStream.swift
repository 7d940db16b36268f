import HearthBytes
public import EventLoop
import Synchronization

/// The rest of an answer that is too long for one piece, all of it of one state of the tree.
///
/// Ask for a piece when there is room for it. It holds a snapshot until its end, its cancelling, or the end of its last owner.
public final class ValueStream: Sendable {
    /// The beginning of the JSON.
    public let first: [UInt8]
    /// The node's etag, where it was asked for.
    public let etag: String?
    /// The transaction whose state it is.
    public let commit: UInt64
    /// Memory that it takes until its end: what a query has selected, and a connection to the file.
    public let heldBytes: Int
    private let source: LoopBound<Source>
    private let thread: NamespaceThread
    private let longReads: LongReads
    private let seat = Mutex<LongReads.Seat?>(nil)

    /// What happened when a piece was asked for.
    public enum Piece: Sendable {
        /// More follows.
        case some([UInt8])
        /// The end of the JSON.
        case last([UInt8])
        /// It cannot be completed.
        case failed(DatabaseError)
    }

    final class Source {
        let stream: JSONStream
        let reader: NamespaceReader
        var snapshot: NamespaceReader.Snapshot?
        var bytesLeft: Int
        let deadline: UInt64
        let began = EventLoop.monotonicNanoseconds()
        /// Why it was cut off, where it was.
        private(set) var failure: DatabaseError?
        var whenCut: (@Sendable (DatabaseError) -> Void)?
        var buffer = ByteBuffer()
        /// Stays open until the end.
        var namespace: Namespace?
        /// What the profiler is told at the end.
        var operation: Operation?

        init(_ stream: JSONStream, _ reader: NamespaceReader, _ snapshot: NamespaceReader.Snapshot, bytesLeft: Int, deadline: UInt64) {
            self.stream = stream
            self.reader = reader
            self.snapshot = snapshot
            self.bytesLeft = bytesLeft
            self.deadline = deadline
            reader.keep(self)
        }

        func end() {
            guard let snapshot else { return }
            self.snapshot = nil
            operation?.stopwatch?.resume()
            if let operation { reader.didEnd(operation) }
            reader.release(snapshot)
            reader.forget(self)
            namespace = nil
            whenCut = nil
        }

        /// Ends it although it is not complete, and tells the one who reads it.
        func cut(_ failure: DatabaseError) {
            let whenCut = whenCut
            self.failure = failure
            end()
            whenCut?(failure)
        }

        func next() -> Piece {
            guard snapshot != nil else { return .failed(failure ?? .stopping) }
            guard deadline == 0 || EventLoop.monotonicNanoseconds() < deadline else {
                end()
                return .failed(DatabaseError(.timedOut, "The read took longer than its timeout."))
            }
            operation?.stopwatch?.resume()
            defer { operation?.stopwatch?.pause() }
            do throws(ReadError) {
                buffer.clear(keepingAtMost: 2 * NamespaceReader.pieceBytes)
                let hasMore = try stream.next(into: &buffer, atLeast: NamespaceReader.pieceBytes)
                bytesLeft -= buffer.count
                operation?.bytes? += buffer.count
                reader.figures.bytes += buffer.count
                guard bytesLeft >= 0 else { throw .tooLarge }
                if hasMore { return .some(buffer.array()) }
                end()
                return .last(buffer.array())
            } catch {
                end()
                return .failed(reader.refusal(error))
            }
        }
    }

    init(
        first: [UInt8], rest: JSONStream, snapshot: NamespaceReader.Snapshot, reader: NamespaceReader, request: ReadRequest, etag: String?
    ) {
        self.first = first
        self.etag = etag
        commit = snapshot.commit
        heldBytes = rest.heldBytes + SQLiteReader.frugalCacheBytes
        thread = reader.thread
        longReads = reader.longReads
        source = LoopBound(
            Source(rest, reader, snapshot, bytesLeft: request.bytesMax - first.count, deadline: request.deadline), loop: reader.thread.loop)
    }

    deinit { cancel() }

    /// Keeps a namespace open until the end. On the reader's thread.
    func hold(_ namespace: Namespace) { source.value.namespace = namespace }

    /// Has the profiler told of it at its end. On the reader's thread.
    func profile(_ operation: Operation) {
        source.value.operation = operation
        source.value.operation?.stopwatch?.pause()
    }

    /// Counts it among those that a client reads, until its last owner lets go of it.
    ///
    /// - Parameter client: whose requests are counted together; see `TrustedProxies.customer(of:)`.
    /// - Returns: why it cannot be read, where the client reads as many as it may; it is cancelled then.
    public func admit(client: NetworkAddress) -> DatabaseError? {
        guard let seat = longReads.enter(client) else {
            cancel()
            return .tooManyLongReads(longReads.perClientMax, by: true)
        }
        self.seat.withLock { $0 = seat }
        return nil
    }

    /// Has `handler` called on `loop` when it is cut off, also while no piece is asked for.
    public func whenCut(on loop: EventLoop, _ handler: @escaping (DatabaseError) -> Void) {
        let answer = LoopBound(handler, loop: loop)
        thread.post { [source] in
            let tell: @Sendable (DatabaseError) -> Void = { failure in loop.post { answer.value(failure) } }
            let source = source.value
            if let failure = source.failure { return tell(failure) }
            if source.snapshot != nil { source.whenCut = tell }
        }
    }

    /// Makes the next piece; `completion` is called on `loop`.
    public func next(on loop: EventLoop, completion: @escaping (Piece) -> Void) {
        let answer = LoopBound(completion, loop: loop)
        thread.post { [source] in
            let piece = source.value.next()
            loop.post { answer.value(piece) }
        }
    }

    /// Nobody wants the rest.
    public func cancel() {
        thread.post { [source] in source.value.end() }
    }
}
