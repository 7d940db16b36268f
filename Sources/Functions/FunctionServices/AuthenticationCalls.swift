import Accounts
import AdminProtocol
import Authentication
import EventLoop
import FunctionDispatch
import HearthJSON

/// The service `auth` for functions: administers users, and makes and verifies tokens. `docs/services.md` describes its methods, payloads and
/// answers. Belongs to the dispatcher's loop.
///
/// A method is an operation of the identity protocol. A plugin that may call it can sign in as any user, so it needs the permission of the
/// configuration.
package final class AuthenticationCalls: Service {
    package let name = "auth"
    private let operations: AdministratorOperations
    /// The plugins that may call the service; nil for all.
    private let plugins: Set<String>?
    private let memory: MemoryBudget
    private let loop: EventLoop
    private var gates: [String: ServiceGate] = [:]

    /// The most operations of a plugin at the same time. Others wait.
    private static let inFlightMax = 16
    /// The size limit of an answer.
    private static let answerBytesMax = 32 << 20

    package init(_ operations: AdministratorOperations, plugins: [String]?, memory: MemoryBudget, loop: EventLoop) {
        self.operations = operations
        self.plugins = plugins.map { Set($0) }
        self.memory = memory
        self.loop = loop
    }

    package func handle(_ call: ServiceCall, completion: @escaping (ServiceAnswer) -> Void) {
        let plugin = call.artifact.name
        guard plugins?.contains(plugin) != false else {
            let message = "the plugin \(plugin) may not call the service auth; name it in auth.plugins of functions.json"
            return completion(AuthenticationRefusal(reason: "insufficient-permission", code: .permissionDenied, message: message).answer)
        }
        let gate = gates[plugin] ?? ServiceGate(loop: loop, share: memory.share(ofPlugin: plugin), inFlightMax: Self.inFlightMax)
        gates[plugin] = gate
        gate.enter { [operations, loop] leave in
            loop.task {
                let answer: ServiceAnswer
                do throws(AuthError) {
                    answer = Self.answer(try await operations.perform(call.method, call.payload))
                } catch {
                    answer = AuthenticationRefusal(error).answer
                }
                completion(answer)
                leave()
            }
        }
    }

    private static func answer(_ value: JSONValue) -> ServiceAnswer {
        let answer = ServiceAnswer.success(value)
        guard answer.body.count > answerBytesMax else { return answer }
        let message = "the answer has more than \(answerBytesMax >> 20) MiB; ask for fewer users"
        return AuthenticationRefusal(reason: "internal-error", code: .resourceExhausted, message: message).answer
    }
}

/// The reason why the service `auth` refuses a call, with the codes of the Admin SDKs.
struct AuthenticationRefusal: Error {
    /// The Admin SDKs' code without `auth/`, such as `user-not-found`.
    var reason: String
    var code: FunctionErrorCode
    var message: String

    init(reason: String, code: FunctionErrorCode, message: String) { (self.reason, self.code, self.message) = (reason, code, message) }

    /// The refusal for an error of the protocol.
    init(_ error: AuthError) {
        let known: (reason: String, code: FunctionErrorCode, sentence: String)
        if let found = Self.table[error.code] {
            known = found
        } else if error.statusName == "INVALID_ARGUMENT" {
            known = ("argument-error", .invalidArgument, "the payload is not valid")
        } else {
            known = ("internal-error", error.status == 503 ? .unavailable : .failedPrecondition, error.code)
        }
        self.init(reason: known.reason, code: known.code, message: Self.message(error, known.sentence))
    }

    private static func message(_ error: AuthError, _ sentence: String) -> String {
        if error.statusName == "INVALID_ARGUMENT" {
            return error.code.replacing("Invalid JSON payload received. ", with: "the payload is not valid: ")
        }
        return error.detail.map { "\(sentence): \($0)" } ?? sentence
    }

