import EventLoop
import Foundation
import HearthJSON
import Logging
import Store
import Synchronization
import Testing

@testable import Accounts

@Suite struct AccountReadersTests {
    private let path = NSTemporaryDirectory() + "readers-\(UUID().uuidString).sqlite"
    private let policy = AccountPolicy(
        project: "demo", projectNumber: "12345", issuer: "https://securetoken.google.com/demo", isStrict: false, showsCodes: true)
    private let log = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    private func makeUser(_ uid: String, _ store: AccountStore) throws {
        var new = NewUser()
        new.uid = uid
        _ = try store.atomically { store throws(AccountFailure) in try store.create(new, tenant: "") }
    }

    private func find(_ uid: String, _ readers: AccountReaders) -> Result<String?, AuthError>? {
        readers.read { store throws(AccountFailure) in try store.user(uid, tenant: "")?.uid }
    }

    @Test func readersSeeWhatIsCommittedWhileTheWriterWrites() throws {
        let store = try AccountStore(path: path, policy: policy)
        let readers = AccountReaders(path: path, policy: policy, count: 2, log: log)
        try makeUser("first", store)
        try store.transactions.begin()
        try makeUser("second", store)
        #expect(find("first", readers) == .success("first"))
        #expect(find("second", readers) == .success(nil))
        try store.transactions.commit()
        #expect(find("second", readers) == .success("second"))
    }

    @Test func aMissingTenantOfDevelopmentIsForTheWriter() throws {
        let store = try AccountStore(path: path, policy: policy)
        let readers = AccountReaders(path: path, policy: policy, count: 1, log: log)
        let before = readers.read { store throws(AccountFailure) in try store.rules(of: "shop").allowsPassword }
        #expect(before == nil)
        _ = try store.existingTenant("shop")
        let after = readers.read { store throws(AccountFailure) in try store.rules(of: "shop").allowsPassword }
        #expect(after == .success(true))
    }

    @Test func closedReadersLeaveReadsToTheWriter() throws {
        let store = try AccountStore(path: path, policy: policy)
        let readers = AccountReaders(path: path, policy: policy, count: 1, log: log)
        try makeUser("first", store)
        readers.close()
        #expect(find("first", readers) == nil)
        readers.open()
        #expect(find("first", readers) == .success("first"))
    }

    @Test func aReaderWithoutAFileIsForTheWriter() {
        #expect(find("first", AccountReaders(path: path, policy: policy, count: 1, log: log)) == nil)
        #expect(find("first", AccountReaders(path: path, policy: policy, count: 0, log: log)) == nil)
    }

    @Test func troubleIsLoggedOnceAndItsEnd() throws {
        let lines = Lines()
        let readers = AccountReaders(path: path, policy: policy, count: 1, log: Logger(label: "test") { _ in lines })
        // Nothing is wrong before the writer has made the file.
        #expect(find("first", readers) == nil)
        #expect(lines.texts.isEmpty)
        try Data("this is no store".utf8).write(to: URL(fileURLWithPath: path))
        for _ in 0..<3 { #expect(find("first", readers) == nil) }
        #expect(lines.texts == ["users are read by the writer, because a reader has failed"])
        try FileManager.default.removeItem(atPath: path)
        let store = try AccountStore(path: path, policy: policy)
        try makeUser("first", store)
        for _ in 0..<2 { #expect(find("first", readers) == .success("first")) }
        #expect(lines.texts.last == "users are read by readers again" && lines.texts.count == 2)
    }

    @Test func theServiceReadsWhatItHasAnswered() async throws {
        let service = try AccountService(path: path, policy: policy, log: log)
        let thread = try LoopThread()
        for number in 0..<50 {
            let uid = "user\(number)"
            try await service.perform(on: thread.loop) { store throws(AccountFailure) in
                var new = NewUser()
                new.uid = uid
                _ = try store.create(new, tenant: "")
            }
            let found = try await service.read(on: thread.loop) { store throws(AccountFailure) in try store.user(uid, tenant: "")?.uid }
            #expect(found == uid)
        }
        service.stop()
    }
}

/// Keeps the lines of a log.
private final class Lines: LogHandler, Sendable {
    private let kept = Mutex<[String]>([])

    var texts: [String] { kept.withLock { $0 } }

    func log(
        level: Logger.Level, message: Logger.Message, metadata: Logger.Metadata?, source: String, file: String, function: String, line: UInt
    ) { kept.withLock { $0.append("\(message)") } }

    subscript(metadataKey _: String) -> Logger.Metadata.Value? {
        get { nil }
        set {}
    }
    var metadata: Logger.Metadata {
        get { [:] }
        set {}
    }
    var logLevel: Logger.Level {
        get { .trace }
        set {}
    }
}
