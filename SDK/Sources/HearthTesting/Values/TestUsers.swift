public import HearthFunctions
public import HearthJSON

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

/// An operation that waits for a blocking function.
public struct TestBlockingEvent: Sendable {
    /// The user; nil for messages.
    public var user: AuthUserRecord?
    /// The method of the sign-in: `password`, `emailLink`, `phone`, or a provider.
    public var method: String?
    /// Whether the user signs in with this second factor: `phone` or `totp`.
    public var secondFactor: String?
    /// The client's address.
    public var ipAddress: String
    /// The program of the client.
    public var userAgent: String
    /// The language that the client prefers.
    public var locale: String?
    /// The provider's own data about the user.
    public var profile: JSONValue?
    /// The credential of a provider: `idToken`, `accessToken` and so on.
    public var credential: JSONObject
    private var message: JSONObject = [:]

    /// A sign-up or a sign-in.
    public init(
        user: AuthUserRecord, method: String = "password", secondFactor: String? = nil, ipAddress: String = "127.0.0.1",
        userAgent: String = "test", locale: String? = "en", profile: JSONValue? = nil, credential: JSONObject = [:]
    ) {
        self.user = user
        self.method = method
        self.secondFactor = secondFactor
        self.ipAddress = ipAddress
        self.userAgent = userAgent
        self.locale = locale
        self.profile = profile
        self.credential = credential
    }

    private init(message: JSONObject) {
        (ipAddress, userAgent, locale, credential) = ("127.0.0.1", "test", "en", [:])
        self.message = message
    }

    /// A mail.
    public static func email(_ type: AuthBlockingEvent.EmailType, to email: String) -> TestBlockingEvent {
        TestBlockingEvent(message: ["emailType": .string(type.rawValue), "additionalUserInfo": ["email": .string(email), "isNewUser": false]])
    }

    /// A text message.
    public static func sms(_ type: AuthBlockingEvent.SMSType, to phoneNumber: String) -> TestBlockingEvent {
        TestBlockingEvent(
            message: ["smsType": .string(type.rawValue), "additionalUserInfo": ["phoneNumber": .string(phoneNumber), "isNewUser": false]])
    }

    /// The context of the function's call, as hearth.h describes it.
    func context(type: String, project: String) -> JSONValue {
        var event: JSONObject = [
            "id": "test-blocking-event", "type": .string(method.map { "\(type):\($0)" } ?? type), "time": .string(TestTime.now),
            "resource": .string("projects/\(project)\(user?.tenantID.map { "/tenants/\($0)" } ?? "")"),
            "authType": user == nil ? "UNAUTHENTICATED" : "USER", "ipAddress": .string(ipAddress), "userAgent": .string(userAgent),
        ]
        event["locale"] = locale.map { .string($0) }
        event["tenantId"] = user?.tenantID.map { .string($0) }
        event["secondFactor"] = secondFactor.map { .string($0) }
        if let method {
            let provider = method == "emailLink" ? "password" : method
            var info: JSONObject = ["providerId": .string(provider), "isNewUser": .bool(type.hasSuffix("beforeCreate"))]
            info["profile"] = profile
            event["additionalUserInfo"] = .object(info)
            if !credential.isEmpty {
                var all = credential
                (all["providerId"], all["signInMethod"]) = (.string(provider), .string(method))
                event["credential"] = .object(all)
            }
        }
        for (name, value) in message { event[name] = value }
        return ["event": .object(event)]
    }
}
