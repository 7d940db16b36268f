public import EventLoop
public import HTTP
import JSON
public import Logging

/// Hands messages to Apple's push service over HTTP/2 (spec messaging 6.11, 7.2).
///
/// Belongs to no loop: each message is sent by a task of its own, and answered on the loop that it came from. The client keeps its
/// connections, so that messages share one.
public final class ApnsForwarder: PushForwarder {
    /// Where requests go.
    public struct Hosts: Sendable {
        /// Origin for devices of the production environment.
        public var production: String
        /// Origin for devices of the development environment.
        public var sandbox: String

        /// Apple's own, unless others are named.
        public init(production: String = "https://api.push.apple.com", sandbox: String = "https://api.sandbox.push.apple.com") {
            self.production = production
            self.sandbox = sandbox
        }
    }

    public let platform = DevicePlatform.ios
    private let client: HTTPClient
    private let key: ApnsKey
    private let hosts: Hosts
    private let log: Logger
    private let now: @Sendable () -> Int64
    private let turnstile = Turnstile(width: PushLimits.requestsMax)

    /// - Parameter now: milliseconds since 1970.
    public init(client: HTTPClient, key: ApnsKey, hosts: Hosts = Hosts(), log: Logger, now: @escaping @Sendable () -> Int64) {
        self.client = client
        self.key = key
        self.hosts = hosts
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
        guard let request = request(for: push) else { return .failed("the device registered without a token of Apple's in hexadecimal, or a topic") }
        var retries = RetryTimes()
        var isFresh = false
        while true {
            let authorization: String
            do {
                authorization = try key.authorization(now: now() / 1000)
            } catch {
                return .failed("the APNs key cannot sign: \(error)")
            }
            let asked: Int?
            switch await turnstile.pass({ await offer(request, authorization) }) {
            case .done(let outcome): return outcome
            case .newToken where !isFresh:
                isFresh = true
                key.forget(authorization)
                continue
            case .newToken: return .failed("Apple refuses the key, also with a new token")
            case .again(let seconds): asked = seconds
            }
            let wait = retries.next(asked: asked)
            guard now() + Int64(wait) < push.expires else { return .expired }
            try? await Task.sleep(for: .milliseconds(wait))
        }
    }

    enum Verdict: Equatable {
        case done(ForwardOutcome)
        /// The token is too old: once more with a new one.
        case newToken
        /// Another attempt may work, after so many seconds where Apple says so.
        case again(Int?)
    }

    private func offer(_ request: ClientRequest, _ authorization: String) async -> Verdict {
        var request = request
        request.headers.append(("authorization", authorization))
        do throws(ClientError) {
            let response = try await client.send(request)
            let reason = (try? JSONValue(parsing: response.body))?["reason"]?.string ?? ""
            return Self.verdict(response.status, reason, asked: response.header("retry-after").flatMap { Int($0) })
        } catch {
            if error.kind == .cancelled || error.kind == .invalidRequest { return .done(.failed(error.message)) }
            log.info("Apple's push service cannot be reached", metadata: ["reason": "\(error)"])
            return .again(nil)
        }
    }

    /// What an answer says.
    ///
    /// - Parameter asked: seconds after which Apple wants to be asked again.
    static func verdict(_ status: Int, _ reason: String, asked: Int? = nil) -> Verdict {
        switch (status, reason) {
        case (200, _): .done(.delivered)
        case (400, "BadDeviceToken"), (400, "DeviceTokenNotForTopic"), (410, _): .done(.unregistered)
        case (403, "ExpiredProviderToken"): .newToken
        case (429, _), (500, _), (503, _): .again(asked)
        case (413, _): .done(.failed("Apple says that the message is too large"))
        default: .done(.failed("Apple answered \(status) \(reason)"))
        }
    }

    private func request(for push: ForwardedPush) -> ClientRequest? {
        let device = ApplePayload.liveActivityToken(push.message) ?? push.address["device_token"]?.string ?? ""
        guard let topic = push.address["topic"]?.string, !device.isEmpty, device.utf8.count <= 400, device.utf8.allSatisfy(Self.isHexadecimal) else {
            return nil
        }
        let host = push.address["environment"]?.string == "sandbox" ? hosts.sandbox : hosts.production
        let facts = ApplePayload.Facts(messageID: push.messageID, sender: push.sender, fid: push.fid, topic: topic, now: now() / 1000)
        var request = ClientRequest(method: "POST", url: "\(host)/3/device/\(device)", responseBytesMax: 16 << 10)
        request.headers = ApplePayload.headers(push.message, facts).map { ($0.key, $0.value.string ?? "") }
        request.headers.append(("content-type", "application/json"))
        request.body = JSONValue.object(ApplePayload.body(push.message, facts)).serialized()
        return request
    }

    private static func isHexadecimal(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"), UInt8(ascii: "A")...UInt8(ascii: "F"): true
        default: false
        }
    }
}
