import DequeModule
import EventLoop
import HearthJSON
import Logging
import SQLite
import Store

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// The state of the embedded back end: a connection to its store, on a separate thread.
///
/// Transactions, opening and failures are handled by ``StoreWriter``. `MessagingWriter+Sending` distributes a message to its devices, and
/// `MessagingWriter+Links` delivers to connected devices.
final class MessagingWriter: StoreWriter<MessagingStore> {
    let settings: EmbeddedSettings
    let projects: [String: MessagingProject]
    let parser: MessageParser
    let clock: MessagingClock
    let accounts: LiveAccounts
    private let path: String

    /// The metrics of an earlier opening of the store.
    private var figures = StoreFigures()

    /// The number of the newest message.
    var lastID: Int64 = 0
    /// Connected devices, by their row ids.
    var links: [Int64: DeviceLink] = [:]
    var lastLink: UInt64 = 0
    /// Devices that have connected in this transaction.
    var connecting: [DeviceLink] = []
    /// Devices for which this transaction has added messages.
    var touched: Set<Int64> = []
    var fanOuts: Deque<FanOut> = []
    var isFanningOut = false
    var rates = SendRates()
    var forwarders: [DevicePlatform: any PushForwarder] = [:]
    /// Messages that are being forwarded.
    var forwarding = Forwarding()
    /// The error for all sends, set by tests.
    var fault: MessagingError?
    /// A cache of the message that was read last.
    var recent: StoredMessage?
    /// Messages of this transaction for connected devices, which need not be read from the store.
    var fresh: [Int64: StoredMessage] = [:]
    lazy var fanOutTimer = Timer(loop: loop) { [unowned self] in fanOutStep() }
    lazy var forwardTimer = Timer(loop: loop) { [unowned self] in forwardTick() }
    lazy var upkeepTimer = Timer(loop: loop) { [unowned self] in keepUp() }

    init(
        loop: EventLoop, path: String, settings: EmbeddedSettings, projects: [MessagingProject], parser: MessageParser, clock: MessagingClock,
        accounts: LiveAccounts, log: Logger
    ) {
        self.path = path
        self.settings = settings
        self.projects = Dictionary(projects.map { ($0.id, $0) }) { first, _ in first }
        self.parser = parser
        self.clock = clock
        self.accounts = accounts
        super.init(
            loop: loop, log: log,
            words: StoreWords(
                metadata: ["store": "messages"], cannotOpen: "the store of messages cannot be opened",
                mustReopen: "the store of messages must be opened again", writeFailed: "messages cannot be stored",
                worksAgain: "messages can be stored again"))
    }

    // MARK: Opening and closing

    override func openContent() throws(StoreError) -> MessagingStore { try MessagingStore(path: path, figures: figures) }

    /// Continues the work of an earlier process.
    override func didOpen(_ store: MessagingStore) throws(StoreError) {
        do throws(SQLiteError) {
            lastID = try store.lastMessage()
            accounts.replace(with: try store.accounts())
            try resumeFanOuts(store)
        } catch {
            throw StoreError(error)
        }
        goOnForwarding()
        upkeepTimer.start(afterMilliseconds: 1000, repeatMilliseconds: 60_000)
    }

    override func didLose(_ error: StoreError) {
        // The next upkeep tries to open the store.
        upkeepTimer.start(afterMilliseconds: 1000, repeatMilliseconds: 1000)
    }

    override func willClose(_ store: MessagingStore) { figures = store.figures }

    /// Opens the store if its file exists. A host that never sends has none.
    func open() {
        if access(path, F_OK) == 0 { start() } else { accounts.replace(with: []) }
    }

    /// Commits the current transaction, disconnects the devices, and closes the store until ``reopen()``.
    func close() {
        commit()
        upkeepTimer.stop()
        fanOutTimer.stop()
        forwardTimer.stop()
        forwarding = Forwarding()
        for link in links.values { link.tell(.ended(.stopping)) }
        links = [:]
        fanOuts = []
        accounts.forgetAll()
        suspend()
    }

    /// Opens the store after ``close()`` if its file exists.
    func reopen() {
        resume()
        open()
    }

    /// Commits the current transaction, disconnects the devices, and closes the store permanently.
    func end() {
        close()
        upkeepTimer.close()
        fanOutTimer.close()
        forwardTimer.close()
        stop()
    }

    // MARK: The transaction of a turn

    /// Runs `body` as a part of the current transaction. Calls `refuse` if that is not possible, now or at the end of the transaction.
    ///
    /// `body` must answer through ``afterCommit(on:_:)``.
    func inTurn(_ refuse: (MessagingError) -> Void, _ body: (MessagingStore) throws(SQLiteError) -> Void) {
        inTransaction({ refuse(.notStored($0)) }) { store throws(StoreError) in
            do throws(SQLiteError) { try body(store) } catch { throw StoreError(error) }
        }
    }

    /// Calls `work` on `loop` when this turn's transaction is durable, or with the error if it failed.
    func afterCommit(on loop: EventLoop, _ work: @escaping @Sendable (MessagingError?) -> Void) {
        batch.answer(on: loop) { failure in work(failure.map { .notStored($0) }) }
    }

    override func willCommit(_ store: MessagingStore) -> Bool { store.hasChanges }

    override func didCommit(_ store: MessagingStore, nanoseconds: UInt64?) {
        store.didCommit(nanoseconds: nanoseconds ?? 0)
        connecting = []
    }

    override func didDeliver(_ store: MessagingStore, hasChanges: Bool) { pumpTouched(store) }

    override func didRollBack(_ store: MessagingStore) {
        store.didRollBack()
        touched = []
        fresh = [:]
    }

    override func renewed(_ store: MessagingStore) throws(StoreError) -> MessagingStore {
        for link in links.values { link.frames = [] }
        // The devices that connected in this transaction have read uncertain data.
        for link in connecting where links[link.device.id] === link {
            links.removeValue(forKey: link.device.id)
            link.tell(.ended(.failed))
        }
        connecting = []
        recent = nil
        // Fan-outs and accounts are reset to the state before this transaction.
        do throws(SQLiteError) {
            try resumeFanOuts(store)
            accounts.replace(with: try store.accounts())
        } catch {
            throw StoreError(error)
        }
        return store
    }

    /// Logs that something could not be read between transactions.
    func cannotRead(_ what: String, _ error: SQLiteError) { report("\(what) cannot be read", StoreError(error)) }

    // MARK: Numbers

    /// The metrics, with the current state.
    func currentFigures() -> StoreFigures {
        var current = content?.figures ?? figures
        current.connectedDevices = links.count
        current.fanOuts = fanOuts.count
        current.forwarding = forwarding.underWay.count
        return current
    }

    /// The number for a new message: the clock in microseconds, or the successor of the last number if that is larger.
    func nextID() -> Int64 {
        lastID = max(clock.now * 1000, lastID + 1)
        return lastID
    }

    func number(of project: String) -> String { projects[project]?.number ?? MessagingProject.number(for: project) }
}

extension MessagingError {
    /// The error for a request that could not be stored, with the reason if that is useful.
    static func notStored(_ error: StoreError) -> MessagingError {
        var refusal = unavailable(retryAfterSeconds: 1)
        switch error.kind {
        case .full: refusal.message = "The disk is full: nothing was stored. Try again when there is room."
        case .readOnly: refusal.message = "The disk cannot be written to: nothing was stored."
        default: break
        }
        return refusal
    }
}
