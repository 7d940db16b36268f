import HearthBytes
public import EventLoop
public import HTTP
import HearthJSON
public import Logging

/// Sends messages to Apple's push service over HTTP/2 (spec messaging 6.11, 7.2).
///
/// Belongs to no loop. The client keeps connections, so messages share one.
public final class ApnsForwarder: PushForwarder {
    /// The origins of Apple's push service.
    public struct Hosts: Sendable {
        /// For devices of the production environment.
        public var production: String
        /// For devices of the development environment.
        public var sandbox: String

        /// Apple's origins, by default.
        public init(production: String = "https://api.push.apple.com", sandbox: String = "https://api.sandbox.push.apple.com") {
            self.production = production
            self.sandbox = sandbox
        }
    }

    public let platform = DevicePlatform.ios
    private let delivery: PushDelivery
    private let key: ApnsKey
    private let hosts: Hosts

    /// - Parameter now: the clock, in milliseconds since 1970.
    public init(client: HTTPClient, key: ApnsKey, hosts: Hosts = Hosts(), log: Logger, now: @escaping @Sendable () -> Int64) {
        delivery = PushDelivery(to: "Apple's push service", client: client, log: log, now: now)
        self.key = key
        self.hosts = hosts
    }

    public func service(of address: JSONObject) -> String { address["environment"]?.string == "sandbox" ? "sandbox" : "production" }

    public func forward(_ push: ForwardedPush, on loop: EventLoop, _ answer: @escaping (ForwardOutcome) -> Void) {
        delivery.run(on: loop, answer) { [self] in
            guard let request = request(for: push) else {
                return .failed("the device's registration has no APNs token in hexadecimal, or no topic")
            }
            return await delivery.deliver { await offer(request, to: host(for: push)) }
        }
    }

    private func offer(_ request: ClientRequest, to host: String) async -> PushVerdict {
        let authorization: String
        do {
            authorization = try key.authorization(now: delivery.nowSeconds)
        } catch {
            return .done(.failed("the APNs key cannot sign: \(error)"))
        }
        var request = request
        request.headers.append(("authorization", authorization))
        let verdict = await delivery.send(request, to: host) { response in
            let reason = (try? JSONValue(parsing: response.body))?["reason"]?.string ?? ""
            return Self.verdict(response.status, reason, asked: response.retryAfterSeconds)
        }
        if verdict == .newToken { key.forget(authorization) }
        return verdict
    }

    /// The meaning of an answer.
    ///
    /// - Parameter asked: the delay that Apple asks for, in seconds.
    static func verdict(_ status: Int, _ reason: String, asked: Int? = nil) -> PushVerdict {
        switch (status, reason) {
        case (200, _): .done(.delivered)
        case (400, "BadDeviceToken"), (400, "DeviceTokenNotForTopic"), (410, _): .done(.unregistered)
        case (403, "ExpiredProviderToken"): .newToken
        case (429, _), (500, _), (503, _): .again(asked)
        case (413, _): .done(.failed("Apple says that the message is too large"))
        default: .done(.failed("Apple answered \(status) \(reason)"))
        }
    }

    private func host(for push: ForwardedPush) -> String {
        push.address["environment"]?.string == "sandbox" ? hosts.sandbox : hosts.production
    }

    private func request(for push: ForwardedPush) -> ClientRequest? {
        let device = ApplePayload.liveActivityToken(push.message) ?? push.address["device_token"]?.string ?? ""
        guard let topic = push.address["topic"]?.string, !device.isEmpty, device.utf8.count <= 400, device.utf8.allSatisfy(Hexadecimal.isDigit) else {
            return nil
        }
        let facts = ApplePayload.Facts(messageID: push.messageID, sender: push.sender, fid: push.fid, topic: topic, now: delivery.nowSeconds)
        var request = ClientRequest(method: "POST", url: "\(host(for: push))/3/device/\(device)", responseBytesMax: 16 << 10)
        request.headers = ApplePayload.headers(push.message, facts).map { ($0.key, $0.value.string ?? "") }
        request.headers.append(("content-type", "application/json"))
        request.body = JSONValue.object(ApplePayload.body(push.message, facts)).serialized()
        return request
    }
}
