public import HearthJSON

/// Who asks, and when.
public struct RuleContext: Sendable {
    /// `{uid, provider, token}`, or nil when nobody is signed in.
    public let auth: JSONValue?
    /// Milliseconds since 1970. One instant for a whole request, the same that `{".sv": "timestamp"}` becomes.
    public let now: Int64
    /// `auth.uid`, which most rules ask for.
    let uid: RuleValue

    /// A JSON null is nobody too.
    public init(auth: JSONValue?, now: Int64) {
        self.auth = auth.flatMap { $0.isNull ? JSONValue?.none : $0 }
        self.now = now
        uid = RuleValue(auth?["uid"])
    }
}
