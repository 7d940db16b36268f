import Accounts
import FuzzSupport
import HearthJSON
import Testing

@testable import Authentication

/// The corpus of `Tests/Fuzz/Authentication`, and texts made of it by chance.
@Suite struct RequestFuzzTests {
    private static let words = [
        "\"localId\":", "\"email\":", "\"mfa_info\":", "\"validDuration\":", "_", "__", "\"returnSecureToken\":true", "[", "]", "{", "}", ":", ",",
        "null", "1e400", "-1", "9223372036854775808", "0.5", "\"\"", "\\u0000", "\\ud800",
    ]
    private static let pathWords = [
        "/", "//", "projects", "tenants", ":", "%2f", "%", "%zz", "accounts", "accounts:lookup", "v1", "v2", "emulator",
        "identitytoolkit.googleapis.com", "createSessionCookie", "oobCodes", "..",
    ]

    @Test func bodies() throws {
        let run = FuzzRun(try FuzzCorpus.load("Authentication/corpus/bodies"), words: Self.words, rounds: 6000)
        #expect(run.complaint(Self.complaintOfBody) == nil)
    }

    private static func complaintOfBody(_ text: [UInt8]) -> String? {
        let body: AuthBody
        do throws(AuthError) { body = try AuthBody(text.span) } catch { return complaint(error) }
        let again: AuthBody
        let written = JSONValue.object(body.object).serialized()
        do throws(AuthError) { again = try AuthBody(written.span) } catch { return "written again it is refused: \(error.message)" }
        if again.object != body.object { return "read again it is \(again.object)" }
        for (name, _) in body.object {
            if let complaint = complaint(ofMember: name, body) { return complaint }
        }
        return nil
    }

    /// A member is read as each type, or refused.
    private static func complaint(ofMember name: String, _ body: AuthBody) -> String? {
        for type in 0..<7 {
            do throws(AuthError) { try read(name, type, body) } catch { if let complaint = complaint(error) { return complaint } }
        }
        return nil
    }

    private static func read(_ name: String, _ type: Int, _ body: AuthBody) throws(AuthError) {
        switch type {
        case 0: _ = try body.string(name)
        case 1: _ = try body.text(name)
        case 2: _ = try body.bool(name)
        case 3: _ = try body.integer(name)
        case 4: _ = try body.strings(name)
        case 5: _ = try body.bodies(name)
        default: _ = try body.body(name)
        }
    }

    private static func complaint(_ error: AuthError) -> String? {
        error.status == 400 && error.statusName == "INVALID_ARGUMENT" ? nil : "refused with \(error.status) \(error.message)"
    }

    @Test func paths() throws {
        let run = FuzzRun(try FuzzCorpus.load("Authentication/corpus/paths"), words: Self.pathWords, bytesMax: 512, rounds: 20_000)
        #expect(run.complaint(Self.complaintOfPath) == nil)
    }

    private static func complaintOfPath(_ text: [UInt8]) -> String? {
        for name in ["localhost:9099", "identitytoolkit.googleapis.com", "www.googleapis.com:443"] {
            let host = Array(name.utf8)
            let path = AuthPath(text.span, host: host.span)
            guard AuthPath.claims(text.span, host: host.span) else { continue }
            if !path.tenant.isEmpty, path.project == nil { return "a tenant without a project" }
        }
        return nil
    }
}
