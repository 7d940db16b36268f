import AdminProtocol
import CallFrontEnd
import Configuration
import FunctionDispatch
import HearthBytes
import HearthJSON
import HTTP
import Logging

/// Answers requests for unknown paths that are recognizable mistakes.
extension EndpointRouter {
    /// Answers a call of a function of another project.
    ///
    /// - Returns: whether it was answered.
    func explainsMissing(_ exchange: HTTPExchange) -> Bool {
        guard let other = otherProject(exchange.path) else { return false }
        // A page that names another project should read the reason, and not fail in its preflight.
        if CORSHeaders.answerPreflight(exchange, .reflect, methods: "GET,HEAD,PUT,PATCH,POST,DELETE") { return true }
        let project = String(decoding: functions.registry.projectBytes, as: UTF8.self)
        let text = """
            this host serves the project "\(project)", not "\(other)"; \
            correct the project id of the client, or "project" in functions.json
            """
        answerError(exchange, .notFound, text)
        return true
    }

    /// Answers a request for an unknown path, and shows the form of a database path and of a function's URL.
    func answerNotFound(_ exchange: HTTPExchange) {
        let path = exchange.path.string()
        // The answer repeats the path only if it consists of characters of names and paths.
        let isPlain = path.utf8.count <= 200 && path.utf8.allSatisfy { Self.isIDByte($0) || $0 == UInt8(ascii: "_") || $0 == UInt8(ascii: "/") }
        let isOwn = path.hasPrefix("/_/")
        let name = path.dropFirst()
        var text = "nothing is served at this address"
        if isPlain, !isOwn, !name.isEmpty, !name.contains("/") { text = "there is no function \"\(name)\"" }
        if !isOwn { text += "; a database path ends with .json" }
        if !isOwn, isPlain { text += ": \(path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path).json" }
        answerError(exchange, .notFound, text)
    }

    /// The project in a path of the form `/PROJECT/REGION/NAME`, if it is not the host's.
    private func otherProject(_ path: Span<UInt8>) -> String? {
        guard path.count < 300 else { return nil }
        let parts = path.string().split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false)
        guard parts.count == 4, !parts[3].isEmpty, Self.isRegion(parts[2]), Self.isProjectID(parts[1]),
            !parts[1].utf8.elementsEqual(functions.registry.projectBytes)
        else { return nil }
        return String(parts[1])
    }

    /// Whether a text looks like `us-central1`.
    private static func isRegion(_ text: Substring) -> Bool {
        guard let last = text.utf8.last, last &- UInt8(ascii: "0") < 10 else { return false }
        return text.utf8.contains(UInt8(ascii: "-")) && text.utf8.allSatisfy(isIDByte)
    }

    private static func isProjectID(_ text: Substring) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { isIDByte($0) || $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: "_") }
    }

    private static func isIDByte(_ byte: UInt8) -> Bool {
        (byte | 0x20) &- UInt8(ascii: "a") < 26 || byte &- UInt8(ascii: "0") < 10 || byte == UInt8(ascii: "-")
    }

    /// Answers with an error; in the form of the callable protocol for such a call, so that client SDKs show the message.
    private func answerError(_ exchange: HTTPExchange, _ status: HTTPStatus, _ text: String) {
        var isCallable = false
        if exchange.method == .post, let type = exchange.header("content-type") { isCallable = CallableBody.accepts(contentType: type) }
        functions.withScratch { buffer in
            if isCallable {
                CallableAnswer.append(error: CallableError(code: .notFound, message: text), to: &buffer)
            } else {
                buffer.append("Not Found: \(text)")
            }
            exchange.respond(status, body: buffer.bytes) { fields in
                fields.field("Content-Type", isCallable ? "application/json; charset=utf-8" : "text/plain; charset=utf-8")
                CORSHeaders.write(.reflect, for: exchange, to: fields)
            }
        }
    }
}
