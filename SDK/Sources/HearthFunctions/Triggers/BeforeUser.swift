internal import HearthJSON

// The operation waits for the function, at most 7 seconds, and is refused if the function throws, crashes or is late. An `HttpsError` reaches the
// client: its SDK reports `BLOCKING_FUNCTION_ERROR_RESPONSE` with code and message.

/// The answer of a `BeforeUserCreated`: changes of the user. What is nil stays; an empty text removes a name or picture.
public struct BeforeCreateResponse: Sendable {
    /// The name.
    public var displayName: String?
    /// The address of a picture.
    public var photoURL: String?
    /// Whether the user may not sign in: the user is stored, and the client gets `USER_DISABLED`.
    public var disabled: Bool?
    /// Whether the e-mail counts as proved.
    public var emailVerified: Bool?
    /// The custom claims: an object of at most 1000 characters without reserved names.
    public var customClaims: JSONValue?
    /// Whether the request is refused as one of a program.
    public var recaptchaActionOverride: RecaptchaAction?

    /// Changes. Without any, the user is created as asked for.
    public init(
        displayName: String? = nil, photoURL: String? = nil, disabled: Bool? = nil, emailVerified: Bool? = nil, customClaims: JSONValue? = nil,
        recaptchaActionOverride: RecaptchaAction? = nil
    ) {
        self.displayName = displayName
        self.photoURL = photoURL
        self.disabled = disabled
        self.emailVerified = emailVerified
        self.customClaims = customClaims
        self.recaptchaActionOverride = recaptchaActionOverride
    }
}

/// The answer of a `BeforeUserSignedIn`: changes of the user, and claims of the session.
public struct BeforeSignInResponse: Sendable {
    /// Changes of the user, which stay.
    public var user: BeforeCreateResponse
    /// Claims of the ID tokens of this session, also after refreshes: an object that has at most 1000 characters together with the custom claims.
    public var sessionClaims: JSONValue?

    /// Changes. Without any, the user signs in as asked for.
    public init(
        displayName: String? = nil, photoURL: String? = nil, disabled: Bool? = nil, emailVerified: Bool? = nil, customClaims: JSONValue? = nil,
        sessionClaims: JSONValue? = nil, recaptchaActionOverride: RecaptchaAction? = nil
    ) {
        user = BeforeCreateResponse(
            displayName: displayName, photoURL: photoURL, disabled: disabled, emailVerified: emailVerified, customClaims: customClaims,
            recaptchaActionOverride: recaptchaActionOverride)
        self.sessionClaims = sessionClaims
    }
}

/// The answer of a `BeforeEmailSent` or `BeforeSMSSent`.
public struct BeforeMessageResponse: Sendable {
    /// Whether the request is refused as one of a program.
    public var recaptchaActionOverride: RecaptchaAction?

    /// An answer. Without an override, the message is sent.
    public init(recaptchaActionOverride: RecaptchaAction? = nil) { self.recaptchaActionOverride = recaptchaActionOverride }
}

/// A function that decides whether a user may sign up, before the user is stored. Anonymous users, those of custom tokens and those that an
/// administrator creates are not asked about.
///
///     BeforeUserCreated("onlyOurs") { event in
///         guard event.data?.email?.hasSuffix("@example.com") == true else { throw HttpsError(.permissionDenied, "Use your work e-mail.") }
///         return BeforeCreateResponse(customClaims: ["staff": true])
///     }
///
/// A host has at most one.
public struct BeforeUserCreated: FunctionsContent {
    /// The one function.
    public let definitions: [FunctionDefinition]

    /// - Parameters:
    ///   - name: the function's name.
    ///   - credentials: the tokens of identity providers that the event has.
    ///   - options: how the function runs. `timeoutSeconds` is at most 7, the default.
    ///   - handler: the function. It returns nil to change nothing.
    public init(
        _ name: String, credentials: BlockingCredentials = [], options: Options = Options(),
        _ handler: @escaping @Sendable (AuthBlockingEvent) async throws -> BeforeCreateResponse?
    ) {
        let trigger = BlockingDefinition(kind: .beforeCreate, credentials: credentials)
        definitions = [FunctionDefinition(name, options, trigger) { try await handler($0)?.json }]
    }
}

/// A function that decides whether a user may sign in, before tokens are issued; with a second factor, after it. A refresh does not ask it.
///
///     BeforeUserSignedIn("remember") { event in BeforeSignInResponse(sessionClaims: ["address": .string(event.ipAddress ?? "")]) }
///
/// A host has at most one.
public struct BeforeUserSignedIn: FunctionsContent {
    /// The one function.
    public let definitions: [FunctionDefinition]

