import Crypto
import HearthJSON
import SQLite
import Store

/// A failure of an operation on the store of apps.
enum AppCheckFailure: Error {
    case refused(AppCheckError)
    case store(SQLiteError)
}

/// The open store of apps, with the operations on it. Belongs to the writer's thread.
final class AppCheckStore: StoreContent {
    private let file: StoreFile
    private let connection: Connection
    private let clock: @Sendable () -> Int64
    private var changesBefore = 0

    /// The most challenges that wait for their use: a client can ask for any number.
    static let challengesMax: Int64 = 100_000
    static let challengeSeconds: Int64 = 300
    static let debugTokensMax: Int64 = 1000
    static let appsMax: Int64 = 10_000
    /// The most keys of devices of an app. Beyond, those that were not used for the longest time are forgotten.
    static let keysPerAppMax: Int64 = 1_000_000
    /// The time without a use after which the key of a device is forgotten: a device with the app asks for a token at least once a week.
    static let keySeconds: Int64 = 180 * 86_400

    init(path: String, clock: @escaping @Sendable () -> Int64) throws(StoreError) {
        self.clock = clock
        file = try StoreFile(path, .appCheck, StoreSettings(), claim: try StoreFile.lock(path, of: "apps"))
        connection = file.connection
        noteState()
    }

    var transactions: any TransactionalStore { file }

    var hasChanges: Bool { connection.totalChanges != changesBefore }

    func noteState() { changesBefore = connection.totalChanges }

    /// Runs `operation` so that it changes nothing if it throws.
    func atomically<R>(_ operation: (AppCheckStore) throws(AppCheckFailure) -> R) throws(AppCheckFailure) -> R {
        try run("SAVEPOINT operation")
        do throws(AppCheckFailure) {
            let result = try operation(self)
            try run("RELEASE operation")
            return result
        } catch {
            if case .store = error { throw error }
            try run("ROLLBACK TO operation")
            try run("RELEASE operation")
            throw error
        }
    }

    @discardableResult
    private func run(_ sql: String, _ values: Value...) throws(AppCheckFailure) -> Int {
        do throws(SQLiteError) { return try connection.run(sql, values: values) } catch { throw .store(error) }
    }

    private func rows<R>(_ sql: String, _ values: [Value], _ convert: (Statement) -> R) throws(AppCheckFailure) -> [R] {
        do throws(SQLiteError) { return try connection.rows(sql, values: values, convert) } catch { throw .store(error) }
    }

    private func count(_ sql: String, _ values: Value...) throws(AppCheckFailure) -> Int64 { try rows(sql, values) { $0.integer(at: 0) }.first ?? 0 }

    static func hash(_ bytes: [UInt8]) -> [UInt8] { Array(SHA256.hash(data: bytes)) }

    // MARK: Apps

    func hasApp(_ id: String) throws(AppCheckFailure) -> Bool { try count("SELECT COUNT(*) FROM app WHERE id = ?1", .text(id)) > 0 }

    func apps() throws(AppCheckFailure) -> [(id: String, name: String)] {
        try rows("SELECT id, name FROM app ORDER BY id", []) { ($0.text(at: 0), $0.text(at: 1)) }
    }

    func putApp(_ id: String, name: String) throws(AppCheckFailure) {
        guard try count("SELECT COUNT(*) FROM app") < Self.appsMax else { throw .refused(.exhausted) }
        try run(
            "INSERT INTO app VALUES (?1, ?2, ?3) ON CONFLICT DO UPDATE SET name = excluded.name", .text(id), .text(name), .integer(clock()))
    }

    /// Removes an app with all that belongs to it.
    func removeApp(_ id: String) throws(AppCheckFailure) -> Bool {
        try run("DELETE FROM debugToken WHERE app = ?1", .text(id))
        try run("DELETE FROM attestedKey WHERE app = ?1", .text(id))
        return try run("DELETE FROM app WHERE id = ?1", .text(id)) > 0
    }

    // MARK: Debug tokens

    func debugTokens(app: String) throws(AppCheckFailure) -> [(id: String, name: String)] {
        try rows("SELECT id, name FROM debugToken WHERE app = ?1 ORDER BY id", [.text(app)]) { ($0.text(at: 0), $0.text(at: 1)) }
    }

    /// The hashes of an app's debug tokens. The caller compares all of them in constant time.
    func debugHashes(app: String) throws(AppCheckFailure) -> [[UInt8]] {
        try rows("SELECT hash FROM debugToken WHERE app = ?1", [.text(app)]) { Array($0.bytes(at: 0)) }
    }

