import HearthBytes
public import EventLoop
import Store
import Synchronization

/// The rest of an answer that is too long for one piece, in a single state of the tree.
///
/// The next piece is to be requested when there is room for it. Holds a snapshot until it ends, is cancelled, or is released by its last owner.
public final class ValueStream: Sendable {
    /// The first piece of the JSON.
    public let first: [UInt8]
    /// The node's etag, if requested.
    public let etag: String?
    /// The number of the transaction whose state is read.
    public let commit: UInt64
    /// The memory that is used until the end: the selection of a query, and a connection to the file.
    public let heldBytes: Int
    private let source: LoopBound<Source>
    private let thread: NamespaceThread
    private let longReads: Seats<NetworkAddress>
    private let seat = Mutex<Seats<NetworkAddress>.Seat?>(nil)

    /// The result of a request for a piece.
    public enum Piece: Sendable {
        /// A piece that others follow.
        case some([UInt8])
        /// The last piece of the JSON.
        case last([UInt8])
        /// The answer cannot be completed.
        case failed(DatabaseError)
    }

    final class Source {
        let stream: any JSONSource
        let reader: NamespaceReader
        var snapshot: NamespaceReader.Snapshot?
        /// Counts the answer among those of the namespace.
        private let seat: Seats<String>.Seat
        var bytesLeft: Int
        let deadline: UInt64
        let began = EventLoop.monotonicNanoseconds()
        /// The reason if the answer was cut off.
        private(set) var failure: DatabaseError?
        var whenCut: (@Sendable (DatabaseError) -> Void)?
        var buffer = ByteBuffer()
        /// Keeps the namespace open until the end.
        var namespace: Namespace?
        /// The operation to record in the profiler at the end.
        var operation: Operation?

        init(
            _ stream: any JSONSource, _ reader: NamespaceReader, _ snapshot: NamespaceReader.Snapshot, _ seat: Seats<String>.Seat, bytesLeft: Int,
            deadline: UInt64
        ) {
            self.seat = seat
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
            seat.end()
            reader.forget(self)
            namespace = nil
            whenCut = nil
        }

        /// Ends the incomplete answer, and notifies its client.
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

    init(first: [UInt8], rest: Source, commit: UInt64, etag: String?) {
        self.first = first
        self.etag = etag
        self.commit = commit
        heldBytes = rest.stream.heldBytes + StoreReader.frugalCacheBytes
        thread = rest.reader.thread
        longReads = rest.reader.settings.longReads
        source = LoopBound(rest, loop: thread.loop)
    }

    deinit { cancel() }

    /// Keeps a namespace open until the end. To be called on the reader's thread.
    func hold(_ namespace: Namespace) { source.value.namespace = namespace }

    /// Records an operation in the profiler at the end. To be called on the reader's thread.
    func profile(_ operation: Operation) {
        source.value.operation = operation
        source.value.operation?.stopwatch?.pause()
    }

    /// Counts the answer among those that a client reads, until its last owner releases it.
    ///
    /// - Parameter client: the address by which requests are counted; see `TrustedProxies.customer(of:)`.
    /// - Returns: the error if the client reads too many long answers. Then the answer is cancelled.
    public func admit(client: NetworkAddress) -> DatabaseError? {
        guard let seat = longReads.take(client) else {
            cancel()
            return .tooManyLongReads(longReads.countMax, by: true)
        }
        self.seat.withLock { $0 = seat }
        return nil
    }

    /// Calls `handler` on `loop` when the answer is cut off, even if no piece is requested.
    public func whenCut(on loop: EventLoop, _ handler: @escaping (DatabaseError) -> Void) {
        let answer = LoopBound(handler, loop: loop)
        thread.post { [source] in
            let tell: @Sendable (DatabaseError) -> Void = { failure in loop.post { answer.value(failure) } }
            let source = source.value
            if let failure = source.failure { return tell(failure) }
            if source.snapshot != nil { source.whenCut = tell }
        }
    }

    /// Produces the next piece. `completion` is called on `loop`.
    public func next(on loop: EventLoop, completion: @escaping (Piece) -> Void) {
        let answer = LoopBound(completion, loop: loop)
        thread.post { [source] in
            let piece = source.value.next()
            loop.post { answer.value(piece) }
        }
    }

    /// Ends the answer, because the rest is not needed.
    public func cancel() {
        thread.post { [source] in source.value.end() }
    }
}
