import HearthBytes
import EventLoop
import HTTP
import Tree

/// One request to the database, from the moment that its sender is known.
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

    /// Does what is asked.
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

    /// Whether a namespace that is not there may be asked for, and be made by a write.
    var mayBeAbsent: Bool { front.settings.isDevelopment || requester.isAdmin }

    /// The namespace that is meant, as far as there is one.
    func found() throws(RESTError) -> FoundNamespace {
        do throws(DatabaseError) { return try front.database.find(namespaceName, isKnown: mayBeAbsent) } catch { throw RESTError(error) }
    }

    /// The namespace that is meant, made where it is not there. For what an administrator puts into it.
    func namespace() throws(RESTError) -> Namespace {
        try requireAdmin()
        do throws(DatabaseError) { return try front.database.namespace(namespaceName) } catch { throw RESTError(error) }
    }

    /// Only administrators go on from here.
    func requireAdmin() throws(RESTError) {
        guard requester.isAdmin else { throw .unauthorized }
    }

    // MARK: Time

    /// Answers that it took too long, unless there is an answer before.
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

    /// The head of most answers.
    static let head: StaticString = """
        HTTP/1.1 200 OK\r
        Content-Type: application/json; charset=utf-8\r
        Cache-Control: no-cache\r
        Access-Control-Allow-Origin: *\r

        """

    /// Whether the answer is nothing but its JSON.
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

    /// Answers with a value that is known beforehand.
    func answer(json: StaticString) {
        answer(json: Span(_unsafeElements: UnsafeBufferPointer(start: json.utf8Start, count: json.utf8CodeUnitCount)))
    }

    /// Answers a conditional write that came too late, with what is there now.
    func answerConflict(json: Span<UInt8>, etag: String) {
        exchange.respond(HTTPStatus(rawValue: 412), body: json) { RESTAnswer.writeFields(to: $0, etag: etag) }
    }

    /// Answers that nothing has changed since.
    func answerNotModified(etag: String) {
        exchange.respond(.notModified) { RESTAnswer.writeFields(to: $0, etag: etag) }
    }

    /// Answers with an error.
    func refuse(_ error: RESTError) { RESTAnswer.refuse(exchange, error) }

    /// Adds what the parameters ask for to a head.
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
