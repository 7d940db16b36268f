import HearthBytes
public import EventLoop
public import HTTP
public import HearthJSON
public import Logging

/// The messaging service of a host: checks callers and messages, and sends through a back end.
///
/// Can be called from every loop.
public final class MessagingService: Sendable {
    /// The settings of the service.
    public struct Settings: Sendable {
        /// The host's project, then further projects whose devices register here.
        public var projects: [MessagingProject]
        /// The checks of messages, and their size limits.
        public var parser = MessageParser()
        /// The limits and times of the embedded back end.
        public var embedded = EmbeddedSettings()
        /// The bearer token of administrators.
        public var adminToken: [UInt8] = []
        /// The callers for whom `Bearer owner` is an administrator's token; nil for none.
        public var ownerAccess: DevelopmentAccess?
        /// Whether the host uses TLS.
        public var isTLS = false
        /// Whether tests may set the clock forward, make sends fail and delete everything.
        public var isDevelopment = false

        /// The defaults, for a host with these projects.
        public init(projects: [MessagingProject]) { self.projects = projects }
    }

    /// The settings. Constant.
    public let settings: Settings
    /// The back end that delivers messages.
    public let backend: any MessagingBackend
    /// The back end with which devices register and connect, also if another back end sends.
    public let embedded: EmbeddedBackend
    /// The key of this host for the push services of browsers; nil if they are not used.
    public let vapidKey: VapidKey?
    let tokens: SealedTokens
    let sendCounter = SendCounter()

    /// - Parameters:
    ///   - path: the file of the embedded back end's store, in an existing folder; `:memory:` for a store in memory.
    ///   - clock: the clock for all expirations.
    ///   - backend: the back end that delivers messages; nil for the embedded one.
    ///   - vapidKey: the key of this host for the push services of browsers.
    ///   - isSuspended: whether the store stays closed until ``resume()``.
    public init(
        settings: Settings, path: String, clock: MessagingClock, backend: (any MessagingBackend)? = nil, vapidKey: VapidKey? = nil,
        isSuspended: Bool = false, log: Logger
    ) throws(LoopError) {
        self.settings = settings
        self.vapidKey = vapidKey
        embedded = try EmbeddedBackend(
            path: path, settings: settings.embedded, projects: settings.projects, parser: settings.parser, clock: clock,
            isSuspended: isSuspended, log: log)
        self.backend = backend ?? embedded
        tokens = SealedTokens(secret: settings.adminToken)
    }

    /// The project with this id or number.
    func project(_ name: String) -> MessagingProject? {
        settings.projects.first { $0.id == name || $0.number == name }
    }

    /// The key of a service account of the host: its id, and the public key in DER. Nil if there is no such account.
    public func serviceAccountKey(of email: String, project: String) -> (id: String, publicKey: [UInt8])? {
        embedded.accounts.key(of: email, project: project)
    }

    // MARK: For functions

    /// Checks and sends a message.
    ///
    /// - Parameter request: the body of a request to the HTTP API: `{"message": {...}, "validate_only": false}`.
    public func send(
        _ request: JSONValue, idempotencyKey: String? = nil, on loop: EventLoop,
        _ answer: @escaping (Result<String, MessagingError>) -> Void
    ) {
        let answer = LoopBound(answer, loop: loop)
        do throws(MessagingError) {
            let checked = try settings.parser.check(request)
            let send = SendRequest(
                project: settings.projects[0].id, message: checked.message, isValidateOnly: checked.isValidateOnly,
                idempotencyKey: idempotencyKey)
            self.send(send, on: loop) { answer.value($0) }
        } catch {
            sendCounter.add(.failure(error), isValidateOnly: false)
            loop.post { answer.value(.failure(error)) }
        }
    }

    /// Sends a checked message, and counts the outcome.
    func send(_ request: SendRequest, on loop: EventLoop, _ answer: @escaping (Result<String, MessagingError>) -> Void) {
        backend.send(request, on: loop) { [sendCounter] result in
            sendCounter.add(result, isValidateOnly: request.isValidateOnly)
            answer(result)
        }
    }

    /// Subscribes registrations to a topic, or ends their subscriptions.
    public func changeTopic(
        _ action: TopicChange.Action, topic: String, registrations: [String], on loop: EventLoop,
        _ answer: @escaping (Result<[TopicOutcome], MessagingError>) -> Void
    ) {
        let answer = LoopBound(answer, loop: loop)
        guard let name = TopicName(topic) else { return loop.post { answer.value(.failure(.badTopic)) } }
        guard (1...Self.registrationsMax).contains(registrations.count) else {
            return loop.post { answer.value(.failure(.field("registration_tokens", "must be 1 to \(Self.registrationsMax) tokens"))) }
        }
        let change = TopicChange(project: settings.projects[0].id, action: action, topic: name, registrations: registrations)
        backend.changeTopic(change, on: loop) { answer.value($0) }
    }

    /// The topics of a registration.
    public func topics(
        of registration: String, on loop: EventLoop, _ answer: @escaping (Result<[SubscribedTopic], MessagingError>) -> Void
    ) {
        backend.topics(of: registration, project: settings.projects[0].id, on: loop, answer)
    }

    static let registrationsMax = 1000

    /// Closes the store for another process: commits what has arrived, and answers `unavailable` until ``resume()``.
    ///
    /// - Parameter completion: called on any thread.
    public func suspend(completion: @escaping @Sendable () -> Void) { embedded.suspend(completion: completion) }

    /// Opens the store.
    public func resume() { embedded.resume() }

    /// Calls `completion` on `loop` after the first attempt to open the store; at once if that was made.
    public func whenOpen(on loop: EventLoop, _ completion: @escaping () -> Void) { embedded.whenOpen(on: loop, completion) }

    /// Disconnects the devices and closes the store. Nothing is answered afterwards.
    public func stop() { embedded.stop() }
}
