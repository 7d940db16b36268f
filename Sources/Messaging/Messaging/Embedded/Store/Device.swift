public import HearthJSON

/// A registered installation, which can receive messages.
public struct Device: Sendable {
    var id: Int64
    /// The project's id.
    public var project: String
    /// The installation id.
    public var fid: String
    /// The registration token.
    public var token: String
    /// The platform, which determines the form of messages.
    public var platform: DevicePlatform
    /// The package, bundle or origin of the application.
    public var package: String
    /// The name that the user has given it.
    public var name: String
    /// The address for a push service; empty for a device that connects itself.
    public var address: JSONObject
    /// Milliseconds since 1970.
    public var created: Int64
    /// The time of the last contact.
    public var seen: Int64
    /// Whether the application was uninstalled, and no send has failed because of it yet.
    public var isUninstalled: Bool
    /// When messages were last discarded undelivered; 0 if the device was informed since.
    var overflowed: Int64

    /// Whether it has not connected again since it was registered, and was named by no sender.
    var isNew: Bool { seen == created }

    var json: JSONValue {
        .object([
            "fid": .string(fid), "token": .string(token), "platform": .string(platform.rawValue), "package": .string(package),
            "name": .string(name), "createTime": .string(Timestamp.text(milliseconds: created)),
            "lastSeenTime": .string(Timestamp.text(milliseconds: seen)), "uninstalled": .bool(isUninstalled),
        ])
    }
}
