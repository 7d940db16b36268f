import AdminProtocol
import HearthBytes
public import HearthJSON
import Glibc

/// Calls functions of a host as a client would, and starts event functions manually.
public final class FunctionCaller {
    /// The identity of the caller.
    public struct Caller: Sendable {
        /// An ID token; nil for a guest.
        public var idToken: String?
        /// An App Check token.
        public var appCheckToken: String?

        /// A guest.
        public init() {}
    }

    /// The outcome of a callable.
    public enum CallOutcome: Sendable {
        case result(JSONValue)
        case failed(FunctionFailure)
    }

    /// A client with administrator access to the host.
    public let administrator: HostClient
    /// The longest silence of a function: longer than any may run.
    private static let idleSeconds = 3700

    /// - Parameter administrator: lists functions and starts event functions.
    public init(_ administrator: HostClient) { self.administrator = administrator }

    /// The name of a function; `chat.send` also means `chat-send`.
    public static func name(_ text: String) -> String { String(text.map { $0 == "." ? "-" : $0 }) }

    // MARK: Callables

    /// Calls a callable.
    ///
    /// - Parameter didReceive: gets the chunks before the result; nil to request only the result.
    public func call(
        _ name: String, data: JSONValue, as caller: Caller = Caller(), didReceive: ((JSONValue) throws(ClientFailure) -> Void)? = nil
    ) throws(ClientFailure) -> CallOutcome {
        var headers = [(name: "Content-Type", value: "application/json")]
        if didReceive != nil { headers.append(("Accept", "text/event-stream")) }
        let body: JSONValue = ["data": data]
        let request = self.request("POST", "/\(PercentCoding.encoded(name))", headers, .bytes(body.serialized()), caller)
        var events = ServerSentEvents()
        var whole = ByteBuffer()
        var last: JSONValue?
        let head = try client(caller).stream(request) { (head, piece) throws(ClientFailure) in
            guard head.header("content-type")?.hasPrefix("text/event-stream") == true else { return whole.append(piece) }
            for event in events.events(in: piece) {
                guard let value = try? JSONValue(parsing: event) else { continue }
                if let message = value["message"] { try didReceive?(message) } else { last = value }
            }
        }
        guard let answer = last ?? (try? JSONValue(parsing: whole.array())), answer["result"] != nil || answer["error"]?.object != nil else {
            throw refusal(HostAnswer(head: head, body: whole.array()), name)
        }
        if let result = answer["result"] { return .result(result) }
        let error = answer["error"]
        return .failed(
            FunctionFailure(
                code: error?["status"]?.string ?? "INTERNAL", message: error?["message"]?.string ?? "", details: error?["details"],
                status: head.status))
    }

    // MARK: Plain HTTP functions

    /// Sends a request to a plain HTTP function.
    ///
    /// - Parameter path: the part after the function's name: empty, or begins with `/` or `?`.
    public func request(
        _ name: String, method: String, path: String, headers: [(name: String, value: String)], body: [UInt8]?, as caller: Caller = Caller(),
        _ take: (HostAnswerHead, Span<UInt8>) throws(ClientFailure) -> Void
    ) throws(ClientFailure) -> HostAnswerHead {
        let request = self.request(method, "/\(PercentCoding.encoded(name))\(path)", headers, body.map { .bytes($0) } ?? .none, caller)
        return try client(caller).stream(request, take)
    }

    // MARK: Event functions

    /// Runs an event function once with a synthetic event.
    package func invoke(_ name: String, event: SyntheticEvent) throws(ClientFailure) -> CallOutcome {
        let target = "\(AdminPath.root)/functions/\(PercentCoding.encoded(name)):invoke"
        let headers = [(name: "Content-Type", value: "application/json")]
        let answer = try administrator.send(HostRequest("POST", target, headers: headers, body: .bytes(event.json.serialized())))
        guard answer.status < 400, let json = try? JSONValue(parsing: answer.body), let outcome = SyntheticEventAnswer(json) else {
            throw administrator.refusal(answer)
        }
        guard let error = outcome.error else { return .result(.null) }
        return .failed(FunctionFailure(code: "FAILED", message: error, details: nil, status: 500))
    }

    // MARK: Lists