    private static let table: [String: (reason: String, code: FunctionErrorCode, sentence: String)] = [
        "USER_NOT_FOUND": ("user-not-found", .notFound, "there is no such user"),
        "EMAIL_NOT_FOUND": ("email-not-found", .notFound, "there is no user with this e-mail"),
        "EMAIL_EXISTS": ("email-already-exists", .alreadyExists, "another user has this e-mail"),
        "PHONE_NUMBER_EXISTS": ("phone-number-already-exists", .alreadyExists, "another user has this phone number"),
        "DUPLICATE_LOCAL_ID": ("uid-already-exists", .alreadyExists, "another user has this uid"),
        "FEDERATED_USER_ID_ALREADY_LINKED": ("credential-already-in-use", .alreadyExists, "another user has this account of the provider"),
        "INVALID_EMAIL": ("invalid-email", .invalidArgument, "the e-mail is not valid"),
        "MISSING_EMAIL": ("invalid-email", .invalidArgument, "the e-mail is missing"),
        "INVALID_NEW_EMAIL": ("invalid-new-email", .invalidArgument, "the new e-mail is not valid"),
        "MISSING_NEW_EMAIL": ("invalid-new-email", .invalidArgument, "the new e-mail is missing"),
        "WEAK_PASSWORD": ("invalid-password", .invalidArgument, "the password is too weak"),
        "PASSWORD_DOES_NOT_MEET_REQUIREMENTS": ("invalid-password", .invalidArgument, "the password does not meet the policy"),
        "INVALID_PHONE_NUMBER": ("invalid-phone-number", .invalidArgument, "the phone number is not valid"),
        "INVALID_MFA_PHONE_NUMBER": ("invalid-phone-number", .invalidArgument, "the phone number of the second factor is not valid"),
        "INVALID_MFA_ENROLLMENT_ID": ("invalid-uid", .invalidArgument, "the id of the second factor is not valid"),
        "DUPLICATE_MFA_ENROLLMENT_ID": ("second-factor-uid-already-exists", .alreadyExists, "two second factors have the same id"),
        "INVALID_LOCAL_ID": ("invalid-uid", .invalidArgument, "the uid is not valid"),
        "MISSING_LOCAL_ID": ("invalid-uid", .invalidArgument, "the uid is missing"),
        "MISSING_PROVIDER_ID": ("invalid-provider-id", .invalidArgument, "the provider is missing"),
        "MISSING_RAW_ID": ("invalid-provider-uid", .invalidArgument, "the id of the provider's account is missing"),
        "CLAIMS_TOO_LARGE": ("claims-too-large", .invalidArgument, "the claims have more than 1000 characters"),
        "FORBIDDEN_CLAIM": ("forbidden-claim", .invalidArgument, "the claim is reserved"),
        "INVALID_CLAIMS": ("invalid-claims", .invalidArgument, "the claims are not an object"),
        "INVALID_PAGE_SELECTION": ("invalid-argument", .invalidArgument, "a page has 1 to 1000 users"),
        "INVALID_DURATION": ("invalid-session-cookie-duration", .invalidArgument, "a session cookie lives for 5 minutes to 2 weeks"),
        "MISSING_ID_TOKEN": ("invalid-id-token", .invalidArgument, "the ID token is missing"),
        "INVALID_ID_TOKEN": ("invalid-id-token", .invalidArgument, "the ID token is not valid"),
        "TOKEN_EXPIRED": ("id-token-expired", .unauthenticated, "the ID token has expired or was revoked"),
        "MISSING_TOKEN": ("argument-error", .invalidArgument, "the token is missing"),
        "VERIFIED_TOKEN_INVALID": ("argument-error", .unauthenticated, "the token is not valid"),
        "VERIFIED_TOKEN_EXPIRED": ("id-token-expired", .unauthenticated, "the ID token has expired"),
        "VERIFIED_TOKEN_REVOKED": ("id-token-revoked", .unauthenticated, "the ID token was revoked"),
        "VERIFIED_COOKIE_EXPIRED": ("session-cookie-expired", .unauthenticated, "the session cookie has expired"),
        "VERIFIED_COOKIE_REVOKED": ("session-cookie-revoked", .unauthenticated, "the session cookie was revoked"),
        "USER_DISABLED": ("user-disabled", .permissionDenied, "the user is disabled"),
        "TENANT_NOT_FOUND": ("tenant-not-found", .notFound, "there is no such tenant"),
        "MISSING_TENANT_ID": ("invalid-tenant-id", .invalidArgument, "the tenant is missing"),
        "TENANT_ID_MISMATCH": ("mismatching-tenant-id", .permissionDenied, "the token is of another tenant"),
        "CONFIGURATION_NOT_FOUND": ("configuration-not-found", .notFound, "there is no such provider"),
        "DUPLICATE_CONFIG_ID": ("configuration-exists", .alreadyExists, "another provider has this id"),
        "INVALID_CONFIG_ID": ("invalid-provider-id", .invalidArgument, "the id of the provider is not valid; it begins with oidc."),
        "INVALID_CONFIG": ("invalid-config", .invalidArgument, "a setting is not valid"),
        "INVALID_TESTING_PHONE_NUMBER": ("invalid-testing-phone-number", .invalidArgument, "the phone numbers for tests are not valid"),
        "MISSING_REQ_TYPE": ("argument-error", .invalidArgument, "requestType is missing"),
        "INVALID_CONTINUE_URI": ("invalid-continue-uri", .invalidArgument, "the address to continue at is not valid"),
        "UNAUTHORIZED_DOMAIN": ("unauthorized-continue-uri", .failedPrecondition, "the domain is not in auth.authorizedDomains"),
        "INVALID_HOSTING_LINK_DOMAIN": ("invalid-hosting-link-domain", .invalidArgument, "the domain of the link is not valid"),
        "OPERATION_NOT_ALLOWED": ("operation-not-allowed", .failedPrecondition, "this way to sign in is turned off"),
        "PROJECT_DISABLED": ("operation-not-allowed", .failedPrecondition, "sign-in is turned off for this tenant"),
        "MISSING_USER_ACCOUNT": ("maximum-user-count-exceeded", .invalidArgument, "an import has 1 to 1000 users"),
        "LOCAL_ID_LIST_EXCEEDS_LIMIT": ("maximum-user-count-exceeded", .invalidArgument, "1 to 1000 users are deleted at once"),
        "RESET_PASSWORD_EXCEED_LIMIT": ("reset-password-exceed-limit", .resourceExhausted, "too many mails were sent to this address"),
        "TOO_MANY_ATTEMPTS_TRY_LATER": ("too-many-requests", .resourceExhausted, "there were too many attempts"),
        "PAYLOAD_TOO_LARGE": ("argument-error", .resourceExhausted, "the payload is too large"),
        "NOT_IMPLEMENTED": ("operation-not-allowed", .unimplemented, "unknown operation"),
        "UNAVAILABLE": ("unavailable", .unavailable, "the store of users does not answer; try again"),
    ]

    /// The error for the function: `{"code", "message", "details": {"reason"}}`.
    var answer: ServiceAnswer {
        let error: JSONValue = ["code": .string(code.name), "message": .string(message), "details": ["reason": .string(reason)]]
        return ServiceAnswer(succeeded: false, body: error.serialized())
    }
}
