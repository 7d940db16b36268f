import EventLoop
import Foundation
import HearthJSON
import Logging
import Store
import Testing

@testable import Accounts

@Suite struct AccountReadersTests {
    private let path = NSTemporaryDirectory() + "readers-\(UUID().uuidString).sqlite"
    private let policy = AccountPolicy(
        project: "demo", projectNumber: "12345", issuer: "https://securetoken.google.com/demo", isStrict: false, showsCodes: true)

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
        let readers = AccountReaders(path: path, policy: policy, count: 2)
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
        let readers = AccountReaders(path: path, policy: policy, count: 1)
        let before = readers.read { store throws(AccountFailure) in try store.rules(of: "shop").allowsPassword }
        #expect(before == nil)
        _ = try store.existingTenant("shop")
        let after = readers.read { store throws(AccountFailure) in try store.rules(of: "shop").allowsPassword }
        #expect(after == .success(true))
    }

    @Test func closedReadersLeaveReadsToTheWriter() throws {
        let store = try AccountStore(path: path, policy: policy)
        let readers = AccountReaders(path: path, policy: policy, count: 1)
        try makeUser("first", store)
        readers.close()
        #expect(find("first", readers) == nil)
        readers.open()
        #expect(find("first", readers) == .success("first"))
    }

    @Test func aReaderWithoutAFileIsForTheWriter() {
        #expect(find("first", AccountReaders(path: path, policy: policy, count: 1)) == nil)
        #expect(find("first", AccountReaders(path: path, policy: policy, count: 0)) == nil)
    }

    @Test func theServiceReadsWhatItHasAnswered() async throws {
        let service = try AccountService(path: path, policy: policy, log: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
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
