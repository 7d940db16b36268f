/// Values that the database fills in when it writes, at any depth of what is written.
///
///     try await post.updateChildValues(["editedAt": ServerValue.timestamp, "edits": ServerValue.increment(1)])
///
///     struct NewPost: Encodable {
///         var text: String
///         var createdAt = ServerValue.timestamp
///     }
///     try await post.setValue(NewPost(text: "hello"))
///
/// Each is a `JSONValue`, so that it stands wherever one may.
public enum ServerValue {
    /// When the write happens, in milliseconds since 1970; the same for all of one write, and `now` of the rules.
    public static let timestamp: JSONValue = [".sv": "timestamp"]

    /// The number that is there, and `delta` more. Where no number is: `delta`. No other write can come between.
    public static func increment(_ delta: Int) -> JSONValue { [".sv": ["increment": JSONValue(delta)]] }

    /// The number that is there, and `delta` more. Where no number is: `delta`. No other write can come between.
    public static func increment(_ delta: Double) -> JSONValue { [".sv": ["increment": .double(delta)]] }
}
