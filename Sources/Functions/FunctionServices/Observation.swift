import EventLoop
import FunctionDispatch
import HearthJSON
import RealtimeDatabase
import Tree

/// A waiting call of `observe`: reads the place again after each change, until the value is another one than the caller has.
///
/// Holds no more than one value at a time. The permission of a user is judged with each read, and in between when something changes that it
/// depends on. Belongs to the dispatcher's loop.
final class Observation {
    let request: ObserveRequest
    let call: ServiceCall
    private let instance: String
    private unowned let observers: Observers
    private let gate: ServiceGate
    private let completion: (ServiceAnswer) -> Void

    private var state = State.beginning
    private var timer: Timer?
    private var scopeToken: CallScope.Token?
    private var namespace: Namespace?
    private var listening: Namespace.Listening?
    /// Waits for the creation of the database.
    private var creation: NamespaceWait?
    /// The state that was read last, and the newest one with a change.
    private var commitRead: UInt64 = 0
    private var commitChanged: UInt64 = 0
    /// Whether the rules have changed since the last read began.
    private var hasOtherRules = false
    private var permission = Permission.unknown
    /// Counts the judgements, so that late answers are recognized.
    private var judgement = 0
    private var watching: Namespace.Watching?
    private var nextJudgement: Timer?

    private enum State {
        /// Waits until the database reports changes.
        case beginning
        /// Reads, or waits until there is memory for that.
        case reading
        /// Waits for a change.
        case waiting
        case over
    }

    /// The permission of a user in states that have not been read.
    private enum Permission {
        case unknown
        /// Is being judged.
        case asked
        /// Holds until there is news.
        case known
    }

    /// The interval of judgements if the rules use the time, or look at too many places.
    private static let judgementMilliseconds: UInt64 = 30_000

    init(
        _ request: ObserveRequest, _ instance: String?, for call: ServiceCall, _ gate: ServiceGate, in observers: Observers,
        completion: @escaping (ServiceAnswer) -> Void
    ) {
        var request = request
        request.read.cancellation = Cancellation()
        self.request = request
        self.call = call
        self.instance = instance ?? observers.database.defaultNamespace
        self.gate = gate
        self.observers = observers
        self.completion = completion
    }

    private var loop: EventLoop { observers.loop }
    private var path: Path { request.read.path }

    // MARK: Life cycle

    func begin() {
        let timer = Timer(loop: loop) { [unowned self] in finish(.unchanged) }
        timer.start(afterMilliseconds: request.timeoutMilliseconds)
        self.timer = timer
        scopeToken = call.scope.whenOver(on: loop) { [weak self] in
            guard let self else { return }
            finish(DatabaseServiceRefusal.observe(.cancelled, "the invocation has ended", at: path).answer)
        }
        find()
    }

    /// Completes the call, and releases everything that it has taken.
    func finish(_ answer: ServiceAnswer) {
        if case .over = state { return }
        state = .over
        request.read.cancellation?.isSet = true
        timer?.close()
        timer = nil
        if let scopeToken { call.scope.forget(scopeToken) }
        forgetPermission()
        listening?.end()
        creation?.end()
        (listening, creation, namespace) = (nil, nil, nil)
        observers.remove(self)
        completion(answer)
    }

    private func refuse(_ error: DatabaseError) { finish(DatabaseServiceRefusal(error, at: path).answer) }

    // MARK: Changes

    private func find() {
        do throws(DatabaseError) {
            switch try observers.database.find(instance, isKnown: false) {
            case .namespace(let namespace): listen(namespace)
            case .absent(let absent): wait(absent)
            }
        } catch {
            refuse(error)
        }
    }

