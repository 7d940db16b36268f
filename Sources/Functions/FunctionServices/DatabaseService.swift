import AdminProtocol
import EventLoop
import FunctionDispatch
import HearthBytes
import HearthJSON
import Logs
import RealtimeDatabase
import Tree

/// The database service for functions. `docs/services.md` describes its methods, payloads and answers. Belongs to the dispatcher's loop.
///
/// A function acts as an administrator unless its payload has `auth`; then the rules apply as for a client. Its writes continue the chain of
/// the event that it was called for, so that functions which trigger each other endlessly are detected.
package final class DatabaseService: Service {
    package let name = "database"
    private let database: RealtimeDatabase
    private let loop: EventLoop
    private let memory: MemoryBudget
    private var gates: [String: ServiceGate] = [:]
    private let readBytesMax: Int
    private var pushID = PushID()

    /// The size limit of a payload.
    static let payloadBytesMax = 16 << 20
    /// The size limit of a value that is read, unless the limit of the database is lower.
    private static let readBytesMax = 32 << 20
    /// The size up to which a payload is parsed on the loop. A larger one would delay other calls, and is parsed on another thread.
    private static let shortPayloadBytes = 128 << 10

    private typealias Request = Result<DatabaseServiceRequest, DatabaseServiceRefusal>

    package init(database: RealtimeDatabase, memory: MemoryBudget, loop: EventLoop) {
        self.database = database
        self.memory = memory
        self.loop = loop
        readBytesMax = min(Self.readBytesMax, database.limits.readBytesMax)
    }

    package func handle(_ call: ServiceCall, completion: @escaping (ServiceAnswer) -> Void) {
        guard call.payload.count <= Self.payloadBytesMax else { return completion(DatabaseServiceRefusal.payloadTooLarge.answer) }
        let key = DatabaseServiceRequest.needsKey(call) ? pushID.next(now: WallClock.now().unixMilliseconds) : ""
        guard call.payload.count > Self.shortPayloadBytes else {
            return perform(DatabaseServiceRequest.result(of: call, key), of: call.artifact.name, completion)
        }
        let plugin = call.artifact.name
        loop.offload { DatabaseServiceRequest.result(of: call, key) } then: { [self] in perform($0, of: plugin, completion) }
    }

    private func perform(_ request: Request, of plugin: String, _ completion: @escaping (ServiceAnswer) -> Void) {
        switch request {
        case .failure(let refusal): completion(refusal.answer)
        case .success(let request):
            switch request.action {
            case .read(let read): enter(plugin, completion) { [self] in self.read(read, request, of: plugin, $0) }
            // An aborted transaction answers with the current value, which takes memory too.
            case .write(let write, .outcome): enter(plugin, completion) { [self] in self.write(write, .outcome, request, $0) }
            case .write(let write, let answer): self.write(write, answer, request, completion)
            }
        }
    }

    /// Starts an operation that answers with a value when there is memory for it.
    private func enter(
        _ plugin: String, _ completion: @escaping (ServiceAnswer) -> Void, _ begin: @escaping (@escaping (ServiceAnswer) -> Void) -> Void
    ) {
        let gate = gates[plugin] ?? ServiceGate(loop: loop, share: memory.share(ofPlugin: plugin))
        gates[plugin] = gate
        gate.enter { leave in
            begin { answer in
                completion(answer)
                leave()
            }
        }
    }

    private func read(
        _ read: ReadRequest, _ request: DatabaseServiceRequest, of plugin: String, _ completion: @escaping (ServiceAnswer) -> Void
    ) {
        var read = read
        read.bytesMax = readBytesMax
        do throws(DatabaseError) {
            try database.read(read, from: request.instance ?? database.defaultNamespace, isKnown: false, on: loop) { [loop, memory] outcome in
                switch outcome {
                case .value(let json, let etag, _): completion(.value(json, etag: etag))
                case .stream(let stream):
                    let hold = MemoryHold(memory.services, memory.share(ofPlugin: plugin), bytes: stream.first.count)
                    ValueCollector(stream, request.path, loop, hold, completion).next()
                case .notModified(let etag, _): completion(.value([], etag: etag))
                case .node: completion(.value([], etag: nil))
                case .refused(let error): completion(DatabaseServiceRefusal(error, at: request.path).answer)
                }
            }
        } catch {
            completion(DatabaseServiceRefusal(error, at: request.path).answer)
        }
    }

    private func write(
        _ write: WriteRequest, _ answer: DatabaseServiceRequest.Answer, _ request: DatabaseServiceRequest,
        _ completion: @escaping (ServiceAnswer) -> Void
    ) {
        do throws(DatabaseError) {
            try database.write(write, to: request.instance ?? database.defaultNamespace, isKnown: true, on: loop) { outcome in
                switch outcome {
                case .committed(let receipt): completion(.committed(receipt, answer))
                case .conflict(let value, let etag): completion(.outcome(isCommitted: false, value: value, etag: etag))
                case .refused(let error): completion(DatabaseServiceRefusal(error, at: request.path).answer)
                }
            }
        } catch {
            completion(DatabaseServiceRefusal(error, at: request.path).answer)
        }
    }
}

