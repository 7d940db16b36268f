import EventLoop
import HearthJSON
import Logging
import SQLite

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Everything that the embedded back end keeps: one connection to its store, on a thread of its own.
///
/// What arrives for one turn of its loop is one transaction. Nothing is answered and nothing is sent to a device before that is
/// durable. What a send does to each of its devices is in `MessagingWriter+Sending`; what connected devices get, in
/// `MessagingWriter+Links`.
final class MessagingWriter {
    let loop: EventLoop
    let settings: EmbeddedSettings
    let projects: [String: MessagingProject]
    let parser: MessageParser
    let clock: MessagingClock
    let accounts: LiveAccounts
    let log: Logger
    private let path: String

    /// What is counted goes on where the store is opened again.
    private(set) var store: MessagingStore? {
        willSet { if let store { figures = store.figures } }
    }
    private(set) var figures = StoreFigures()
    private var batch = CommitBatch()
    private(set) var isInTransaction = false
    private var isStopped = false
    private(set) var hasTrouble = false
    private var hasLogTrouble = false
    private var lastAttempt: UInt64 = 0

    /// The number that the newest message has.
    var lastID: Int64 = 0
    /// Connected devices, by their rows.
    var links: [Int64: DeviceLink] = [:]
    var lastLink: UInt64 = 0
    /// Those of them that connected in this transaction.
    var connecting: [DeviceLink] = []
    /// Devices that something was added for in this transaction.
    var touched: Set<Int64> = []
    var fanOuts: [FanOut] = []
    var isFanningOut = false
    var rates = SendRates()
    var forwarders: [DevicePlatform: any PushForwarder] = [:]
    /// Messages that forwarders have.
    var forwarding = Forwarding()
    /// What tests have every send answered with.
    var fault: MessagingError?
    /// The message that was read last.
    var recent: StoredMessage?
    /// Messages of this transaction that go to connected devices at once: they need not be read again.
    var fresh: [Int64: StoredMessage] = [:]
    lazy var fanOutTimer = Timer(loop: loop) { [unowned self] in fanOutStep() }
    lazy var forwardTimer = Timer(loop: loop) { [unowned self] in forwardTick() }
    lazy var upkeepTimer = Timer(loop: loop) { [unowned self] in keepUp() }

    private static let retryMilliseconds: UInt64 = 250

    init(
        loop: EventLoop, path: String, settings: EmbeddedSettings, projects: [MessagingProject], parser: MessageParser, clock: MessagingClock,
        accounts: LiveAccounts, log: Logger
    ) {
        self.loop = loop
        self.path = path
        self.settings = settings
        self.projects = Dictionary(projects.map { ($0.id, $0) }) { first, _ in first }
        self.parser = parser
        self.clock = clock
        self.accounts = accounts
        self.log = log
    }

    // MARK: Opening and closing

    /// Opens the store, and goes on with what an earlier host had begun. Until that works, everything is answered `unavailable`.
    func start() {
        guard store == nil, !isStopped else { return }
        lastAttempt = loop.nowMilliseconds
        // Where this fails, it is tried again.
        upkeepTimer.start(afterMilliseconds: 1000, repeatMilliseconds: 60_000)
        do {
            let opened = try MessagingStore(path: path, figures: figures)
            lastID = try opened.lastMessage()
            accounts.replace(with: try opened.accounts())
            store = opened
            try resumeFanOuts(opened)
            goOnForwarding()
            didSucceed()
        } catch {
            store = nil
            upkeepTimer.start(afterMilliseconds: 1000, repeatMilliseconds: 1000)
            didFail("the store of messages cannot be opened", error)
        }
    }

    /// Opens the store where there is one: a host that never sends has none.
    func open() {
        if access(path, F_OK) == 0 { start() } else { accounts.replace(with: []) }
    }

    /// Commits what has arrived, lets connected devices go, and closes the store.
    func stop() {
        suspend()
        upkeepTimer.close()
        fanOutTimer.close()
        forwardTimer.close()
    }

    /// Opens the store after ``suspend()``, where there is one.
    func resume() {
        isStopped = false
        open()
    }

    /// Commits what has arrived, lets connected devices go, and closes the store until ``resume()``.
    func suspend() {
        commit()
        isStopped = true
        upkeepTimer.stop()
        fanOutTimer.stop()
        forwardTimer.stop()
        forwarding = Forwarding()
        for link in links.values { link.tell(.ended(.stopping)) }
        links = [:]
        fanOuts = []
        accounts.forgetAll()
        store = nil
    }

