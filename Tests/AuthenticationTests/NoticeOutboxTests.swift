import Foundation
import Logging
import Synchronization
import Testing

@testable import Accounts
@testable import Authentication

/// Notices that are stored with the changes that they tell of, until they were sent.
@Suite struct NoticeOutboxTests {
    /// The notices that the sender got, and its answers.
    private final class Sender: Sendable {
        let sent = Mutex<[SecurityNotice]>([])
        let ends = Mutex<[@Sendable (Bool) -> Void]>([])

        func take(_ notice: SecurityNotice, _ didEnd: @escaping @Sendable (Bool) -> Void) {
            sent.withLock { $0.append(notice) }
            ends.withLock { $0.append(didEnd) }
        }

        var count: Int { sent.withLock { $0.count } }

        func end(_ isDone: Bool) { ends.withLock { $0.removeFirst() }(isDone) }
    }

    private let path = NSTemporaryDirectory() + "notices-\(UUID().uuidString).sqlite"
    private let seal = FactorSeal()

    private func service() throws -> AccountService {
        var policy = AccountPolicy(
            project: "demo", projectNumber: "12345", issuer: "https://securetoken.google.com/demo", isStrict: true, showsCodes: false)
        policy.openSeal = { [seal] in seal }
        return try AccountService(path: path, policy: policy, log: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    }

    /// Signs up and changes the e-mail.
    private func change(_ accounts: AccountService) async throws -> SignedIn {
        try await accounts.perform { store throws(AccountFailure) -> SignedIn in
            var new = NewUser()
            new.email = "ada@example.com"
            new.passwordHash = "h"
            let signedIn = try store.signUp(new, tenant: "")
            guard let tokens = signedIn.tokens, let token = CallerToken(payload: tokens.payload) else { throw AccountFailure("no token") }
            var change = AccountChange()
            change.email = "eve@example.com"
            return try store.serving(nil, language: "de") { store throws(AccountFailure) in
                try store.update(change, caller: token, tenant: nil) { $0 }
            }
        }
    }

    private func until(_ what: String, _ condition: () async throws -> Bool) async throws {
        for _ in 0..<2000 {
            if try await condition() { return }
            try await Task.sleep(for: .milliseconds(5))
        }
        Issue.record("not reached: \(what)")
    }

    private func waiting(_ accounts: AccountService) async throws -> Int {
        try await accounts.perform { store throws(AccountFailure) in try store.waitingNotices() }.count
    }

    @Test func aNoticeIsSentOnceAndForgotten() async throws {
        let (accounts, sender) = (try service(), Sender())
        defer { accounts.stop() }
        let outbox = NoticeOutbox(accounts: accounts) { sender.take($0, $1) }
        let notices = try await change(accounts).notices
        #expect(notices.map(\.kind) == [.emailChanged])
        #expect(try await waiting(accounts) == 1)
        outbox.send(notices)
        outbox.send(notices)
        try await until("the sender has it") { sender.count == 1 }
        #expect(sender.sent.withLock { $0 } == notices)
        #expect(notices.first?.language == "de" && notices.first?.newEmail == "eve@example.com")
        sender.end(true)
        try await until("it is forgotten") { try await waiting(accounts) == 0 }
        #expect(sender.count == 1)
    }

    @Test func aNoticeThatCannotBeSentWaits() async throws {
        let (accounts, sender) = (try service(), Sender())
        defer { accounts.stop() }
        let outbox = NoticeOutbox(accounts: accounts) { sender.take($0, $1) }
        let notices = try await change(accounts).notices
        outbox.send(notices)
        try await until("the sender has it") { sender.count == 1 }
        sender.end(false)
        // A notice that failed has a pause, in which it is not sent again.
        outbox.send(notices)
        #expect(try await waiting(accounts) == 1)
        #expect(sender.count == 1)
    }

    @Test func theNextProcessFindsWhatWaits() async throws {
        let notices: [SecurityNotice]
        do {
            let accounts = try service()
            notices = try await change(accounts).notices
            accounts.stop()
        }
        let (accounts, sender) = (try service(), Sender())
        defer { accounts.stop() }
        let outbox = NoticeOutbox(accounts: accounts) { sender.take($0, $1) }
        accounts.useNotices { outbox.send($0) }
        try await until("it is found") { sender.count == 1 }
        #expect(sender.sent.withLock { $0 } == notices)
    }
}
