public import EventLoop
public import HearthJSON

/// Hands messages that the embedded back end has accepted to the push service that a device registered with: a browser's, or APNs.
///
/// Called on the store's loop. It answers each message once, on that loop, when the next service has taken or refused it; until
/// then the message stays pending, and after a crash it is handed over again.
public protocol PushForwarder: AnyObject, Sendable {
    /// Which devices it is for.
    var platform: DevicePlatform { get }

    /// The service of an address: addresses of one service share its failures and its share of the sending.
    func service(of address: JSONObject) -> String

    /// Hands one message on, in one attempt; further ones are made by the back end.
    func forward(_ push: ForwardedPush, on loop: EventLoop, _ answer: @escaping (ForwardOutcome) -> Void)
}

/// A message for one device of another push service.
public struct ForwardedPush: Sendable {
    /// What the device registered: `{"endpoint", "p256dh", "auth"}`, or `{"device_token", "environment", "topic"}`.
    public var address: JSONObject
    /// What is handed on, in the form of the device's platform.
    public var message: Message
    /// The last part of the message's name.
    public var messageID: String
    /// The device's installation id.
    public var fid: String
    /// The project's number.
    public var sender: String
    /// The sender, or `/topics/NAME`.
    public var from: String
    /// Milliseconds since 1970; afterwards it is not to be handed on.
    public var expires: Int64
}

/// What became of a message that was handed on.
public enum ForwardOutcome: Sendable, Equatable {
    /// The next service has it.
    case delivered
    /// The device is not registered there any more: its registration ends here too.
    case unregistered
    /// The next service refused the message for good; the reason is kept with the message's outcomes.
    case failed(String)
    /// Its time was over before the next service took it.
    case expired
    /// Another attempt may work: after so many seconds where the service says so. It was reached, or was not.
    case later(askedSeconds: Int?, wasReached: Bool)
}
