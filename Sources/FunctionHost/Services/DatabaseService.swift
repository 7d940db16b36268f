import Bytes
import EventLoop
import Glibc
import JSON
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

    /// The largest payload. It is read on the dispatcher's loop, which every call of a function waits for.
    static let payloadBytesMax = 16 << 20
    /// The largest value that is read, unless the database allows less.
    static let readBytesMax = 32 << 20

    init(database: RealtimeDatabase, loop: EventLoop) {
        self.database = database
        self.loop = loop
        readBytesMax = min(Self.readBytesMax, database.limits.readBytesMax)
    }

    /// What a function asks for.
    private enum Method: String, CaseIterable {
        case get, set, setPriority, update, push, remove, transaction
    }

    func handle(_ call: ServiceCall, completion: @escaping (ServiceAnswer) -> Void) {
        do throws(DatabaseServiceRefusal) {
            guard let method = Method(rawValue: call.method) else { throw .unknownMethod(call.method, Method.allCases.map(\.rawValue)) }
            guard call.payload.count <= Self.payloadBytesMax else { throw .payloadTooLarge }
            let payload = try DatabaseServicePayload(call.payload)
            switch method {
            case .get: try get(payload, completion)
            case .set: try write(.set(payload.path, payload.draft()), payload, call, completion)
            case .setPriority: try write(.setPriority(payload.path, payload.priorityDraft()), payload, call, completion)
            case .update: try write(.update(base: payload.path, payload.updateDraft()), payload, call, completion)
            case .remove: try write(.set(payload.path, Draft(.empty)), payload, call, completion)
            case .push: try push(payload, call, completion)
            case .transaction: try transaction(payload, call, completion)
            }
        } catch {
            completion(error.answer)
        }
    }

    // MARK: Reading

    private func get(
        _ payload: DatabaseServicePayload, _ completion: @escaping (ServiceAnswer) -> Void
    ) throws(DatabaseServiceRefusal) {
        var request = ReadRequest(payload.path, try payload.query().map { .query($0) } ?? .value, principal: payload.principal)
        request.form = try payload.form()
        request.wantsETag = try payload.wantsETag()
        request.bytesMax = readBytesMax
        try namespace(payload, createsIfAbsent: false).read(request, on: loop) { [loop] outcome in
            switch outcome {
            case .value(let json, let etag, _): completion(.value(json, etag: etag))
            case .stream(let stream): ValueCollector(stream, loop, completion).next()
            case .notModified(let etag): completion(.value([], etag: etag))
            case .refused(let error): completion(DatabaseServiceRefusal(error, at: payload.path).answer)
            }
        }
    }

    // MARK: Writing

    private func write(
        _ operation: WriteRequest.Operation, _ payload: DatabaseServicePayload, _ call: ServiceCall,
        _ completion: @escaping (ServiceAnswer) -> Void
    ) throws(DatabaseServiceRefusal) {
        try write(request(operation, payload, call), payload, completion) { _ in .null }
    }

    private func push(
        _ payload: DatabaseServicePayload, _ call: ServiceCall, _ completion: @escaping (ServiceAnswer) -> Void
    ) throws(DatabaseServiceRefusal) {
        let key = pushID.next(now: Self.now)
        let place = try payload.child(key)
        let write = request(.set(place.path, try place.draft()), place, call)
        try self.write(write, place, completion) { _ in .success(["name": .string(key)]) }
    }

    private func transaction(
        _ payload: DatabaseServicePayload, _ call: ServiceCall, _ completion: @escaping (ServiceAnswer) -> Void
    ) throws(DatabaseServiceRefusal) {
        var write = request(.set(payload.path, try payload.draft()), payload, call)
        write.ifMatch = try payload.etag()
        write.wantsValue = true
        try self.write(write, payload, completion) { receipt in
            .outcome(isCommitted: true, value: receipt.value?.serialized() ?? [])
        }
    }

    private func request(
        _ operation: WriteRequest.Operation, _ payload: DatabaseServicePayload, _ call: ServiceCall
    ) -> WriteRequest {
        WriteRequest(operation, principal: payload.principal, origin: payload.origin, chain: call.chain)
    }

    private func write(
        _ request: WriteRequest, _ payload: DatabaseServicePayload, _ completion: @escaping (ServiceAnswer) -> Void,
        answer: @escaping (WriteReceipt) -> ServiceAnswer
    ) throws(DatabaseServiceRefusal) {
        try namespace(payload, createsIfAbsent: true).write(request, on: loop) { outcome in
            switch outcome {
            case .committed(let receipt): completion(answer(receipt))
            case .conflict(let value, let etag): completion(.outcome(isCommitted: false, value: value, etag: etag))
            case .refused(let error): completion(DatabaseServiceRefusal(error, at: payload.path).answer)
            }
        }
    }

    private func namespace(_ payload: DatabaseServicePayload, createsIfAbsent: Bool) throws(DatabaseServiceRefusal) -> Namespace {
        do throws(DatabaseError) {
            return try database.namespace(payload.instance ?? database.defaultNamespace, createsIfAbsent: createsIfAbsent)
        } catch {
            throw DatabaseServiceRefusal(error, at: payload.path)
        }
    }

    private static var now: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
    }
}

/// Gathers a value that comes in pieces; how many there may be at most is the read's own limit.
private final class ValueCollector {
    private let stream: ValueStream
    private let loop: EventLoop
    private let completion: (ServiceAnswer) -> Void
    private var json: [UInt8]

    init(_ stream: ValueStream, _ loop: EventLoop, _ completion: @escaping (ServiceAnswer) -> Void) {
        self.stream = stream
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
            case .failed(let error): completion(DatabaseServiceRefusal(error, at: .root).answer)
            }
        }
    }
}

extension ServiceAnswer {
    /// The answer of a method that returns nothing.
    fileprivate static let null = ServiceAnswer(succeeded: true, body: Array("null".utf8))

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