    func addDebugToken(_ token: String, id: String, app: String, name: String) throws(AppCheckFailure) {
        guard try count("SELECT COUNT(*) FROM debugToken WHERE app = ?1", .text(app)) < Self.debugTokensMax else { throw .refused(.exhausted) }
        let added = try run(
            "INSERT OR IGNORE INTO debugToken VALUES (?1, ?2, ?3, ?4, ?5)", .text(id), .text(app), .text(name),
            .blob(Self.hash(Array(token.utf8))), .integer(clock()))
        guard added > 0 else { throw .refused(.invalid("The debug token exists already.")) }
    }

    func removeDebugToken(id: String, app: String) throws(AppCheckFailure) -> Bool {
        try run("DELETE FROM debugToken WHERE id = ?1 AND app = ?2", .text(id), .text(app)) > 0
    }

    // MARK: Challenges

    func add(challenge: [UInt8], app: String) throws(AppCheckFailure) {
        guard try count("SELECT COUNT(*) FROM (SELECT 1 FROM challenge LIMIT ?1)", .integer(Self.challengesMax)) < Self.challengesMax else {
            throw .refused(.exhausted)
        }
        try run(
            "INSERT INTO challenge VALUES (?1, ?2, ?3)", .blob(Self.hash(challenge)), .text(app), .integer(clock() + Self.challengeSeconds))
    }

    /// Uses a challenge. Returns whether it was given to this app, has not expired and was not used before.
    func use(challenge: [UInt8], app: String) throws(AppCheckFailure) -> Bool {
        try run(
            "DELETE FROM challenge WHERE hash = ?1 AND app = ?2 AND expires > ?3", .blob(Self.hash(challenge)), .text(app), .integer(clock())) > 0
    }

    // MARK: Keys of devices

    func add(key: [UInt8], artifact: [UInt8], app: String) throws(AppCheckFailure) {
        try run(
            "INSERT INTO attestedKey VALUES (?1, ?2, ?3, 0, ?4)", .blob(Self.hash(artifact)), .text(app), .blob(key), .integer(clock()))
    }

    func key(artifact: [UInt8], app: String) throws(AppCheckFailure) -> [UInt8]? {
        try rows("SELECT publicKey FROM attestedKey WHERE artifact = ?1 AND app = ?2", [.blob(Self.hash(artifact)), .text(app)]) {
            Array($0.bytes(at: 0))
        }.first
    }

    /// Notes the counter and the time of a key's signature. Returns whether the counter is greater than all before.
    func advance(artifact: [UInt8], to counter: UInt32) throws(AppCheckFailure) -> Bool {
        try run(
            "UPDATE attestedKey SET counter = ?2, created = ?3 WHERE artifact = ?1 AND counter < ?2", .blob(Self.hash(artifact)),
            .integer(Int64(counter)), .integer(clock())) > 0
    }

    // MARK: Upkeep

    /// Removes expired challenges and keys, some at a time, and challenges of a clock that was wrong: until they expire they would take the place of
    /// others. Returns whether there may be more.
    func removeExpired(keysPerAppMax: Int64 = AppCheckStore.keysPerAppMax) throws(AppCheckFailure) -> Bool {
        let now = clock()
        let expired = try run(
            "DELETE FROM challenge WHERE hash IN (SELECT hash FROM challenge WHERE expires <= ?1 ORDER BY expires LIMIT 1000)", .integer(now))
        let wrong = try run(
            "DELETE FROM challenge WHERE hash IN (SELECT hash FROM challenge WHERE expires > ?1 ORDER BY expires LIMIT 1000)",
            .integer(now + Self.challengeSeconds))
        var keys = try run(
            "DELETE FROM attestedKey WHERE artifact IN (SELECT artifact FROM attestedKey WHERE created <= ?1 ORDER BY created LIMIT 1000)",
            .integer(now - Self.keySeconds))
        for app in try appsWithKeys() {
            let surplus = try run(
                """
                DELETE FROM attestedKey WHERE artifact IN (
                    SELECT artifact FROM attestedKey WHERE app = ?1 ORDER BY created DESC LIMIT 1000 OFFSET ?2)
                """, .text(app), .integer(keysPerAppMax))
            keys = max(keys, surplus)
        }
        return expired == 1000 || wrong == 1000 || keys == 1000
    }

    /// Looks only at the first key of each app.
    private func appsWithKeys() throws(AppCheckFailure) -> [String] {
        try rows(
            """
            WITH RECURSIVE found(app) AS (
                SELECT MIN(app) FROM attestedKey
                UNION ALL SELECT (SELECT MIN(app) FROM attestedKey WHERE app > found.app) FROM found WHERE found.app IS NOT NULL)
            SELECT app FROM found WHERE app IS NOT NULL
            """, []) { $0.text(at: 0) }
    }
}
