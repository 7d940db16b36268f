internal import HearthBytes
internal import HearthJSON

/// One call of the host's database service: the place, the actor, and the other members of the payload.
///
/// docs/services.md describes methods, payloads and answers.
struct DatabaseCall: ~Copyable {
    private let method: String
    private let path: String
    private var payload = ByteBuffer()

    init(_ method: String, at ref: DatabaseReference) {
        self.method = method
        self.path = ref.path
        payload.append("{\"path\":")
        JSONValue.string(ref.path).write(to: &payload)
        if let name = ref.database.instanceName { add("instance", JSONValue.string(name)) }
        if case .user(let auth) = ref.database.actor { add("auth", auth) }
    }

    /// Adds a member that is known to be JSON.
    mutating func add(_ name: StaticString, _ value: JSONValue) {
        begin(name)
        value.write(to: &payload)
    }

    /// Adds a member that is the author's value.
    mutating func add(_ name: StaticString, encoding value: some Encodable) throws(DatabaseError) {
        begin(name)
        do {
            try JSONEncoder().encode(value, into: &payload)
        } catch {
            throw DatabaseError(encoding: error, path: path)
        }
    }

    private mutating func begin(_ name: StaticString) {
        payload.append(",\"")
        payload.append(name)
        payload.append("\":")
    }

    /// The largest payload that the service takes, in bytes.
    private static let payloadBytesMax = 16 << 20

    /// Calls the service and waits for its answer, which is JSON.
    consuming func send() async throws(DatabaseError) -> [UInt8] {
        let method = method, path = path
        let answer = await services.answer("database", method, try finished())
        if answer.isOK { return answer.body }
        throw DatabaseError(failure: (try? answer.value) ?? .null, path: path)
    }

    /// Calls the service and waits for its answer. When the task is cancelled, or the call of the function has ended, the wait with this id
    /// is ended too.
    ///
    /// - Returns: nil when the wait was ended in one of these ways.
    consuming func send(waitingAs id: String) async throws(DatabaseError) -> [UInt8]? {
        let method = method, path = path
        let end: JSONValue = ["id": .string(id)]
        let answer = await services.answer("database", method, try finished(), whenCancelled: ("unobserve", end.serialized()))
        if Task.isCancelled { return nil }
        if answer.isOK { return answer.body }
        let failure = (try? answer.value) ?? .null
        if failure["details"]?["reason"] == "cancelled" { return nil }
        throw DatabaseError(failure: failure, path: path)
    }

    /// The whole payload.
    private consuming func finished() throws(DatabaseError) -> [UInt8] {
        payload.append(UInt8(ascii: "}"))
        guard payload.count <= Self.payloadBytesMax else {
            throw DatabaseError(.tooLarge, "One call writes at most \(Self.payloadBytesMax >> 20) MiB.", path: path)
        }
        return payload.bytes.array()
    }
}

extension DatabaseReference {
    /// Reads an answer of the service.
    func decode<T: Decodable>(_ type: T.Type, from body: [UInt8]) throws(DatabaseError) -> T {
        do {
            return try JSONDecoder().decode(type, from: body)
        } catch {
            throw DatabaseError(decoding: Self.belowValue(error), path: path)
        }
    }

    /// The error as if the member "value" of the answer were all of it.
    private static func belowValue(_ error: any Error) -> any Error {
        func inner(_ context: DecodingError.Context) -> DecodingError.Context {
            DecodingError.Context(
                codingPath: Array(context.codingPath.dropFirst()), debugDescription: context.debugDescription,
                underlyingError: context.underlyingError)
        }
        return switch error as? DecodingError {
        case .keyNotFound(let key, let context)? where !context.codingPath.isEmpty: DecodingError.keyNotFound(key, inner(context))
        case .valueNotFound(let type, let context)?: DecodingError.valueNotFound(type, inner(context))
        case .typeMismatch(let type, let context)?: DecodingError.typeMismatch(type, inner(context))
        case .dataCorrupted(let context)?: DecodingError.dataCorrupted(inner(context))
        default: error
        }
    }
}

/// The answer to `get`, read as the type that was asked for.
struct ValueAnswer<Value: Decodable>: Decodable {
    var value: Value
    var etag: String?
}
