public import HearthJSON

/// An installation that can receive messages.
public struct Device: Sendable {
    var id: Int64
    /// The project's id.
    public var project: String
    /// The installation id.
    public var fid: String
    /// The registration token.
    public var token: String
    /// Decides the form in which messages reach it.
    public var platform: DevicePlatform
    /// Package, bundle or origin of the application.
    public var package: String
    /// What the user calls it.
    public var name: String
    /// Where a push service reaches it; empty where it connects itself.
    public var address: JSONObject
    /// Milliseconds since 1970.
    public var created: Int64
    /// When it was last heard of.
    public var seen: Int64
    /// Whether the application is gone and nobody has found out yet.
    public var isUninstalled: Bool
    /// When messages were last discarded unseen; 0 where none were since the device was told.
    var overflowed: Int64

    /// Whether it has not come back since it was registered, and no sender has named it.
    var isNew: Bool { seen == created }

    var json: JSONValue {
        .object([
            "fid": .string(fid), "token": .string(token), "platform": .string(platform.rawValue), "package": .string(package),
            "name": .string(name), "createTime": .string(Timestamp.text(milliseconds: created)),
            "lastSeenTime": .string(Timestamp.text(milliseconds: seen)), "uninstalled": .bool(isUninstalled),
        ])
    }
}
