public import EventLoop
public import HTTP
import HearthJSON
public import Logging

/// Sends messages to the push services of browsers (RFC 8030), encrypted for each browser (RFC 8291). Belongs to no loop.
public final class WebPushForwarder: PushForwarder {
    public let platform = DevicePlatform.web
    private let delivery: PushDelivery
    private let key: VapidKey
    private let allowsLocal: Bool
    private let allowsPrivateNames: Bool

    /// - Parameters:
    ///   - client: a client that connects only to addresses where push services may be, because names can resolve to any address.
    ///   - allowsLocal: accepts http and private hosts too, for tests and development.
    ///   - allowsPrivateNames: accepts names of private networks too. The client knows the addresses that they may resolve to.
    ///   - now: the clock, in milliseconds since 1970.
    public init(
        client: HTTPClient, key: VapidKey, allowsLocal: Bool, allowsPrivateNames: Bool = false, log: Logger, now: @escaping @Sendable () -> Int64
    ) {
        delivery = PushDelivery(to: "the push service", client: client, log: log, now: now)
        self.key = key
        self.allowsLocal = allowsLocal
        self.allowsPrivateNames = allowsPrivateNames
    }

    public func service(of address: JSONObject) -> String {
        address["endpoint"]?.string.flatMap { PushAddress($0, allowsLocal: allowsLocal, allowsPrivateNames: allowsPrivateNames) }?.service ?? ""
    }

    public func forward(_ push: ForwardedPush, on loop: EventLoop, _ answer: @escaping (ForwardOutcome) -> Void) {
        delivery.run(on: loop, answer) { [self] in
            do throws(WebPushSubscription.Problem) {
                let parts = try PushParts(push, allowsLocal: allowsLocal, allowsPrivateNames: allowsPrivateNames)
                return await delivery.deliver { await offer(parts, push) }
            } catch {
                return .failed(error.text)
            }
        }
    }

    private func offer(_ parts: PushParts, _ push: ForwardedPush) async -> PushVerdict {
        let message = push.message
        let seconds = (push.expires - delivery.now()) / 1000
        guard seconds > 0 || message.webpush.ttlSeconds == 0 else { return .done(.expired) }
        var request = ClientRequest(method: "POST", url: parts.address.url, responseBytesMax: 16 << 10)
        do {
            request.body = try parts.subscription.sealed(parts.text)
            request.headers = [
                ("TTL", "\(min(max(0, seconds), Int64(message.webpush.ttlSeconds)))"), ("Urgency", Self.urgency(of: message)),
                ("Content-Encoding", "aes128gcm"), ("Content-Type", "application/octet-stream"),
                ("Authorization", try key.authorization(for: parts.address.origin, now: delivery.nowSeconds)),
            ]
        } catch {
            return .done(.failed("the message cannot be encrypted: \(error)"))
        }
        if let topic = message.webpush.header("Topic") { request.headers.append(("Topic", topic)) }
        return await delivery.send(request, to: parts.address.origin, Self.verdict)
    }

    /// The meaning of an answer's status (spec messaging 6.10).
    private static func verdict(_ response: ClientResponse) -> PushVerdict {
        switch response.status {
        case 200...202: return .done(.delivered)
        case 404, 410: return .done(.unregistered)
        case 413: return .done(.failed("the push service says that the message is too large"))
        case 408, 429, 500...599: return .again(response.retryAfterSeconds)
        default:
            let text = String(decoding: response.body.prefix(200), as: UTF8.self)
            return .done(.failed("the push service answered \(response.status): \(text)"))
        }
    }

    /// The urgency for a sleeping device: from the message's header, or else from its priority (RFC 8030 section 5.3).
    private static func urgency(of message: Message) -> String {
        message.webpush.header("Urgency") ?? (message.android.priority == .high ? "high" : "normal")
    }
}

/// The parts of a push message that are the same for every attempt.
private struct PushParts {
    let address: PushAddress
    let subscription: WebPushSubscription
    let text: [UInt8]

    init(_ push: ForwardedPush, allowsLocal: Bool, allowsPrivateNames: Bool) throws(WebPushSubscription.Problem) {
        let endpoint = push.address["endpoint"]?.string ?? ""
        guard let address = PushAddress(endpoint, allowsLocal: allowsLocal, allowsPrivateNames: allowsPrivateNames) else {
            throw WebPushSubscription.Problem(text: "the browser's endpoint is not an https address of a public host")
        }
        self.address = address
        let keys = ["p256dh", "auth"].map { push.address[$0]?.string.flatMap(WebPushSubscription.bytes) ?? [] }
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
