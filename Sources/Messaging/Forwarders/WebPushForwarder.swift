public import EventLoop
public import HTTP
import JSON
public import Logging

/// Hands messages to the push services of browsers (RFC 8030), encrypted for each browser (RFC 8291).
///
/// Belongs to no loop: each message is sent by a task of its own, and answered on the loop that it came from.
public final class WebPushForwarder: PushForwarder {
    public let platform = DevicePlatform.web
    private let client: HTTPClient
    private let key: VapidKey
    private let allowsLocal: Bool
    private let log: Logger
    private let now: @Sendable () -> Int64
    private let turnstile = Turnstile(width: PushLimits.requestsMax)

    /// - Parameters:
    ///   - allowsLocal: takes http addresses and private hosts too, as in tests and development.
    ///   - now: milliseconds since 1970.
    public init(client: HTTPClient, key: VapidKey, allowsLocal: Bool, log: Logger, now: @escaping @Sendable () -> Int64) {
        self.client = client
        self.key = key
        self.allowsLocal = allowsLocal
        self.log = log
        self.now = now
    }

    public func forward(_ push: ForwardedPush, on loop: EventLoop, _ answer: @escaping (ForwardOutcome) -> Void) {
        let answer = LoopBound(answer, loop: loop)
        Task {
            let outcome = await deliver(push)
            loop.post { answer.value(outcome) }
        }
    }

    /// Offers the message until it is taken, refused for good, or its time is over.
    private func deliver(_ push: ForwardedPush) async -> ForwardOutcome {
        let parts: PushParts
        do throws(WebPushSubscription.Problem) {
            parts = try PushParts(push, allowsLocal: allowsLocal)
        } catch {
            return .failed(error.text)
        }
        var retries = RetryTimes()
        while true {
            let seconds = (push.expires - now()) / 1000
            guard seconds > 0 || push.message.webpush.ttlSeconds == 0 else { return .expired }
            let wait: UInt64
            switch await turnstile.pass({ await offer(parts, push.message, ttlSeconds: max(0, seconds)) }) {
            case .done(let outcome): return outcome
            case .again(let asked): wait = retries.next(asked: asked)
            }
            guard now() + Int64(wait) < push.expires else { return .expired }
            try? await Task.sleep(for: .milliseconds(wait))
        }
    }

    private enum Verdict {
        case done(ForwardOutcome)
        /// Another attempt may work, after so many seconds where the service says so.
        case again(Int?)
    }

    private func offer(_ parts: PushParts, _ message: Message, ttlSeconds: Int64) async -> Verdict {
        var request = ClientRequest(method: "POST", url: parts.address.url, responseBytesMax: 16 << 10)
        do {
            request.body = try parts.subscription.sealed(parts.text)
            request.headers = [
                ("TTL", "\(min(ttlSeconds, Int64(message.webpush.ttlSeconds)))"), ("Urgency", Self.urgency(of: message)),
                ("Content-Encoding", "aes128gcm"), ("Content-Type", "application/octet-stream"),
                ("Authorization", try key.authorization(for: parts.address.origin, now: now() / 1000)),
            ]
        } catch {
            return .done(.failed("the message cannot be encrypted: \(error)"))
        }
        if let topic = message.webpush.header("Topic") { request.headers.append(("Topic", topic)) }
        do throws(ClientError) {
            return verdict(try await client.send(request))
        } catch {
            if error.kind == .cancelled || error.kind == .invalidRequest { return .done(.failed(error.message)) }
            log.info("a push service cannot be reached", metadata: ["origin": "\(parts.address.origin)", "reason": "\(error)"])
            return .again(nil)
        }
    }

    /// What the service's status says (spec messaging 6.10).
    private func verdict(_ response: ClientResponse) -> Verdict {
        switch response.status {
        case 200...202: return .done(.delivered)
        case 404, 410: return .done(.unregistered)
        case 413: return .done(.failed("the push service says that the message is too large"))
        case 408, 429, 500...599: return .again(response.header("retry-after").flatMap { Int($0) })
        default:
            let text = String(decoding: response.body.prefix(200), as: UTF8.self)
            return .done(.failed("the push service answered \(response.status): \(text)"))
        }
    }

    /// How much a sleeping device should care: what the message says, else what its priority is (RFC 8030 section 5.3).
    private static func urgency(of message: Message) -> String {
        message.webpush.header("Urgency") ?? (message.android.priority == .high ? "high" : "normal")
    }
}

/// What of a push is the same for every attempt.
private struct PushParts {
    let address: PushAddress
    let subscription: WebPushSubscription
    let text: [UInt8]

    init(_ push: ForwardedPush, allowsLocal: Bool) throws(WebPushSubscription.Problem) {
        guard let address = push.address["endpoint"]?.string.flatMap({ PushAddress($0, allowsLocal: allowsLocal) }) else {
            throw WebPushSubscription.Problem(text: "the browser's endpoint is not an https address of a public host")
        }
        self.address = address
        let keys = ["p256dh", "auth"].map { push.address[$0]?.string.flatMap { WebPushSubscription.bytes($0) } ?? [] }
        subscription = try WebPushSubscription(p256dh: keys[0], auth: keys[1])
        let body = WebPayload.body(
            push.message, messageID: push.messageID, sender: push.sender, from: push.from, collapseKey: push.message.webpush.header("Topic"))
        text = JSONValue.object(body).serialized()
        guard text.count <= WebPushSubscription.plaintextBytesMax else {
            throw WebPushSubscription.Problem(
                text: "the message has \(text.count) bytes for a browser, more than \(WebPushSubscription.plaintextBytesMax)")
        }
    }
}
