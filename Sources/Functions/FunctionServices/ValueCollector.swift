import AdminProtocol
import EventLoop
import FunctionDispatch
import RealtimeDatabase
import Tree

/// A whole value that was read for a function.
struct CollectedValue {
    var json: [UInt8]
    var etag: String?
    /// The number of the transaction whose state was read.
    var commit: UInt64
    /// Counts the memory of a long value, until the answer is made.
    var hold: MemoryHold?
}

/// Collects the value of a read, which may arrive in pieces. The read limits its size.
final class ValueCollector {
    enum Outcome {
        case value(CollectedValue)
        /// The answer that says why there is none.
        case refused(ServiceAnswer)
    }

    typealias Completion = (Outcome) -> Void

    private let stream: ValueStream
    private let path: Path
    private let loop: EventLoop
    private let hold: MemoryHold
    private let completion: Completion
    private var json: [UInt8]
    private var timer: Timer?

    /// The interval for checking whether there is memory for another piece.
    private static let roomMilliseconds: UInt64 = 5
    /// The number of checks, in a minute, after which the read and its snapshot are given up.
    private static let looksMax = 12_000
    private var looks = 0

    /// Passes the value of `outcome` to `completion`, at once or when its pieces have arrived.
    static func collect(
        _ outcome: ReadOutcome, at path: Path, of plugin: String, _ memory: MemoryBudget, on loop: EventLoop, completion: @escaping Completion
    ) {
        switch outcome {
        case .value(let json, let etag, let commit): completion(.value(CollectedValue(json: json, etag: etag, commit: commit)))
        case .stream(let stream):
            let hold = MemoryHold(memory.services, memory.share(ofPlugin: plugin), bytes: stream.first.count)
            ValueCollector(stream, path, loop, hold, completion).next()
        case .notModified(let etag, let commit): completion(.value(CollectedValue(json: [], etag: etag, commit: commit)))
        case .node(_, let commit): completion(.value(CollectedValue(json: [], etag: nil, commit: commit)))
        case .refused(let error): completion(.refused(DatabaseServiceRefusal(error, at: path).answer))
        }
    }

    private init(_ stream: ValueStream, _ path: Path, _ loop: EventLoop, _ hold: MemoryHold, _ completion: @escaping Completion) {
        self.hold = hold
        self.stream = stream
        self.path = path
        self.loop = loop
        self.completion = completion
        json = stream.first
    }

    private func next() {
        // A piece is usually as large as the first one.
        guard hold.grow(to: json.count + stream.first.count) == .granted else { return wait() }
        looks = 0
        stream.next(on: loop) { [self] piece in
            switch piece {
            case .some(let more):
                json += more
                next()
            case .last(let rest):
                json += rest
                completion(.value(CollectedValue(json: json, etag: stream.etag, commit: stream.commit, hold: hold)))
            case .failed(let error): completion(.refused(DatabaseServiceRefusal(error, at: path).answer))
            }
        }
    }

    private func wait() {
        looks += 1
        guard looks < Self.looksMax else {
            stream.cancel()
            return completion(.refused(.failure(.resourceExhausted, "there was no memory for the value of \(path) for a minute")))
        }
        let timer = Timer(loop: loop) { [self] in
            self.timer = nil
            next()
        }
        timer.start(afterMilliseconds: Self.roomMilliseconds)
        self.timer = timer
    }
}
