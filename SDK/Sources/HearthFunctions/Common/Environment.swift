import Glibc
internal import HearthJSON

/// The text of an environment variable; nil where it is not set.
func environment(_ name: String) -> String? {
    guard let text = getenv(name) else { return nil }
    return String(cString: text)
}

/// The project that the functions belong to, as the host names it.
public enum Project {
    /// The project's id; empty where the host names none.
    public static var id: String { environment("GCLOUD_PROJECT") ?? configured("projectId") ?? "" }

    /// The address of the project's database; nil where it has none.
    public static var databaseURL: String? { configured("databaseURL") }

    /// The project's bucket for files; nil where it has none.
    public static var storageBucket: String? { configured("storageBucket") }

    /// A member of the JSON in `FIREBASE_CONFIG`.
    private static func configured(_ name: String) -> String? {
        guard let text = environment("FIREBASE_CONFIG") else { return nil }
        return (try? JSONValue(parsing: text))?[name]?.string
    }
}