    /// - Parameters:
    ///   - name: the function's name.
    ///   - credentials: the tokens of identity providers that the event has.
    ///   - options: how the function runs. `timeoutSeconds` is at most 7, the default.
    ///   - handler: the function. It returns nil to change nothing.
    public init(
        _ name: String, credentials: BlockingCredentials = [], options: Options = Options(),
        _ handler: @escaping @Sendable (AuthBlockingEvent) async throws -> BeforeSignInResponse?
    ) {
        let trigger = BlockingDefinition(kind: .beforeSignIn, credentials: credentials)
        definitions = [FunctionDefinition(name, options, trigger) { try await handler($0)?.json }]
    }
}

/// A function that decides whether a mail with a link to sign in or to reset a password is sent. A host has at most one.
///
///     BeforeEmailSent("noStrangers") { event in
///         let isOurs = event.additionalUserInfo.email?.hasSuffix("@example.com") == true
///         guard isOurs else { throw HttpsError(.permissionDenied, "No mails to strangers.") }
///         return nil
///     }
public struct BeforeEmailSent: FunctionsContent {
    /// The one function.
    public let definitions: [FunctionDefinition]

    /// - Parameters:
    ///   - name: the function's name.
    ///   - options: how the function runs. `timeoutSeconds` is at most 7, the default.
    ///   - handler: the function. It returns nil to send the mail.
    public init(
        _ name: String, options: Options = Options(),
        _ handler: @escaping @Sendable (AuthBlockingEvent) async throws -> BeforeMessageResponse?
    ) {
        definitions = [FunctionDefinition(name, options, BlockingDefinition(kind: .beforeSendEmail)) { try await handler($0)?.json }]
    }
}

/// A function that decides whether a text message with a code is sent. A host has at most one.
///
///     BeforeSMSSent("ourCountry") { event in
///         guard event.additionalUserInfo.phoneNumber?.hasPrefix("+49") == true else { throw HttpsError(.permissionDenied, "Not to this country.") }
///         return nil
///     }
public struct BeforeSMSSent: FunctionsContent {
    /// The one function.
    public let definitions: [FunctionDefinition]

    /// - Parameters:
    ///   - name: the function's name.
    ///   - options: how the function runs. `timeoutSeconds` is at most 7, the default.
    ///   - handler: the function. It returns nil to send the message.
    public init(
        _ name: String, options: Options = Options(),
        _ handler: @escaping @Sendable (AuthBlockingEvent) async throws -> BeforeMessageResponse?
    ) {
        definitions = [FunctionDefinition(name, options, BlockingDefinition(kind: .beforeSendSms)) { try await handler($0)?.json }]
    }
}

// MARK: Running

extension BeforeCreateResponse {
    fileprivate var json: JSONValue {
        var object = JSONObject()
        object["displayName"] = displayName.map { .string($0) }
        object["photoURL"] = photoURL.map { .string($0) }
        object["disabled"] = disabled.map { .bool($0) }
        object["emailVerified"] = emailVerified.map { .bool($0) }
        object["customClaims"] = customClaims
        object["recaptchaActionOverride"] = recaptchaActionOverride.map { .string($0.rawValue) }
        return .object(object)
    }
}

extension BeforeSignInResponse {
    fileprivate var json: JSONValue {
        var object = user.json.object ?? [:]
        object["sessionClaims"] = sessionClaims
        return .object(object)
    }
}

extension BeforeMessageResponse {
    fileprivate var json: JSONValue {
        var object = JSONObject()
        object["recaptchaActionOverride"] = recaptchaActionOverride.map { .string($0.rawValue) }
        return .object(object)
    }
}

/// Runs a blocking function. The host gets its answer, or its refusal.
private final class BlockingHandler: FunctionHandler, @unchecked Sendable {
    // Immutable and Sendable.
    private let body: @Sendable (AuthBlockingEvent) async throws -> JSONValue?

    init(_ body: @escaping @Sendable (AuthBlockingEvent) async throws -> JSONValue?) { self.body = body }

    override func start(_ invocation: Invocation) {
        let task = Task.immediate(executorPreference: invocation) { await self.run(invocation) }
        if !invocation.isAnswered { invocation.task = task }
    }

    private func run(_ invocation: Invocation) async {
        do {
            guard let answer = try await body(AuthBlockingEvent(invocation)) else { return invocation.answerNothing() }
            invocation.answer(answer)
        } catch {
            invocation.fail(error)
        }
    }
}

extension FunctionDefinition {
    /// A function that an operation waits for.
    fileprivate init(
        _ name: String, _ options: Options, _ trigger: BlockingDefinition,
        _ body: @escaping @Sendable (AuthBlockingEvent) async throws -> JSONValue?
    ) {
        self.init(path: [name], options: options, trigger: .blocking(trigger), handler: BlockingHandler(body))
    }
}
