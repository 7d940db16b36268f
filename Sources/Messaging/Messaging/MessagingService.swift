import HearthBytes
public import EventLoop
public import HTTP
public import HearthJSON
public import Logging

/// What the host has one of: who may send, what is sent, and what carries it away.
///
/// Can be called from every loop.
public final class MessagingService: Sendable {
    /// How the service is set up.
    public struct Settings: Sendable {
        /// The host's project first, then others whose devices register here.
        public var projects: [MessagingProject]
        /// How strictly messages are checked, and how large they may be.
        public var parser = MessageParser()
        /// How much the host's own delivery keeps, and for how long.
        public var embedded = EmbeddedSettings()
        /// The bearer token of administrators.
        public var adminToken: [UInt8] = []
        /// From where `Bearer owner` is the administrator's; nil for nowhere.
        public var ownerAccess: DevelopmentAccess?
        /// Whether the host speaks TLS.
        public var isTLS = false
        /// Whether tests may put the clock forward, have sends fail and forget everything.
        public var isDevelopment = false

        /// The defaults, for a host with these projects.
        public init(projects: [MessagingProject]) { self.projects = projects }
    }

    /// Fixed when the service is made.
    public let settings: Settings
    /// What carries messages away.
    public let backend: any MessagingBackend
    /// Devices register and connect here, also where another back end sends.
    public let embedded: EmbeddedBackend
    /// Who this host is to the push services of browsers; nil where they are not used.
    public let vapidKey: VapidKey?
    let tokens: SealedTokens
    let sendCounter = SendCounter()

    /// - Parameters:
    ///   - path: the file of the embedded back end's store; its folder is there. `:memory:` for one that ends with the host.
    ///   - clock: the time of everything that ages.
    ///   - backend: what sends; nil for the embedded back end.
    ///   - vapidKey: who this host is to the push services of browsers.
    ///   - isSuspended: whether the store is left alone until ``resume()``.
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

    /// The project that a path names by its id or number.
    func project(_ name: String) -> MessagingProject? {
        settings.projects.first { $0.id == name || $0.number == name }
    }

    // MARK: For functions

    /// Checks and sends a message.
    ///
    /// - Parameter request: as the body of the HTTP API: `{"message": {...}, "validate_only": false}`.
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

    /// Sends what was checked, and counts what comes of it.
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

    /// Has `completion` called on `loop` when it was tried to open the store: at once where that is over.
    public func whenOpen(on loop: EventLoop, _ completion: @escaping () -> Void) { embedded.whenOpen(on: loop, completion) }

    /// Lets connected devices go and closes the store. Nothing is answered any more afterwards.
    public func stop() { embedded.stop() }
}
