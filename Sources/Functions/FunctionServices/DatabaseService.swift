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
    private let observers: Observers
    private let readBytesMax: Int
    private var pushID = PushID()
    /// How long the keys of writes that are performed once are kept.
    private let onceMilliseconds: Int64

    /// The size limit of a payload.
    static let payloadBytesMax = 16 << 20
    /// The size limit of a value that is read, unless the limit of the database is lower.
    private static let readBytesMax = 32 << 20
    /// The size up to which a payload is parsed on the loop. A larger one would delay other calls, and is parsed on another thread.
    private static let shortPayloadBytes = 128 << 10

    private typealias Request = Result<DatabaseServiceRequest, DatabaseServiceRefusal>

    package init(database: RealtimeDatabase, onceSeconds: Double, memory: MemoryBudget, loop: EventLoop) {
        self.database = database
        onceMilliseconds = Int64(onceSeconds * 1000)
        self.memory = memory
        self.loop = loop
        observers = Observers(database, memory, loop)
        readBytesMax = min(Self.readBytesMax, database.limits.readBytesMax)
    }

    package func handle(_ call: ServiceCall, completion: @escaping (ServiceAnswer) -> Void) {
        guard call.payload.count <= Self.payloadBytesMax else { return completion(DatabaseServiceRefusal.payloadTooLarge.answer) }
        let key = DatabaseServiceRequest.needsKey(call) ? pushID.next(now: WallClock.now().unixMilliseconds) : ""
        guard call.payload.count > Self.shortPayloadBytes else {
            return perform(DatabaseServiceRequest.result(of: call, key), call, completion)
        }
        loop.offload { DatabaseServiceRequest.result(of: call, key) } then: { [self] in perform($0, call, completion) }
    }

    package func hostChanges() { observers.hostChanges() }

    package func hostStops() { observers.hostStops() }

    private func perform(_ request: Request, _ call: ServiceCall, _ completion: @escaping (ServiceAnswer) -> Void) {
        let plugin = call.artifact.name
        switch request {
        case .failure(let refusal): completion(refusal.answer)
        case .success(let request):
            switch request.action {
            case .read(let read):
                enter(plugin, completion) { [self] in
                    self.read(read, request, of: plugin, $0) { value, answer in answer(.value(value.json, etag: value.etag)) }
                }
            case .observe(let observe): self.observe(observe, request, call, completion)
            case .unobserve(let id):
                observers.end(id: id, of: plugin)
                completion(.success(.null))
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
        _ read: ReadRequest, _ request: DatabaseServiceRequest, of plugin: String, _ completion: @escaping (ServiceAnswer) -> Void,
        _ answer: @escaping (CollectedValue, @escaping (ServiceAnswer) -> Void) -> Void
    ) {
        var read = read
        read.bytesMax = readBytesMax
        do throws(DatabaseError) {
            try database.read(read, from: request.instance ?? database.defaultNamespace, isKnown: false, on: loop) { [loop, memory] outcome in
                ValueCollector.collect(outcome, at: request.path, of: plugin, memory, on: loop) { outcome in
                    switch outcome {
                    case .value(let value): answer(value, completion)
                    case .refused(let refusal): completion(refusal)
                    }
                }
            }
        } catch {
            completion(DatabaseServiceRefusal(error, at: request.path).answer)
        }
    }

    private func observe(
        _ observe: ObserveRequest, _ request: DatabaseServiceRequest, _ call: ServiceCall, _ completion: @escaping (ServiceAnswer) -> Void
    ) {
        if let refusal = observers.refusal(at: request.path) { return completion(refusal.answer) }
        let plugin = call.artifact.name
        guard call.payload.count <= ObserveRequest.payloadBytesMax else {
            let message = "the payload of observe has more than \(ObserveRequest.payloadBytesMax >> 10) KiB"
            return completion(DatabaseServiceRefusal.observe(.tooLarge, message, at: request.path).answer)
        }
        // A caller without a value gets the current one.
        guard observe.mark != nil else {
            return enter(plugin, completion) { [self] in
                read(observe.read, request, of: plugin, $0) { [loop] value, answer in
                    ValueMark.make(of: value.json, on: loop) { answer(.changed(value, mark: $0)) }
                }
            }
        }
        var observe = observe
        observe.read.bytesMax = readBytesMax
        observers.wait(observe, request.instance, for: call, completion: completion)
    }

    private func write(
        _ write: WriteRequest, _ answer: DatabaseServiceRequest.Answer, _ request: DatabaseServiceRequest,
        _ completion: @escaping (ServiceAnswer) -> Void
    ) {
        var write = write
        write.once?.milliseconds = onceMilliseconds
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

extension ServiceAnswer {
    /// The answer to a committed write.
    fileprivate static func committed(_ receipt: WriteReceipt, _ answer: DatabaseServiceRequest.Answer) -> ServiceAnswer {
        switch answer {
        case .nothing: ServiceAnswer(succeeded: true, body: Array("null".utf8))
        case .key(let key): .success(["name": .string(key)])
        case .outcome: .outcome(isCommitted: true, value: receipt.value?.serialized() ?? [])
        case .isFirst: .success(["first": .bool(!receipt.isRepetition)])
        }
    }

    /// The answer to a read: `{"value": ..., "etag": ...}`.
    fileprivate static func value(_ json: [UInt8], etag: String?) -> ServiceAnswer { answer("{\"value\":", json, "etag", etag) }

    /// The answer to `observe` with a value: `{"changed": true, "value": ..., "mark": ...}`.
    static func changed(_ value: CollectedValue, mark: String) -> ServiceAnswer {
        answer("{\"changed\":true,\"value\":", value.json, "mark", mark)
    }

    /// The answer to a transaction: `{"committed": ..., "value": ..., "etag": ...}`.
    fileprivate static func outcome(isCommitted: Bool, value: [UInt8], etag: String? = nil) -> ServiceAnswer {
        answer(isCommitted ? "{\"committed\":true,\"value\":" : "{\"committed\":false,\"value\":", value, "etag", etag)
    }

    private static func answer(_ start: StaticString, _ json: [UInt8], _ name: StaticString, _ tag: String?) -> ServiceAnswer {
        var buffer = ByteBuffer()
        buffer.append(start)
        if json.isEmpty { buffer.append("null") } else { buffer.append(json.span) }
        if let tag {
            // An etag is base64 or a plain word, and a mark hexadecimal, so nothing has to be escaped.
            buffer.append(",\"")
            buffer.append(name)
            buffer.append("\":\"")
            buffer.append(tag)
            buffer.append("\"")
        }
        buffer.append("}")
        return ServiceAnswer(succeeded: true, body: buffer.array())
    }
}
