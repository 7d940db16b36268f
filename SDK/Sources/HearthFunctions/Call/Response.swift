internal import CHearth
internal import HearthBytes
internal import HearthJSON

/// The whole answer of a plain HTTP function.
///
///     Response(json: ["ok": true])
///     Response(text: "Not here.", status: 404)
public struct Response: Sendable {
    /// From 200 to 599.
    public var status: Int
    /// In the order in which they are sent; `Date`, `Content-Length` and `Connection` are the host's own.
    public var headers: Headers
    /// The bytes of the body.
    public var body: [UInt8]

    /// An answer of these bytes, with no header but those given.
    public init(status: Int = 200, headers: Headers = [:], body: [UInt8] = []) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// An answer that is JSON.
    public init(json: JSONValue, status: Int = 200, headers: Headers = [:]) {
        self.init(status: status, headers: headers.typed("application/json; charset=utf-8"), body: json.serialized())
    }

    /// An answer that is any value's JSON. Throws when it has none, as a number that is not finite.
    public init(encoding value: some Encodable, status: Int = 200, headers: Headers = [:]) throws {
        self.init(
            status: status, headers: headers.typed("application/json; charset=utf-8"), body: try JSONEncoder().encode(value))
    }

    /// An answer that is text.
    public init(text: String, status: Int = 200, headers: Headers = [:]) {
        self.init(status: status, headers: headers.typed("text/plain; charset=utf-8"), body: Array(text.utf8))
    }

    /// An answer that is a web page.
    public init(html: String, status: Int = 200, headers: Headers = [:]) {
        self.init(status: status, headers: headers.typed("text/html; charset=utf-8"), body: Array(html.utf8))
    }

    /// An answer that sends the client elsewhere.
    public static func redirect(to location: String, status: Int = 302) -> Response {
        Response(status: status, headers: ["location": location])
    }

    func writeHead(to buffer: inout ByteBuffer) { headers.writeHead(status: status, to: &buffer) }
}

extension Headers {
    /// These fields, with a content type unless they have one.
    fileprivate func typed(_ type: String) -> Headers {
        var typed = self
        if typed["content-type"] == nil { typed.append("content-type", type) }
        return typed
    }

    /// Writes `{"status":...,"headers":[...]}`.
    func writeHead(status: Int, to buffer: inout ByteBuffer) {
        buffer.append("{\"status\":")
        buffer.append(decimal: status)
        buffer.append(",\"headers\":[")
        for (index, field) in fields.enumerated() {
            if index > 0 { buffer.append(UInt8(ascii: ",")) }
            JSONValue.string(field.name).write(to: &buffer)
            buffer.append(UInt8(ascii: ","))
            JSONValue.string(field.value).write(to: &buffer)
        }
        buffer.append("]}")
    }
}

/// The way to a plain HTTP function's client, for an answer that is written piece by piece.
public struct ResponseWriter: Sendable {
    private let invocation: Invocation

    init(_ invocation: Invocation) { self.invocation = invocation }

    /// Sends status and header. Without it the first `write` sends 200 and no fields of its own.
    ///
    /// - Returns: false when the client is gone, or the answer had been started before.
    @discardableResult
    public func start(status: Int = 200, headers: Headers = [:]) -> Bool {
        guard !invocation.hasStartedResponse else { return false }
        invocation.hasStartedResponse = true
        var head = ByteBuffer()
        headers.writeHead(status: status, to: &head)
        return head.withUnsafeBytes { invocation.host.startResponse(invocation.id, head: $0) } != .gone
    }

    /// Sends a part of the body, and waits while the client reads slowly.
    ///
    /// - Returns: false when the client is gone.
    @discardableResult
    public func write(_ bytes: [UInt8]) async -> Bool {
        if !invocation.hasStartedResponse, !start() { return false }
        return await invocation.drain.offer { bytes.withUnsafeBytes { invocation.host.sendChunk(invocation.id, $0) } }
    }

    /// Sends text as a part of the body, and waits while the client reads slowly.
    ///
    /// - Returns: false when the client is gone.
    @discardableResult
    public func write(_ text: String) async -> Bool { await write(Array(text.utf8)) }
}

extension Invocation {
    /// Answers a plain HTTP function.
    func answer(with response: Response) {
        attachment.withOutput { head in
            response.writeHead(to: &head)
            guard takeAnswer() else { return }
            head.withUnsafeBytes { head in
                response.body.withUnsafeBytes { host.respond(id, HEARTH_RESPONSE, head: head, body: $0) }
            }
        }
    }

    /// Ends an answer that was written piece by piece; an empty 200 when nothing was.
    func endResponse() {
        guard hasStartedResponse else { return answer(with: Response()) }
        guard takeAnswer() else { return }
        host.respond(id, HEARTH_END)
    }
}
