import HearthJSON
import SQLite
public import Store

/// The open store of users, with the operations that change it. Belongs to the writer's thread.
///
/// An operation that throws has changed nothing: each runs in a savepoint of the turn's transaction.
public final class AccountStore: AccountReader, StoreContent {
    private let file: StoreFile
    /// The connection's total of changed rows before this turn's transaction.
    private var changesBefore = 0

    init(path: String, policy: AccountPolicy) throws(StoreError) {
        file = try StoreFile(path, .accounts, StoreSettings(), claim: try StoreFile.lock(path, of: "users"))
        super.init(file.connection, policy)
        noteState()
    }

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
        do throws(AccountFailure) {
            let result = try operation(self)
            try run("RELEASE operation")
            return result
        } catch {
            switch error {
            case .refused: try run("ROLLBACK TO operation")
            case .counted: break
            case .store, .needsWriter: throw error
            }
            try run("RELEASE operation")
            throw error
        }
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
