public import EventLoop
import HearthJSON
public import Logging
import SQLite

/// This server's own delivery: store and forward with SQLite, for devices that connect to it.
///
/// Can be called from every loop. Answers arrive on the loop passed with the call.
public final class EmbeddedBackend: MessagingBackend {
    /// The clock for all expirations.
    public let clock: MessagingClock
    let settings: EmbeddedSettings
    let projects: [MessagingProject]
    let accounts = LiveAccounts()
    private let thread: LoopThread
    private let writer: LoopBound<MessagingWriter>

    /// Opens an existing store soon; otherwise when it is needed first. If that fails, all calls are answered with `unavailable`.
    ///
    /// - Parameters:
    ///   - path: the database's file, in an existing folder; `:memory:` for a store in memory.
    ///   - projects: the project of the host, then further projects whose devices register here.
    ///   - isSuspended: whether the store stays closed until ``resume()``.
    public init(
        path: String, settings: EmbeddedSettings, projects: [MessagingProject], parser: MessageParser, clock: MessagingClock,
        isSuspended: Bool = false, log: Logger
    ) throws(LoopError) {
        let thread = try LoopThread()
        self.thread = thread
        self.clock = clock
        self.settings = settings
        self.projects = projects
        let writer = LoopBound(
            MessagingWriter(
                loop: thread.loop, path: path, settings: settings, projects: projects, parser: parser, clock: clock, accounts: accounts, log: log),
            loop: thread.loop)
        self.writer = writer
        thread.loop.post { if isSuspended { writer.value.close() } else { writer.value.open() } }
    }

    /// Commits what has arrived and closes the store. Nothing is answered afterwards.
    public func stop() {
        onWriter { $0.end() }
        thread.join()
    }

    func suspend(completion: @escaping @Sendable () -> Void) {
        onWriter { writer in
            writer.close()
            completion()
        }
    }

    func resume() { onWriter { $0.reopen() } }

    func whenOpen(on loop: EventLoop, _ completion: @escaping () -> Void) {
        let completion = LoopBound(completion, loop: loop)
        // An earlier message to the writer opens the store, and messages are handled in order.
        onWriter { _ in loop.post { completion.value() } }
    }

    private func onWriter(_ body: @escaping @Sendable (MessagingWriter) -> Void) {
        thread.loop.post { [writer] in body(writer.value) }
    }

    // MARK: MessagingBackend

    public func send(_ request: SendRequest, on loop: EventLoop, _ answer: @escaping (Result<String, MessagingError>) -> Void) {
        let answer = LoopBound(answer, loop: loop)
        onWriter { $0.send(request, on: loop, answer) }
    }

    public func changeTopic(
        _ change: TopicChange, on loop: EventLoop, _ answer: @escaping (Result<[TopicOutcome], MessagingError>) -> Void
    ) {
        let answer = LoopBound(answer, loop: loop)
        onWriter { $0.changeTopic(change, on: loop, answer) }
    }

    public func topics(
        of registration: String, project: String, on loop: EventLoop,
        _ answer: @escaping (Result<[SubscribedTopic], MessagingError>) -> Void
    ) {
        let answer = LoopBound(answer, loop: loop)
        onWriter { $0.subscriptions(of: registration, project: project, on: loop, answer) }
    }

    /// Uses `forwarder` for messages to its platform's devices with an address.
    public func use(_ forwarder: any PushForwarder) {
        onWriter { writer in
            writer.forwarders[forwarder.platform] = forwarder
            writer.forwarding.lookedAt = 0
            writer.goOnForwarding()
        }
    }

    // MARK: Access to the store

    /// Runs `question` as a part of the current transaction, and answers with its result.
    ///
    /// - Parameter caller: the address of an anonymous caller, whose calls are limited; nil for other callers.
    func ask<Value: Sendable>(
        on loop: EventLoop, limitedBy caller: NetworkAddress? = nil, _ answer: @escaping (Result<Value, MessagingError>) -> Void,
        _ question: @escaping @Sendable (MessagingWriter, MessagingStore) throws(StoreFailure) -> Result<Value, MessagingError>
    ) {
        let answer = LoopBound(answer, loop: loop)
        onWriter { writer in
            if let refusal = caller.flatMap({ writer.refusal(ofCallFrom: $0) }) { return loop.post { answer.value(.failure(refusal)) } }
            writer.answer(on: loop, answer) { store throws(StoreFailure) in try question(writer, store) }
        }
    }

    func subscription(
        _ action: MessagingWriter.SubscriptionAction, _ topic: TopicName, of registration: String, project: String, owner: String? = nil,
        on loop: EventLoop, limitedBy caller: NetworkAddress? = nil, _ answer: @escaping (Result<SubscribedTopic?, MessagingError>) -> Void
    ) {
        ask(on: loop, limitedBy: caller, answer) { writer, store throws(StoreFailure) in
            try writer.subscription(action, topic, registration, project: project, owner: owner, store)
        }
    }

    // MARK: Connected devices

    func connect(token: String, state: DeviceState, last: String?, on loop: EventLoop, _ handler: @escaping (LinkNews) -> Void) -> Connecting {
        let handler = LoopBound(handler, loop: loop)
        let connecting = LoopBound(Connecting(self), loop: loop)
        onWriter { writer in
            writer.connect(token: token, state: state, last: last, on: loop, handler) { link, device in connecting.value.didOpen(link, device) }
        }
        return connecting.value
    }

    /// A handle of a device's connection, on the connection's loop.
    final class Connecting {
        private let backend: EmbeddedBackend
        private var opened: (link: UInt64, device: Int64)?
        private var isEnded = false

        init(_ backend: EmbeddedBackend) { self.backend = backend }

        fileprivate func didOpen(_ link: UInt64, _ device: Int64) {
            opened = (link, device)
            if isEnded { end() }
        }

        /// Ends the connection.
        func end() {
            isEnded = true
            guard let opened else { return }
            self.opened = nil
            backend.onWriter { $0.disconnect(opened.link, device: opened.device) }
        }
    }

    func setState(_ state: DeviceState, token: String) {
        onWriter { $0.setState(state, token: token) }
    }

    func acknowledge(_ ids: [String], token: String, on loop: EventLoop, _ answer: @escaping (MessagingError?) -> Void) {
        let answer = LoopBound(answer, loop: loop)
        onWriter { $0.acknowledge(ids, token: token, on: loop, answer) }
    }

    /// Reads the metrics. Answers on the store's loop.
    func askForFigures(_ answer: @escaping @Sendable (StoreFigures) -> Void) {
        onWriter { answer($0.currentFigures()) }
    }

    // MARK: Tests

    /// Makes all sends fail with an error; nil ends that.
    func setFault(_ fault: MessagingError?) {
        onWriter { $0.fault = fault }
    }
}

/// The error of a failed statement of the store.
typealias StoreFailure = SQLiteError
