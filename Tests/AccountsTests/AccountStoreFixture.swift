import HearthJSON
import Store
import Synchronization
import Testing

@testable import Accounts

/// A store in memory with a clock that tests move.
final class AccountStoreFixture {
    let clock = TestClock()
    let store: AccountStore
    private(set) var policy: AccountPolicy

    convenience init(
        isStrict: Bool = true, configuration: JSONObject = ["mfa": ["state": "ENABLED", "enabledProviders": ["PHONE_SMS", "TOTP"]]]
    ) throws {
        var policy = AccountPolicy(
            project: "demo", projectNumber: "12345", issuer: "https://securetoken.google.com/demo", isStrict: isStrict, showsCodes: true)
        policy.projectDefaults = configuration
        try self.init(policy: policy)
    }

    init(policy given: AccountPolicy) throws {
        policy = given
        policy.clock = { [clock] in clock.now }
        store = try AccountStore(path: ":memory:", policy: policy)
    }

    /// Runs an operation as the writer does.
    @discardableResult
    func run<R>(_ operation: (AccountStore) throws(AccountFailure) -> R) throws -> R {
        let isInner = store.transactions.isInTransaction
        if !isInner { try store.transactions.begin() }
        defer { if !isInner { try? store.transactions.commit() } }
        let result = try perform(operation)
        try store.raiseEvents()
        return result
    }

    private func perform<R>(_ operation: (AccountStore) throws(AccountFailure) -> R) throws -> R {
        do throws(AccountFailure) { return try store.atomically(operation) } catch {
            switch error {
            case .refused(let refusal), .counted(let refusal): throw refusal
            case .undecided(let question): throw AuthError("undecided \(question.kind)")
            case .functionsUnknown: throw AuthError("functionsUnknown")
            case .store(let failure): throw failure
            case .needsWriter: throw AuthError.unavailable
            }
        }
    }

    /// The code of the refusal of an operation; nil if it succeeds.
    func refusal<R>(_ operation: (AccountStore) throws(AccountFailure) -> R) -> String? {
        do {
            _ = try run(operation)
            return nil
        } catch {
            return (error as? AuthError)?.code ?? "\(error)"
        }
    }

    func signUp(_ email: String?, hash: String? = "hash") throws -> SignedIn {
        var new = NewUser()
        new.email = email
        new.passwordHash = email == nil ? nil : hash
        return try run { store throws(AccountFailure) in try store.signUp(new, tenant: "") }
    }

    func token(_ signedIn: SignedIn) throws -> CallerToken {
        let tokens = try #require(signedIn.tokens)
        return try #require(CallerToken(payload: tokens.payload))
    }
}

final class TestClock: Sendable {
    private let milliseconds = Atomic<Int64>(1_700_000_000_000)

    var now: Int64 { milliseconds.load(ordering: .relaxed) }

    func advance(seconds: Int64) { milliseconds.add(seconds * 1000, ordering: .relaxed) }
}
