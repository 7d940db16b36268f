/// What kind of device an installation is on.
public enum DevicePlatform: String, Sendable, CaseIterable {
    case android
    case ios
    case web

    /// As the instance API says it.
    var instanceName: String {
        switch self {
        case .android: "ANDROID"
        case .ios: "IOS"
        case .web: "CHROME"
        }
    }
}