    /// Waits for the creation of the database, which has no value.
    private func wait(_ absent: AbsentNamespace) {
        ValueCollector.collect(absent.read(request.read), at: path, of: call.artifact.name, observers.memory, on: loop) { [self] in take($0) }
        guard case .waiting = state, creation == nil else { return }
        creation = observers.database.awaitNamespace(absent.name, on: loop) { [weak self] _ in
            guard let self, case .waiting = state, creation != nil, namespace == nil else { return }
            // Other rules, or a database: both are found anew.
            creation?.end()
            creation = nil
            state = .beginning
            find()
        }
    }

    private func listen(_ namespace: Namespace) {
        self.namespace = namespace
        namespace.listen(
            path, on: loop,
            ready: { [weak self] result in
                guard let self, case .beginning = state else {
                    if case .success(let listening) = result { listening.end() }
                    return
                }
                switch result {
                case .failure(let error): refuse(error)
                case .success(let listening):
                    self.listening = listening
                    read()
                }
            },
            news: { [weak self] in self?.hear($0) })
    }

    private func hear(_ news: ListenerNews) {
        switch news {
        case .changed(let change):
            commitChanged = max(commitChanged, change.commit)
            if case .waiting = state, commitChanged > commitRead { read() }
        // These concern listeners of queries. This one listens to the whole node.
        case .due, .settled, .outdated: break
        case .rulesChanged:
            forgetPermission()
            hasOtherRules = true
            if case .waiting = state { read() }
        }
    }

    // MARK: The value

    private func read() {
        guard let namespace else { return }
        state = .reading
        hasOtherRules = false
        gate.enter { [weak self] leave in
            guard let self, case .reading = state else { return leave() }
            namespace.read(request.read, on: loop) { [self] outcome in
                ValueCollector.collect(outcome, at: path, of: call.artifact.name, observers.memory, on: loop) { [self] in
                    take($0)
                    leave()
                }
            }
        }
    }

    private func take(_ outcome: ValueCollector.Outcome) {
        if case .over = state { return }
        switch outcome {
        case .refused(let answer): finish(answer)
        case .value(let value): ValueMark.make(of: value.json, on: loop) { [self] in take(value, mark: $0) }
        }
    }

    private func take(_ value: CollectedValue, mark: String) {
        if case .over = state { return }
        // A value that was read under earlier rules is read again.
        if hasOtherRules { return read() }
        guard mark == request.mark else { return finish(.changed(value, mark: mark)) }
        commitRead = value.commit
        state = .waiting
        if commitChanged > commitRead { return read() }
        judge()
    }

    // MARK: Permission

    /// Asks how long the permission of the last read holds.
    private func judge() {
        guard case .user = request.read.principal, let namespace, permission == .unknown else { return }
        permission = .asked
        judgement += 1
        namespace.permission(request.read, on: loop) { [weak self, judgement] result in
            guard let self, judgement == self.judgement, permission == .asked else { return }
            switch result {
            case .failure(let error): refuse(error)
            case .success(let found) where !found.isAllowed: refuse(.permissionDenied())
            case .success(let found): keep(found)
            }
        }
    }

    private func keep(_ found: ReadPermission) {
        permission = .known
        switch found.duration {
        case .always: break
        case .untilChange(let places):
            watching = listening?.watch(places, since: found.commit, on: loop) { [weak self, judgement] news in
                guard let self, judgement == self.judgement, case .changed = news else { return }
                judgeAgain()
            }
        case .once:
            let timer = Timer(loop: loop) { [unowned self] in judgeAgain() }
            timer.start(afterMilliseconds: Self.judgementMilliseconds)
            nextJudgement = timer
        }
    }

    /// Judges the permission again. A read that is under way does so at its end.
    private func judgeAgain() {
        forgetPermission()
        if case .waiting = state { judge() }
    }

    private func forgetPermission() {
        permission = .unknown
        judgement += 1
        watching?.end()
        watching = nil
        nextJudgement?.close()
        nextJudgement = nil
    }
}

extension ServiceAnswer {
    /// The answer to `observe` without a value: the caller may ask again.
    static let unchanged = ServiceAnswer.success(["changed": false])
}
