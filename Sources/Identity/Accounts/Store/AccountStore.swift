import HearthJSON
import SQLite
public import Store

/// The open store of users, with the operations on it. Belongs to the writer's thread.
///
/// An operation that throws has changed nothing: each runs in a savepoint of the turn's transaction.
public final class AccountStore: StoreContent {
    private let file: StoreFile
    let connection: Connection
    let policy: AccountPolicy
    let factorSeal: FactorSeal
    /// The address of the client whom the running operation serves; nil for administrators.
    var customer: String?
    /// The connection's total of changed rows before this turn's transaction.
    private var changesBefore = 0

    init(path: String, policy: AccountPolicy) throws(StoreError) {
        self.policy = policy
        factorSeal = try policy.openSeal()
        file = try StoreFile(path, .accounts, StoreSettings(), claim: try StoreFile.lock(path, of: "users"))
        connection = file.connection
        do throws(SQLiteError) { try sealFactors() } catch { throw StoreError(error) }
        noteState()
    }

    public var transactions: any TransactionalStore { file }

    /// Whether this turn's transaction has changed any row.
    var hasChanges: Bool { connection.totalChanges != changesBefore }

    func noteState() { changesBefore = connection.totalChanges }

    /// Milliseconds since 1970.
    var now: Int64 { policy.clock() }

    /// Seconds since 1970.
    var nowSeconds: Int64 { now / 1000 }

    // MARK: Statements

    /// Runs `operation` so that it changes nothing if it throws.
    func atomically<R>(_ operation: (AccountStore) throws(AccountFailure) -> R) throws(AccountFailure) -> R {
        try run("SAVEPOINT operation")
        do throws(AccountFailure) {
            let result = try operation(self)
            try run("RELEASE operation")
            return result
        } catch {
            switch error {
            case .refused: try run("ROLLBACK TO operation")
            case .counted: break
            case .store: throw error
            }
            try run("RELEASE operation")
            throw error
        }
    }

    @discardableResult
    func run(_ sql: String, _ values: Value...) throws(AccountFailure) -> Int {
        do throws(SQLiteError) { return try connection.run(sql, values: values) } catch { throw .store(error) }
    }

    /// All rows of `sql`, each converted while it is read.
    func rows<R>(_ sql: String, _ values: [Value], _ convert: (Statement) -> R?) throws(AccountFailure) -> [R] {
        do throws(SQLiteError) { return try connection.rows(sql, values: values, convert) } catch { throw .store(error) }
    }

    /// The first row of `sql`.
    func first<R>(_ sql: String, _ values: Value..., convert: (Statement) -> R?) throws(AccountFailure) -> R? {
        try rows(sql, values, convert).first
    }

    /// Throws a refusal of the protocol as a failure of the operation.
    func checked<R>(_ body: () throws(AuthError) -> R) throws(AccountFailure) -> R {
        do throws(AuthError) { return try body() } catch { throw .refused(error) }
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
