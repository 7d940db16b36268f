import EventLoop
import HearthBytes
import HTTP
import RealtimeDatabase
import Tree

/// A request to the database whose sender is known.
final class RESTCall {
    let exchange: HTTPExchange
    let verb: RESTVerb
    let parameters: RESTParameters
    let requester: Requester
    let namespaceName: String
    unowned let front: DatabaseFrontEnd
    private var timer: Timer?

    init(
        _ exchange: HTTPExchange, _ verb: RESTVerb, _ parameters: RESTParameters, _ requester: Requester, namespaceName: String,
        front: DatabaseFrontEnd
    ) {
        self.exchange = exchange
        self.verb = verb
        self.parameters = parameters
        self.requester = requester
        self.namespaceName = namespaceName
        self.front = front
    }

    /// Handles the request.
    func handle(_ body: Span<UInt8>) throws(RESTError) {
        let exchange = exchange
        switch try RESTTarget(exchange.path) {
        case .tree(let location):
            if verb.isWrite { try write(location, body) } else { try read(location) }
        case .clientInfo:
            guard !verb.isWrite else { throw .invalidPath }
            answer(json: "null")
        case .setting(let name): try handleSetting(name, body)
        case .inspection(let name): try inspect(name)
        }
    }

    /// Whether the request may refer to a nonexistent namespace, which a write creates.
    var mayBeAbsent: Bool { front.settings.isDevelopment || requester.isAdmin }

    /// The namespace of the request, if it exists.
    func found() throws(RESTError) -> FoundNamespace {
        do throws(DatabaseError) { return try front.database.find(namespaceName, isKnown: mayBeAbsent) } catch { throw RESTError(error) }
    }

    /// The namespace of the request, created if it does not exist. For writes of administrators.
    func namespace() throws(RESTError) -> Namespace {
        try requireAdmin()
        do throws(DatabaseError) { return try front.database.namespace(namespaceName) } catch { throw RESTError(error) }
    }

    /// Throws unless the sender is an administrator.
    func requireAdmin() throws(RESTError) {
        guard requester.isAdmin else { throw .unauthorized }
    }

    // MARK: Time

    /// Answers with a timeout if no answer has begun in time.
    func startTimeout() {
        guard let milliseconds = parameters.timeoutMilliseconds else { return }
        let timer = Timer(loop: front.loop) { [unowned self] in
            if !exchange.isAnswered { refuse(.timedOut) }
        }
        timer.start(afterMilliseconds: milliseconds)
        self.timer = timer
    }

    func stopTimeout() {
        timer?.close()
        timer = nil
    }

    // MARK: Answers

    /// Writes the header fields of most answers.
    static let head: StaticString = """
        HTTP/1.1 200 OK\r
        Content-Type: application/json; charset=utf-8\r
        Cache-Control: no-cache\r
        Access-Control-Allow-Origin: *\r

        """

    /// Whether the answer consists of its JSON only.
    var isPlain: Bool { parameters.print != .silent && parameters.callback == nil && parameters.download == nil }

    /// Answers with a value.
    func answer(json: Span<UInt8>, etag: String? = nil) {
        if isPlain, etag == nil { return exchange.respond(prebuiltHead: Self.head, body: json) }
        if parameters.print == .silent {
            return exchange.respond(.noContent) { writeFields(to: $0, etag: etag) }
        }
        guard let callback = parameters.callback else {
            return exchange.respond(.ok, body: json) { writeFields(to: $0, etag: etag) }
        }
        var script = ByteBuffer(capacity: json.count + callback.utf8.count + 8)
        script.append(callback)
        script.append("(")
        script.append(json)
        script.append(");")
        exchange.respond(.ok, body: script.bytes) { writeFields(to: $0, etag: etag) }
    }

    /// Answers with a known value.
    func answer(json: StaticString) {
        answer(json: Span(_unsafeElements: UnsafeBufferPointer(start: json.utf8Start, count: json.utf8CodeUnitCount)))
    }

    /// Answers a conditional write whose condition is not met, with the current value.
    func answerConflict(json: Span<UInt8>, etag: String) {
        exchange.respond(HTTPStatus(rawValue: 412), body: json) { RESTAnswer.writeFields(to: $0, etag: etag) }
    }

    /// Answers that the value has not changed.
    func answerNotModified(etag: String) {
        exchange.respond(.notModified) { RESTAnswer.writeFields(to: $0, etag: etag) }
    }

    /// Answers with an error.
    func refuse(_ error: RESTError) { RESTAnswer.refuse(exchange, error) }

    /// Adds the header fields that the parameters request.
    func writeFields(to fields: ResponseHead, etag: String?) {
        if parameters.callback == nil {
            RESTAnswer.writeFields(to: fields, etag: etag)
        } else {
            RESTAnswer.writeFields(to: fields, etag: etag, contentType: "application/javascript; charset=utf-8")
            fields.field("X-Content-Type-Options", "nosniff")
        }
        guard let name = parameters.download else { return }
        fields.field("Content-Disposition", RESTAnswer.attachment(named: name).span)
    }
}

extension RESTError {
    static let timedOut = badRequest("The read took longer than its timeout.")
}
