import HearthJSON
import RealtimeDatabase
import SQLite
public import Store

/// The open store of users, with the operations that change it. Belongs to the writer's thread.
///
/// An operation that throws has changed nothing: each runs in a savepoint of the turn's transaction.
public final class AccountStore: AccountReader, StoreContent {
    private let file: StoreFile
    /// The address of the client whom the running operation serves; nil for administrators.
    var customer: String?
    /// The languages of that client, for notices.
    var language: String?
    /// The connection's total of changed rows before this turn's transaction.
    private var changesBefore = 0
    private let tables: SQLiteWriter
    /// The events of users that wait for their functions.
    private(set) var outbox: Outbox
    /// The functions that run when users are created or deleted; nil as long as they are not known.
    var triggers: [UserTrigger]? = []
    /// The decisions of functions for the running operation; nil if no function decides.
    var pass: BlockingPass?
    /// Whether a tenant was deleted of which not everything is removed yet.
    var hasNewRemoval = false
    /// The changes of users in the running operation.
    var changes: [UserChange] = []

    init(path: String, policy: AccountPolicy) throws(StoreError) {
        let seal = try policy.openSeal()
        file = try StoreFile(path, .accounts, StoreSettings(), claim: try StoreFile.lock(path, of: "users"))
        tables = SQLiteWriter(sharing: file)
        outbox = try Outbox(tables, namespace: Outbox.users)
        super.init(file.connection, policy, seal)
        do throws(SQLiteError) {
            try sealFactors()
            try separateProjectChanges()
            try notePasswordCost()
        } catch {
            throw StoreError(error)
        }
        noteState()
    }

    /// Reads the state of the outbox again, after a transaction was rolled back.
    func renewOutbox() throws(StoreError) { outbox = try Outbox(tables, namespace: Outbox.users) }

    public var transactions: any TransactionalStore { file }

    /// Whether this turn's transaction has changed any row.
    var hasChanges: Bool { connection.totalChanges != changesBefore }

    func noteState() { changesBefore = connection.totalChanges }

    override func makeTenant(_ id: String) throws(AccountFailure) -> JSONObject {
        let made: JSONObject = [
            "allowPasswordSignup": true, "enableAnonymousUser": true, "enableEmailLinkSignin": true, "disableAuth": false,
            "mfaConfig": ["state": "ENABLED", "enabledProviders": ["PHONE_SMS"]], "tenantId": .string(id),
        ]
        try setTenant(id, made)
        return made
    }

    // MARK: Statements

    /// Runs `operation` so that it changes nothing if it throws.
    func atomically<R>(_ operation: (AccountStore) throws(AccountFailure) -> R) throws(AccountFailure) -> R {
        try run("SAVEPOINT operation")
        changes = []
        do throws(AccountFailure) {
            let result = try operation(self)
            try requireKnownFunctions()
            try run("RELEASE operation")
            return result
        } catch {
            switch error {
            case .refused, .undecided, .functionsUnknown:
                changes = []
                try run("ROLLBACK TO operation")
            case .counted where triggers == nil && !changes.isEmpty:
                // The changes would be kept without their events.
                changes = []
                try run("ROLLBACK TO operation")
                try run("RELEASE operation")
                throw .functionsUnknown
            case .counted: break
            case .store, .needsWriter: throw error
            }
            try run("RELEASE operation")
            throw error
        }
    }

    /// Runs `operation` and takes back what it has changed, to find out whether it would be refused.
    public func rehearse<R>(_ operation: (AccountStore) throws(AccountFailure) -> R) throws(AccountFailure) {
        let before = changes
        try run("SAVEPOINT rehearsal")
        _ = try operation(self)
        try run("ROLLBACK TO rehearsal")
        try run("RELEASE rehearsal")
        changes = before
    }

    @discardableResult
    func run(_ sql: String, _ values: Value...) throws(AccountFailure) -> Int {
        do throws(SQLiteError) { return try connection.run(sql, values: values) } catch { throw .store(error) }
    }
}

extension Value {
    /// A text, or NULL.
    static func optional(_ text: String?) -> Value { text.map { .text($0) } ?? .null }
}

extension JSONValue {
    /// The text of this value.
    var text: String { String(decoding: serialized(), as: UTF8.self) }
}