    /// The functions of the host; nil if the host does not tell them to this caller.
    package func functions() throws(ClientFailure) -> [HostFunction]? {
        do throws(ClientFailure) {
            return try FunctionsClient(administrator).functions().functions
        } catch {
            guard case .refused = error.kind else { throw error }
            return nil
        }
    }

    /// An ID token that a host in development mode accepts for a signed-in user.
    public func unsignedToken(uid: String, claims: JSONObject = [:]) throws(ClientFailure) -> String {
        let host = try administrator.hostDescription()
        guard host.mode == .development else {
            throw ClientFailure(
                .invalidInput, "the host is in production mode and takes no token without a signature; give a signed-in user's with --id-token")
        }
        return UnsignedToken.make(uid: uid, project: host.project, claims: claims)
    }

    // MARK: Helpers

    private func client(_ caller: Caller) -> HostClient { administrator.another(token: caller.idToken, idleSeconds: Self.idleSeconds) }

    private func request(
        _ method: String, _ target: String, _ headers: [(name: String, value: String)], _ body: HostRequest.Body, _ caller: Caller
    ) -> HostRequest {
        var headers = headers
        if let token = caller.appCheckToken { headers.append(("X-Firebase-AppCheck", token)) }
        return HostRequest(method, target, headers: headers, body: body)
    }

    /// The failure for an error answer that does not come from the function.
    public func refusal(_ answer: HostAnswer, _ name: String) -> ClientFailure {
        let text = String(decoding: answer.body.prefix(300), as: UTF8.self)
        switch answer.status {
        case 404:
            let names = (try? functions())?.map(\.name) ?? []
            let hint = Spelling.question(for: name, among: names).map { "; \($0)" } ?? ""
            return ClientFailure(
                .refused(status: 404), "there is no function \(name) to be called at \(administrator.url)\(hint); hearth functions:list shows all")
        case 403 where text.hasPrefix("this function is not open"):
            return ClientFailure(.refused(status: 403), "you may not call \(name): see its ingressSettings and invoker")
        case 503: return ClientFailure(.refused(status: 503), "the host at \(administrator.url) is starting or stopping; try again in a moment")
        default:
            return ClientFailure(
                .refused(status: answer.status), "\(name) answered with status \(answer.status) and no result of a callable: \(text)")
        }
    }
}

/// An error answer of a function.
public struct FunctionFailure: Sendable {
    /// The code, as in the protocol: `INVALID_ARGUMENT`.
    public let code: String
    /// The function's message for the caller.
    public let message: String
    /// Details for the caller's code; nil if there are none.
    public let details: JSONValue?
    /// The HTTP status.
    public let status: Int
}

/// Unsigned ID tokens, as in the Firebase emulators.
enum UnsignedToken {
    /// A token that is valid for one hour.
    static func make(uid: String, project: String, claims: JSONObject) -> String {
        let now = Int64(time(nil))
        var all: JSONObject = [
            "sub": .string(uid), "user_id": .string(uid), "aud": .string(project), "iss": .string("https://securetoken.google.com/\(project)"),
            "iat": .int(now), "auth_time": .int(now), "exp": .int(now + 3600), "firebase": ["sign_in_provider": "custom", "identities": [:]],
        ]
        for (name, value) in claims { all[name] = value }
        return "\(encoded(["alg": "none", "typ": "JWT"])).\(encoded(.object(all)))."
    }

    private static func encoded(_ json: JSONValue) -> String { Base64URL.text(json.serialized()) }
}

/// Parses a stream of server-sent events (HTML Standard, section 9.2.6).
struct ServerSentEvents {
    private var line: [UInt8] = []
    private var data: [UInt8] = []

    /// The data of the events that this piece completes.
    mutating func events(in piece: Span<UInt8>) -> [[UInt8]] {
        var events: [[UInt8]] = []
        for index in 0..<piece.count {
            let byte = piece[index]
            guard byte == UInt8(ascii: "\n") else {
                if byte != UInt8(ascii: "\r") { line.append(byte) }
                continue
            }
            if line.isEmpty {
                if !data.isEmpty { events.append(data) }
                data = []
            } else if line.starts(with: Array("data:".utf8)) {
                let value = line.dropFirst(5)
                if !data.isEmpty { data.append(UInt8(ascii: "\n")) }
                data += value.first == UInt8(ascii: " ") ? value.dropFirst() : value
            }
            line = []
        }
        return events
    }
}
