import HearthBytes
import Testing

@testable import AppCheck

/// Paths, bodies and other texts of requests.
@Suite struct AppCheckPathTests {
    private func operation(_ path: String) -> AppCheckPath.Operation { AppCheckPath(Array(path.utf8).span).operation }

    @Test func theVerbFollowsTheLastColon() {
        let expected = AppCheckPath.Operation.app(project: "p", id: "1:2:ios:a", verb: "exchangeDebugToken")
        #expect(operation("/firebaseappcheck.googleapis.com/v1/projects/p/apps/1:2:ios:a:exchangeDebugToken") == expected)
        #expect(operation("/content-firebaseappcheck.googleapis.com/v1/projects/p/apps/1:2:ios:a:exchangeDebugToken") == expected)
        #expect(operation("/v1/projects/p/apps/1%3A2%3Aios%3aa:exchangeDebugToken") == expected)
        #expect(operation("/v1/jwks") == .keys)
        #expect(operation("/v1beta/projects/p:verifyAppCheckToken") == .verify(project: "p"))
        #expect(operation("/v1/projects/p/apps/1:2:ios:a/debugTokens/x") == .debugToken(project: "p", app: "1:2:ios:a", token: "x"))
    }

    @Test(arguments: [
        "/v1/projects/p/messages:send", "/v1/projects/p", "/v1", "/", "", "/v2/jwks", "/v1/projects//apps/x:exchangeDebugToken",
        "/v1/projects/p/apps/x/y/z/w", "/v1/projects/p/apps/noColon",
    ])
    func pathsOfOthersAreNotClaimed(_ path: String) {
        let isClaimed = AppCheckPath.claims(Array(path.utf8).span)
        #expect(!isClaimed)
    }

    @Test func namesMayBeInSnakeCase() throws {
        let body = try AppCheckBody(Array("{\"debug_token\":\"a\",\"limitedUse\":true,\"b\":\"_-8=\",\"c\":\"/+8=\",\"d\":\"!\",\"e\":1}".utf8).span)
        #expect(try body.text("debugToken") == "a")
        #expect(try body.flag("limitedUse"))
        #expect(try body.bytes("b") == body.bytes("b"))
        #expect(try body.bytes("c") == [0xFF, 0xEF])
        #expect(throws: AppCheckError.self) { try body.bytes("d") }
        #expect(throws: AppCheckError.self) { try body.text("e") }
        #expect(throws: AppCheckError.self) { try body.required("f") }
        #expect(throws: AppCheckError.self) { _ = try AppCheckBody(Array("[]".utf8).span) }
    }

    @Test func durationsAreInSeconds() {
        #expect(CustomProvider.seconds("1800s") == 1800)
        #expect(CustomProvider.seconds("1800.5s") == 1800)
        for text in ["", "s", "1800", "-1s", "1e3s", "1.s", ".5s", "99999999999999s"] { #expect(CustomProvider.seconds(text) == nil) }
    }

    @Test func secretsAreUUIDs() {
        #expect(AppCheckFrontEnd.isSecret("11111111-2222-4333-8444-555555555555"))
        #expect(!AppCheckFrontEnd.isSecret("11111111-2222-1333-8444-555555555555"))
        #expect(!AppCheckFrontEnd.isSecret("secret"))
        #expect(AppCheckService.isAppID("1:123:ios:abc"))
        #expect(!AppCheckService.isAppID("1:123:ios:a/b"))
        #expect(!AppCheckService.isAppID("1:123:ios"))
    }
}
