/// The platform of a device.
public enum DevicePlatform: String, Sendable, CaseIterable {
    case android
    case ios
    case web

    /// The platform's name in the instance API.
    var instanceName: String {
        switch self {
        case .android: "ANDROID"
        case .ios: "IOS"
        case .web: "CHROME"
        }
    }
}
