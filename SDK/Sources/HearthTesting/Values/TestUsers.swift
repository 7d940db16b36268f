public import HearthFunctions
internal import HearthJSON

/// The creation or deletion of a user, which is to run functions.
public struct TestUserEvent: Sendable {
    /// `created` or `deleted`.
    let verb: String
    let user: AuthUserRecord

    /// A user who has signed up, or was created by an administrator.
    public static func created(_ user: AuthUserRecord) -> TestUserEvent { TestUserEvent(verb: "created", user: user) }
    /// A user who was deleted.
    public static func deleted(_ user: AuthUserRecord) -> TestUserEvent { TestUserEvent(verb: "deleted", user: user) }

    private var type: String { "google.firebase.auth.user.v2.\(verb)" }

    /// Whether an endpoint of the manifest runs on this event.
    func runs(_ endpoint: JSONValue) -> Bool {
        guard let trigger = endpoint["eventTrigger"], trigger["eventType"]?.string == type else { return false }
        guard let tenant = trigger["eventFilters"]?["tenantid"]?.string else { return true }
        return tenant == user.tenantID ?? ""
    }

    /// The context of the function's call, as hearth.h describes it.
    func context(project: String) -> JSONValue {
        let place = user.tenantID.map { "/tenants/\($0)" } ?? ""
        let event: JSONObject = [
            "id": "test-user-event", "type": .string(type), "source": .string("//firebaseauth.googleapis.com/projects/\(project)\(place)"),
            "subject": .string("users/\(user.uid)"), "time": .string(TestTime.now), "location": "us-central1",
            "params": .object(user.tenantID.map { ["tenantId": .string($0)] } ?? [:]), "authType": "unknown", "attempt": 1, "chainDepth": 0,
        ]
        return ["event": .object(event)]
    }
}
