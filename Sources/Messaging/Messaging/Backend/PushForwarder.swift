public import EventLoop
public import HearthJSON

/// Sends messages of the embedded back end to the push service of a device: a browser's, or APNs.
///
/// Called on the store's loop. It answers once for each message, on that loop, when the push service has accepted or refused it. Until then the
/// message stays pending; after a crash it is forwarded again.
public protocol PushForwarder: AnyObject, Sendable {
    /// The platform of its devices.
    var platform: DevicePlatform { get }

    /// The service of an address. Addresses of the same service share its back-off and its part of the concurrent requests.
    func service(of address: JSONObject) -> String

    /// Sends a message once. The back end makes further attempts.
    func forward(_ push: ForwardedPush, on loop: EventLoop, _ answer: @escaping (ForwardOutcome) -> Void)
}

/// A message for one device with a push service.
public struct ForwardedPush: Sendable {
    /// The address in the registration: `{"endpoint", "p256dh", "auth"}`, or `{"device_token", "environment", "topic"}`.
    public var address: JSONObject
    /// The message, with the options of the device's platform.
    public var message: Message
    /// The last part of the message's name.
    public var messageID: String
    /// The device's installation id.
    public var fid: String
    /// The project's number.
    public var sender: String
    /// The sender, or `/topics/NAME`.
    public var from: String
    /// When the message expires, in milliseconds since 1970. It must not be sent afterwards.
    public var expires: Int64
}

/// The outcome of forwarding a message.
public enum ForwardOutcome: Sendable, Equatable {
    /// The push service has accepted it.
    case delivered
    /// The device is not registered there any more, so its registration ends here too.
    case unregistered
    /// The push service refused the message permanently. The reason is stored with the message's outcomes.
    case failed(String)
    /// The message expired before the push service accepted it.
    case expired
    /// Another attempt may succeed: after so many seconds if the service asked for a delay. `wasReached` says whether it answered.
    case later(askedSeconds: Int?, wasReached: Bool)
}
