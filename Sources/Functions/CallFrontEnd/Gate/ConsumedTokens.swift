import Crypto
import EventLoop
import Glibc
import Logging
import SQLite
import Synchronization

/// Remembers consumed App Check tokens until they have expired for every verifier. Stored on disk, so that a token counts once even if the
/// host crashes, or while another host takes over from it.
///
/// Stores a hash of the signed part of a token, because the same signature can be encoded in several ways. Can be used from any thread.
package final class ConsumedTokens: Sendable {
    /// The result of consuming a token.
    enum Use: Sendable, Equatable {
        /// The token had not been consumed before.
        case first
        case repeated
        /// The store failed: the token may have been consumed before.
        case unknown
    }

    private struct Question: Sendable {
        var token: [UInt8]
        /// In seconds since 1970.
        var forgetAt: Int
        var completion: @Sendable (Use) -> Void
    }

    private struct State {
        var waiting: [Question] = []
        var isWorking = false
    }

    private let loop: EventLoop
    private let file: ConsumedTokenFile
    private let state = Mutex(State())

    /// - Parameters:
    ///   - path: the file; created when the first token is consumed.
    ///   - loop: the loop whose thread pool does the work.
    ///   - now: the clock, in seconds since 1970.
    package init(path: String, loop: EventLoop, log: Logger, now: @escaping @Sendable () -> Int) {
        self.loop = loop
        file = ConsumedTokenFile(path: path, log: log, now: now)
    }

    /// Marks a verified token as consumed. Reports, once the mark is durable, whether it was consumed before. Tokens that arrive during a
    /// transaction share the next one.
    ///
    /// - Parameters:
    ///   - token: the token's text.
    ///   - forgetAt: when no verifier accepts the token any more, in seconds since 1970.
    ///   - completion: called on any thread.
    func consume(_ token: [UInt8], forgetAt: Int, completion: @escaping @Sendable (Use) -> Void) {
        let startsNow = state.withLock { state in
            state.waiting.append(Question(token: token, forgetAt: forgetAt, completion: completion))
            defer { state.isWorking = true }
            return !state.isWorking
        }
        if startsNow { work() }
    }

    private func work() {
        Task { [self] in
            while let questions = next() {
                let uses = await loop.offload { [file] in
                    file.consume(questions.map { (ConsumedTokens.hash(of: $0.token), $0.forgetAt) })
                }
                for (index, question) in questions.enumerated() { question.completion(uses[index]) }
            }
        }
    }

    private func next() -> [Question]? {
        state.withLock { state in
            let questions = state.waiting
            state.waiting = []
            state.isWorking = !questions.isEmpty
            return questions.isEmpty ? nil : questions
        }
    }

    private static func hash(of token: [UInt8]) -> [UInt8] {
        let signed = token.lastIndex(of: UInt8(ascii: ".")).map { token[..<$0] } ?? token[...]
        return Array(SHA256.hash(data: signed))
    }
}

/// The file of ``ConsumedTokens``.
// Unchecked: only one job of the thread pool at a time uses it.
private final class ConsumedTokenFile: @unchecked Sendable {
    private let path: String
    private let log: Logger
    private let now: @Sendable () -> Int
    private var connection: Connection?
    private var sweptAt = 0
    private var hasTrouble = false

    private static let pagesMax = 256
    private static let sweepSeconds = 60

    init(path: String, log: Logger, now: @escaping @Sendable () -> Int) {
        self.path = path
        self.log = log
        self.now = now
    }

    func consume(_ tokens: [(hash: [UInt8], forgetAt: Int)]) -> [ConsumedTokens.Use] {
        do throws(SQLiteError) {
            if connection == nil { connection = try open() }
            guard let connection else { return tokens.map { _ in .unknown } }
            let uses = try connection.transaction { () throws(SQLiteError) in try consume(tokens, connection) }
            if connection.logPages >= Self.pagesMax { _ = try connection.checkpoint() }
            hasTrouble = false
            return uses
        } catch {
            if !hasTrouble { log.error("consumed App Check tokens cannot be stored", metadata: ["file": "\(path)", "reason": "\(error)"]) }
            hasTrouble = true
            connection = nil
            return tokens.map { _ in .unknown }
        }
    }

    private func consume(_ tokens: [(hash: [UInt8], forgetAt: Int)], _ connection: Connection) throws(SQLiteError) -> [ConsumedTokens.Use] {
        let now = now()
        if now - sweptAt >= Self.sweepSeconds || now < sweptAt {
            try connection.run("DELETE FROM consumed WHERE forgetAt < ?1", .integer(Int64(now)))
            sweptAt = now
        }
        var uses: [ConsumedTokens.Use] = []
        for token in tokens {
            let added = try connection.run(
                "INSERT OR IGNORE INTO consumed(hash, forgetAt) VALUES(?1, ?2)", .blob(token.hash), .integer(Int64(token.forgetAt)))
            uses.append(added > 0 ? .first : .repeated)
        }
        return uses
    }

    private func open() throws(SQLiteError) -> Connection {
        // SQLite would create a file that all users can read.
        let descriptor = Glibc.open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0o600)
        if descriptor >= 0 { close(descriptor) }
        let connection = try Connection(path)
        try connection.execute(
            """
            PRAGMA busy_timeout = 2000; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA trusted_schema = OFF;
            CREATE TABLE IF NOT EXISTS consumed (hash BLOB PRIMARY KEY, forgetAt INTEGER NOT NULL) WITHOUT ROWID;
            CREATE INDEX IF NOT EXISTS consumedForgetAt ON consumed(forgetAt);
            """)
        return connection
    }
}