/// Collects a value that arrives in pieces. The read limits its size.
private final class ValueCollector {
    private let stream: ValueStream
    private let path: Path
    private let loop: EventLoop
    private let hold: MemoryHold
    private let completion: (ServiceAnswer) -> Void
    private var json: [UInt8]
    private var timer: Timer?

    /// The interval for checking whether there is memory for another piece.
    private static let roomMilliseconds: UInt64 = 5
    /// The number of checks, in a minute, after which the read and its snapshot are given up.
    private static let looksMax = 12_000
    private var looks = 0

    init(_ stream: ValueStream, _ path: Path, _ loop: EventLoop, _ hold: MemoryHold, _ completion: @escaping (ServiceAnswer) -> Void) {
        self.hold = hold
        self.stream = stream
        self.path = path
        self.loop = loop
        self.completion = completion
        json = stream.first
    }

    func next() {
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
                completion(.value(json, etag: stream.etag))
            case .failed(let error): completion(DatabaseServiceRefusal(error, at: path).answer)
            }
        }
    }

    private func wait() {
        looks += 1
        guard looks < Self.looksMax else {
            stream.cancel()
            return completion(.failure(.resourceExhausted, "there was no memory for the value of \(path) for a minute"))
        }
        let timer = Timer(loop: loop) { [self] in
            self.timer = nil
            next()
        }
        timer.start(afterMilliseconds: Self.roomMilliseconds)
        self.timer = timer
    }
}

extension ServiceAnswer {
    /// The answer to a committed write.
    fileprivate static func committed(_ receipt: WriteReceipt, _ answer: DatabaseServiceRequest.Answer) -> ServiceAnswer {
        switch answer {
        case .nothing: ServiceAnswer(succeeded: true, body: Array("null".utf8))
        case .key(let key): .success(["name": .string(key)])
        case .outcome: .outcome(isCommitted: true, value: receipt.value?.serialized() ?? [])
        }
    }

    /// The answer to a read: `{"value": ..., "etag": ...}`.
    fileprivate static func value(_ json: [UInt8], etag: String?) -> ServiceAnswer { answer("{\"value\":", json, etag) }

    /// The answer to a transaction: `{"committed": ..., "value": ..., "etag": ...}`.
    fileprivate static func outcome(isCommitted: Bool, value: [UInt8], etag: String? = nil) -> ServiceAnswer {
        answer(isCommitted ? "{\"committed\":true,\"value\":" : "{\"committed\":false,\"value\":", value, etag)
    }

    private static func answer(_ start: StaticString, _ json: [UInt8], _ etag: String?) -> ServiceAnswer {
        var buffer = ByteBuffer()
        buffer.append(start)
        if json.isEmpty { buffer.append("null") } else { buffer.append(json.span) }
        if let etag {
            // An etag is base64 or a plain word, so nothing has to be escaped.
            buffer.append(",\"etag\":\"")
            buffer.append(etag)
            buffer.append("\"")
        }
        buffer.append("}")
        return ServiceAnswer(succeeded: true, body: buffer.array())
    }
}