    // MARK: The transaction of a turn

    /// Does `body` as a part of this turn's transaction; `refuse` is called when that cannot be, then or at its end.
    ///
    /// What `body` answers, it answers through ``afterCommit(on:_:)``.
    func inTransaction(_ refuse: (MessagingError) -> Void, _ body: (MessagingStore) throws(SQLiteError) -> Void) {
        if store == nil, loop.nowMilliseconds >= lastAttempt + Self.retryMilliseconds { start() }
        guard let store else { return refuse(.unavailable(retryAfterSeconds: 1)) }
        do throws(SQLiteError) {
            if !isInTransaction {
                try store.begin()
                isInTransaction = true
                loop.endOfTurn { [self] in commit() }
            }
            try body(store)
        } catch {
            abandon(error)
            refuse(.notStored(error))
        }
    }

    /// Has `work` called on `loop` when this turn's transaction is durable, or why it is not.
    func afterCommit(on loop: EventLoop, _ work: @escaping @Sendable (MessagingError?) -> Void) { batch.add(on: loop, work) }

    private func commit() {
        guard isInTransaction, let store else { return }
        do throws(SQLiteError) {
            try store.commit()
            isInTransaction = false
        } catch {
            return abandon(error)
        }
        didSucceed()
        connecting = []
        batch.deliver(failure: nil)
        pumpTouched(store)
        do throws(SQLiteError) {
            try store.checkpoint()
            hasLogTrouble = false
        } catch {
            if !hasLogTrouble { log.error("the write-ahead log of the message store cannot be truncated", metadata: ["reason": "\(error)"]) }
            hasLogTrouble = true
        }
    }

    /// Takes back this turn's transaction, and tells everybody who is part of it.
    private func abandon(_ error: SQLiteError) {
        didFail("messages cannot be stored", error)
        isInTransaction = false
        store?.rollback()
        touched = []
        fresh = [:]
        batch.deliver(failure: .notStored(error))
        for link in links.values { link.frames = [] }
        // Nothing was read for them that is certain.
        for link in connecting where links[link.device.id] === link {
            links.removeValue(forKey: link.device.id)
            link.tell(.ended(.failed))
        }
        connecting = []
        recent = nil
        switch error.kind {
        // A file that could only be read when it was opened stays so.
        case .corrupt, .readOnly, .cannotOpen: store = nil
        // What is in the log already may be moved within the room that there is, and then the log begins anew.
        case .full: try? store?.checkpoint(isDue: true)
        default: break
        }
        // What fan-outs had done in this transaction is to be done again, and accounts that it has changed are as they were.
        do throws(SQLiteError) {
            guard let store else { return }
            try resumeFanOuts(store)
            accounts.replace(with: try store.accounts())
        } catch {
            store = nil
        }
    }

    // MARK: Trouble

    /// A disk that is full has no room for a line about each message.
    func didFail(_ what: String, _ error: any Error) {
        if !hasTrouble { log.error("\(what)", metadata: ["reason": "\(error)"]) }
        hasTrouble = true
    }

    private func didSucceed() {
        if hasTrouble { log.notice("messages can be stored again") }
        hasTrouble = false
    }

    // MARK: Numbers

    /// What is counted, and what there is now.
    func currentFigures() -> StoreFigures {
        var current = store?.figures ?? figures
        current.connectedDevices = links.count
        current.fanOuts = fanOuts.count
        current.forwarding = forwarding.underWay.count
        return current
    }

    /// The number of a new message: the clock's microseconds, or one more than the last where that is not behind.
    func nextID() -> Int64 {
        lastID = max(clock.now * 1000, lastID + 1)
        return lastID
    }

    func number(of project: String) -> String { projects[project]?.number ?? MessagingProject.number(for: project) }
}

extension MessagingError {
    /// The store took nothing, and says why where that helps.
    static func notStored(_ error: SQLiteError) -> MessagingError {
        var refusal = unavailable(retryAfterSeconds: 1)
        switch error.kind {
        case .full: refusal.message = "The disk is full: nothing was stored. Try again when there is room."
        case .readOnly: refusal.message = "The disk cannot be written to: nothing was stored."
        default: break
        }
        return refusal
    }
}
