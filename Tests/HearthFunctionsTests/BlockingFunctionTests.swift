import HearthTesting
import Testing

@testable import HearthFunctions

extension SDK {
    @Suite struct BlockingFunctionTests {
        private static let functions = Functions {
            BeforeUserCreated("gate", credentials: [.accessToken, .refreshToken]) { event in
                guard event.data?.email?.hasSuffix("@example.com") == true else { throw HttpsError(.permissionDenied, "Use your work e-mail.") }
                #expect(event.additionalUserInfo.isNewUser && event.type.hasSuffix(":\(event.additionalUserInfo.providerID ?? "")"))
                return BeforeCreateResponse(displayName: "Given", disabled: false, customClaims: ["staff": true])
            }
            BeforeUserSignedIn("door", credentials: .idToken, options: Options(timeoutSeconds: 3)) { event in
                guard event.secondFactor == nil else { return nil }
                let token = event.credential?.idToken ?? ""
                return BeforeSignInResponse(
                    emailVerified: true, sessionClaims: ["address": .string(event.ipAddress ?? ""), "token": .string(token)])
            }
            BeforeEmailSent("mails") { event in
                #expect(event.data == nil && event.emailType == .passwordReset)
                return BeforeMessageResponse(recaptchaActionOverride: event.additionalUserInfo.email == "robot@example.com" ? .block : nil)
            }
            BeforeSMSSent("texts") { event in
                guard event.additionalUserInfo.phoneNumber?.hasPrefix("+49") == true else { throw HttpsError(.permissionDenied, "Not there.") }
                return nil
            }
        }

        @Test func theManifestSaysWhichOperationsWait() {
            let endpoints = Self.functions.manifest["endpoints"]
            #expect(Self.functions.problems == [])
            #expect(
                endpoints?["gate"] == [
                    "entryPoint": "gate", "platform": "gcfv2",
                    "blockingTrigger": [
                        "eventType": "providers/cloud.auth/eventTypes/user.beforeCreate", "options": ["accessToken": true, "refreshToken": true],
                    ],
                ])
            #expect(endpoints?["door"]?["blockingTrigger"]?["options"] == ["idToken": true] && endpoints?["door"]?["timeoutSeconds"] == 3)
            #expect(endpoints?["mails"]?["blockingTrigger"]?["eventType"] == "providers/cloud.auth/eventTypes/user.beforeSendEmail")
            #expect(endpoints?["texts"]?["blockingTrigger"]?["eventType"] == "providers/cloud.auth/eventTypes/user.beforeSendSms")
            let slow = Functions { BeforeUserCreated("slow", options: Options(timeoutSeconds: 8)) { _ in nil } }
            #expect(slow.problems == [#"Function "slow": timeoutSeconds is 8, but a function that sign-ins wait for has at most 7."#])
        }

        @Test func testsAskThem() async throws {
            try await Self.functions.test { app in
                let ada = AuthUserRecord(uid: "ada", email: "ada@example.com")
                let created = try await app.ask("gate", TestBlockingEvent(user: ada))
                #expect(created == ["displayName": "Given", "disabled": false, "customClaims": ["staff": true]])
                let refusal = await #expect(throws: HttpsError.self) {
                    try await app.ask("gate", TestBlockingEvent(user: AuthUserRecord(uid: "eve", email: "eve@elsewhere.org")))
                }
                #expect(refusal?.code == .permissionDenied && refusal?.message == "Use your work e-mail.")
                let event = TestBlockingEvent(user: ada, method: "google.com", ipAddress: "10.0.0.1", credential: ["idToken": "t"])
                #expect(
                    try await app.ask("door", event) == ["emailVerified": true, "sessionClaims": ["address": "10.0.0.1", "token": "t"]])
                #expect(try await app.ask("door", TestBlockingEvent(user: ada, secondFactor: "phone")) == .null)
                #expect(try await app.ask("mails", .email(.passwordReset, to: "robot@example.com")) == ["recaptchaActionOverride": "BLOCK"])
                #expect(try await app.ask("mails", .email(.passwordReset, to: "ada@example.com")) == [:])
                #expect(try await app.ask("texts", .sms(.signInOrSignUp, to: "+4912345")) == .null)
                await #expect(throws: HttpsError.self) { try await app.ask("texts", .sms(.multiFactorSignIn, to: "+15555550100")) }
                await #expect(throws: TestFailure("There is no blocking function other.")) {
                    try await app.ask("other", TestBlockingEvent(user: ada))
                }
            }
        }
    }
}
