import HearthTesting
import Testing

@testable import HearthFunctions

extension SDK {
    @Suite struct UserTriggers {
        private static let functions = Functions {
            OnUserCreated("welcome", retry: true) { event in
                guard event.data.displayName != "broken" else { throw HttpsError(.aborted, "it is broken") }
                try await database.reference("welcomed/\(event.data.uid)").setValue([
                    "email": .string(event.data.email ?? ""), "attempt": JSONValue(event.attempt), "tenant": .string(event.tenantID ?? ""),
                ])
            }
            OnUserCreated("welcomeBlue", users: .tenant("blue")) { event in
                try await database.reference("blue/\(event.data.uid)").setValue(true)
            }
            OnUserDeleted("forget", users: .project, options: Options(timeoutSeconds: 541)) { event in
                try await database.reference("welcomed/\(event.data.uid)").removeValue()
            }
        }

        @Test func theManifestSaysWhichUsers() {
            let endpoints = Self.functions.manifest["endpoints"]
            #expect(
                endpoints?["welcome"] == [
                    "entryPoint": "welcome", "platform": "gcfv2",
                    "eventTrigger": ["eventType": "google.firebase.auth.user.v2.created", "retry": true],
                ])
            #expect(endpoints?["welcomeBlue"]?["eventTrigger"]?["eventFilters"] == ["tenantid": "blue"])
            #expect(endpoints?["forget"]?["eventTrigger"]?["eventFilters"] == ["tenantid": ""])
            #expect(
                Self.functions.problems == [
                    #"Function "forget": timeoutSeconds is 541, but a function that runs on events has at most 540."#
                ])
        }

        @Test func recordsSurviveTheBoundary() {
            let user = AuthUserRecord(
                uid: "ada", email: "ada@example.com", emailVerified: true, displayName: "Ada", photoURL: "https://example.com/ada.png",
                phoneNumber: "+15555550100", disabled: true,
                metadata: AuthUserMetadata(creationTime: "2026-11-21T16:04:05.123Z", lastSignInTime: "2026-11-22T16:04:05.123Z"),
                customClaims: ["admin": true], providerData: [AuthUserInfo(uid: "1", providerID: "google.com", email: "ada@example.com")],
                tenantID: "blue", enrolledFactors: [AuthFactorInfo(uid: "f", factorID: "phone", phoneNumber: "+15555550101")])
            #expect(AuthUserRecord(json: user.json) == user)
            #expect(AuthUserRecord(json: ["email": "nobody@example.com"]) == nil)
        }

        @Test func testsDeliverEventsOfUsers() async throws {
            let functions = Functions {
                OnUserCreated("welcome") { event in
                    guard event.data.displayName != "broken" else { throw HttpsError(.aborted, "it is broken") }
                    try await database.reference("welcomed/\(event.data.uid)").setValue(.string("\(event.data.email ?? "") \(event.attempt)"))
                }
                OnUserCreated("welcomeBlue", users: .tenant("blue")) { event in
                    try await database.reference("blue/\(event.data.uid)").setValue(.string(event.tenantID ?? ""))
                }
            }
            try await functions.test { app in
                try await app.deliver(.created(AuthUserRecord(uid: "ada", email: "ada@example.com")))
                #expect(try await database.reference("welcomed/ada").getData().value == "ada@example.com 1")
                #expect(try await database.reference("blue/ada").getData().exists() == false)
                try await app.deliver(.created(AuthUserRecord(uid: "eve", tenantID: "blue")))
                #expect(try await database.reference("blue/eve").getData().value == "blue")
                await #expect(throws: TestFailure("welcome failed for the user eve: aborted: it is broken")) {
                    try await app.deliver(.created(AuthUserRecord(uid: "eve", displayName: "broken")))
                }
                await #expect(throws: TestFailure("No function runs when the user ada is deleted.")) {
                    try await app.deliver(.deleted(AuthUserRecord(uid: "ada")))
                }
            }
        }
    }
}
