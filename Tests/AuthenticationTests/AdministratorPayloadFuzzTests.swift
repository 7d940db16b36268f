import Accounts
import FuzzSupport
import HearthJSON
import Testing

@testable import Authentication

/// The corpus of `Tests/Fuzz/Users/payloads`, and texts made of it by chance, as payloads of the service `auth`: a payload is accepted with known
/// members only, and refused with the protocol's error for JSON.
///
/// A failure names its seed: `HEARTH_FUZZ_SEED=<seed> swift test --filter AuthenticationTests.AdministratorPayloadFuzzTests` runs it again.
@Suite struct AdministratorPayloadFuzzTests {
    private static let words = [
        "{", "}", "[", "]", ",", ":", "\"", "null", "\"localId\":", "\"tenantId\":", "\"checkRevoked\":", "true", "\\u0000", "1e400", "ä", "\\ud800",
    ]

    @Test func everythingHolds() throws {
        let run = FuzzRun(try FuzzCorpus.load("Users/payloads"), words: Self.words, bytesMax: 1000, rounds: 3000)
        let complaint = run.complaint { text, random in
            let operation = random.pick(AdministratorOperation.allCases)
            do throws(AuthError) {
                let object = try AdministratorOperations.parse(text, operation)
                guard object.keys.allSatisfy({ operation.members.contains($0) }) else { return "an unknown member was accepted" }
                return (try? JSONValue(parsing: text))?.object == object ? nil : "the payload is another one"
            } catch {
                return error.statusName == "INVALID_ARGUMENT" && error.status == 400 ? nil : "refused with \(error)"
            }
        }
        #expect(complaint == nil)
    }

    @Test func everyOperationNamesItsMembers() {
        for operation in AdministratorOperation.allCases {
            #expect(operation == .configuration || !operation.members.isEmpty)
            #expect((operation.ofProtocol == nil) == ["createCustomToken", "verifyIdToken", "verifySessionCookie"].contains(operation.rawValue))
        }
        #expect(throws: AuthError.self) { try AdministratorOperations.parse(Array(#"{"checkrevoked": true}"#.utf8), .verifyIDToken) }
    }
}
