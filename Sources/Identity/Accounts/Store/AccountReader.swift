import HearthJSON
import SQLite

/// Reads users and configuration: from a snapshot on any thread, or, as an ``AccountStore``, together with changes that are not committed yet.
///
/// Belongs to one thread at a time.
public class AccountReader {
    let connection: Connection
    let policy: AccountPolicy
    let factorSeal: FactorSeal

    init(_ connection: Connection, _ policy: AccountPolicy, _ seal: FactorSeal) {
        self.connection = connection
        self.policy = policy
        factorSeal = seal
    }

    /// Milliseconds since 1970.
    var now: Int64 { policy.clock() }

    /// Seconds since 1970.
    var nowSeconds: Int64 { now / 1000 }

    /// Makes a tenant that does not exist, with everything enabled; only in development.
    func makeTenant(_ id: String) throws(AccountFailure) -> JSONObject { throw .needsWriter }

    // MARK: Statements

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
