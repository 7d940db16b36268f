import HearthBytes
import EventLoop
import HearthJSON
import RealtimeDatabase
import Tree

/// The database as functions use it: `docs/services.md` describes methods, payloads and answers. Belongs to the dispatcher's
/// loop.
///
/// A function acts as an administrator unless its payload has `auth`; then the rules decide as for a client. What it writes
/// carries the chain of the event that it runs because of, so that functions which run each other without end are found.
final class DatabaseService: Service {
    let name = "database"
    private let database: RealtimeDatabase
    private let loop: EventLoop
    private let readBytesMax: Int
    private var pushID = PushID()

    /// The largest payload.
    static let payloadBytesMax = 16 << 20
    /// The largest value that is read, unless the database allows less.
    private static let readBytesMax = 32 << 20
    /// A payload up to here is read at once. Every call of a function waits for the loop, which a longer one would hold up.
    private static let shortPayloadBytes = 128 << 10

    private typealias Request = Result<DatabaseServiceRequest, DatabaseServiceRefusal>

    init(database: RealtimeDatabase, loop: EventLoop) {
        self.database = database
        self.loop = loop
        readBytesMax = min(Self.readBytesMax, database.limits.readBytesMax)
    }

    func handle(_ call: ServiceCall, completion: @escaping (ServiceAnswer) -> Void) {
        guard call.payload.count <= Self.payloadBytesMax else { return completion(DatabaseServiceRefusal.payloadTooLarge.answer) }
        let key = DatabaseServiceRequest.needsKey(call) ? pushID.next(now: WallClock.now().unixMilliseconds) : ""
        guard call.payload.count > Self.shortPayloadBytes else { return perform(DatabaseServiceRequest.result(of: call, key), completion) }
        let service = LoopBound(self, loop: loop)
        let answer = LoopBound(completion, loop: loop)
        let loop = loop
        Task {
            let request: Request
            do {
                request = try await loop.offload { DatabaseServiceRequest.result(of: call, key) }
            } catch {
                request = .failure(.unavailable("\(error)"))
            }
            loop.post { service.value.perform(request, answer.value) }
        }
    }

    private func perform(_ request: Request, _ completion: @escaping (ServiceAnswer) -> Void) {
        do throws(DatabaseServiceRefusal) {
            let request = try request.get()
            switch request.action {
            case .read(let read): try perform(read, request, completion)
            case .write(let write, let answer): try perform(write, answer, request, completion)
            }
        } catch {
            completion(error.answer)
        }
    }

    private func perform(
        _ read: ReadRequest, _ request: DatabaseServiceRequest, _ completion: @escaping (ServiceAnswer) -> Void
    ) throws(DatabaseServiceRefusal) {
        var read = read
        read.bytesMax = readBytesMax
        try namespace(request, createsIfAbsent: false).read(read, on: loop) { [loop] outcome in
            switch outcome {
            case .value(let json, let etag, _): completion(.value(json, etag: etag))
            case .stream(let stream): ValueCollector(stream, request.path, loop, completion).next()
            case .notModified(let etag): completion(.value([], etag: etag))
            case .refused(let error): completion(DatabaseServiceRefusal(error, at: request.path).answer)
            }
        }
    }

    private func perform(
        _ write: WriteRequest, _ answer: DatabaseServiceRequest.Answer, _ request: DatabaseServiceRequest,
        _ completion: @escaping (ServiceAnswer) -> Void
    ) throws(DatabaseServiceRefusal) {
        try namespace(request, createsIfAbsent: true).write(write, on: loop) { outcome in
            switch outcome {
            case .committed(let receipt): completion(.committed(receipt, answer))
            case .conflict(let value, let etag): completion(.outcome(isCommitted: false, value: value, etag: etag))
            case .refused(let error): completion(DatabaseServiceRefusal(error, at: request.path).answer)
            }
        }
    }

    private func namespace(_ request: DatabaseServiceRequest, createsIfAbsent: Bool) throws(DatabaseServiceRefusal) -> Namespace {
        do throws(DatabaseError) {
            return try database.namespace(request.instance ?? database.defaultNamespace, createsIfAbsent: createsIfAbsent)
        } catch {
            throw DatabaseServiceRefusal(error, at: request.path)
        }
    }
}

/// Gathers a value that comes in pieces; how many bytes there may be is the read's own limit.
private final class ValueCollector {
    private let stream: ValueStream
    private let path: Path
    private let loop: EventLoop
    private let completion: (ServiceAnswer) -> Void
    private var json: [UInt8]

    init(_ stream: ValueStream, _ path: Path, _ loop: EventLoop, _ completion: @escaping (ServiceAnswer) -> Void) {
        self.stream = stream
        self.path = path
        self.loop = loop
        self.completion = completion
        json = stream.first
    }

    func next() {
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
}

extension ServiceAnswer {
    /// What a write answers once it is durable.
    fileprivate static func committed(_ receipt: WriteReceipt, _ answer: DatabaseServiceRequest.Answer) -> ServiceAnswer {
        switch answer {
        case .nothing: ServiceAnswer(succeeded: true, body: Array("null".utf8))
        case .key(let key): .success(["name": .string(key)])
        case .outcome: .outcome(isCommitted: true, value: receipt.value?.serialized() ?? [])
        }
    }

    /// `{"value": ..., "etag": ...}`
    fileprivate static func value(_ json: [UInt8], etag: String?) -> ServiceAnswer { answer("{\"value\":", json, etag) }

    /// `{"committed": ..., "value": ..., "etag": ...}`
    fileprivate static func outcome(isCommitted: Bool, value: [UInt8], etag: String? = nil) -> ServiceAnswer {
        answer(isCommitted ? "{\"committed\":true,\"value\":" : "{\"committed\":false,\"value\":", value, etag)
    }

    private static func answer(_ start: StaticString, _ json: [UInt8], _ etag: String?) -> ServiceAnswer {
        var buffer = ByteBuffer()
        buffer.append(start)
        if json.isEmpty { buffer.append("null") } else { buffer.append(json.span) }
        if let etag {
            // An etag is base64 or a plain word: nothing in it needs an escape.
            buffer.append(",\"etag\":\"")
            buffer.append(etag)
            buffer.append("\"")
        }
        buffer.append("}")
        return ServiceAnswer(succeeded: true, body: buffer.array())
    }
}
