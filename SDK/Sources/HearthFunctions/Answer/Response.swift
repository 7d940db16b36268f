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
