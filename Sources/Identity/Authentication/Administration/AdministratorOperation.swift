import Accounts
import HearthJSON
import HTTP

/// The operations of administrators for callers inside the host, with the members of their payloads.
///
/// The names are those of the protocol. An unknown member is refused, so that a misspelled `checkRevoked` does not go unnoticed.
enum AdministratorOperation: String, CaseIterable, Sendable {
    case create = "accounts:create"
    case lookup = "accounts:lookup"
    case update = "accounts:update"
    case delete = "accounts:delete"
    case batchDelete = "accounts:batchDelete"
    case list = "accounts:batchGet"
    case importUsers = "accounts:batchCreate"
    case query = "accounts:query"
    case sendCode = "accounts:sendOobCode"
    case createSessionCookie
    case createCustomToken
    case verifyIDToken = "verifyIdToken"
    case verifySessionCookie
    case createTenant = "tenants:create"
    case tenant = "tenants:get"
    case updateTenant = "tenants:update"
    case deleteTenant = "tenants:delete"
    case tenants = "tenants:list"
    case createProvider = "oauthIdpConfigs:create"
    case provider = "oauthIdpConfigs:get"
    case updateProvider = "oauthIdpConfigs:update"
    case deleteProvider = "oauthIdpConfigs:delete"
    case providers = "oauthIdpConfigs:list"
    case configuration = "config:get"
    case updateConfiguration = "config:update"

    private static let profile: Set<String> = [
        "tenantId", "localId", "email", "emailVerified", "password", "displayName", "photoUrl", "phoneNumber",
    ]
    private static let ofTenant: Set<String> = [
        "displayName", "allowPasswordSignup", "enableEmailLinkSignin", "enableAnonymousUser", "disableAuth", "mfaConfig", "testPhoneNumbers",
        "passwordPolicyConfig", "emailPrivacyConfig", "smsRegionConfig",
    ]
    private static let ofProvider: Set<String> = [
        "tenantId", "oauthIdpConfigId", "clientId", "issuer", "displayName", "enabled", "clientSecret", "responseType",
    ]
    private static let ofProject: Set<String> = [
        "signIn", "mfa", "passwordPolicyConfig", "emailPrivacyConfig", "smsRegionConfig", "authorizedDomains", "client",
    ]

    /// The members that a payload may have.
    var members: Set<String> {
        switch self {
        case .create: Self.profile.union(["disabled", "mfaInfo"])
        case .lookup: ["tenantId", "localId", "email", "phoneNumber", "federatedUserId"]
        case .update:
            Self.profile.union(["disableUser", "customAttributes", "validSince", "deleteAttribute", "deleteProvider", "linkProviderUserInfo", "mfa"])
        case .delete: ["tenantId", "localId"]
        case .batchDelete: ["tenantId", "localIds", "force"]
        case .list: ["tenantId", "maxResults", "nextPageToken"]
        case .importUsers: AuthenticationFrontEnd.hashParameters.union(["tenantId", "users", "allowOverwrite", "sanityCheck"])
        case .query: ["tenantId", "returnUserInfo", "order", "sortBy", "limit", "offset", "expression"]
        case .sendCode:
            [
                "tenantId", "requestType", "email", "newEmail", "continueUrl", "linkDomain", "returnOobLink", "canHandleCodeInApp", "iOSBundleId",
                "androidPackageName", "androidInstallApp", "androidMinimumVersion",
            ]
        case .createSessionCookie: ["tenantId", "idToken", "validDuration"]
        case .createCustomToken: ["tenantId", "uid", "claims"]
        case .verifyIDToken: ["tenantId", "idToken", "checkRevoked"]
        case .verifySessionCookie: ["tenantId", "sessionCookie", "checkRevoked"]
        case .createTenant: Self.ofTenant
        case .tenant, .deleteTenant: ["tenantId"]
        case .updateTenant: Self.ofTenant.union(["tenantId"])
        case .tenants: ["pageSize", "pageToken"]
        case .createProvider, .updateProvider: Self.ofProvider
        case .provider, .deleteProvider: ["tenantId", "oauthIdpConfigId"]
        case .providers: ["tenantId", "pageSize", "pageToken"]
        case .configuration: []
        case .updateConfiguration: Self.ofProject
        }
    }

    /// The most bytes of a payload.
    var payloadBytesMax: Int { self == .importUsers ? 10 << 20 : 1 << 20 }

    /// The operation of the protocol that does the same, and its method; nil for those that the protocol lacks.
    var ofProtocol: (operation: AuthOperation, method: HTTPMethod)? {
        switch self {
        case .create: (.create, .post)
        case .lookup: (.lookup, .post)
        case .update: (.update, .post)
        case .delete: (.delete, .post)
        case .batchDelete: (.batchDelete, .post)
        case .list: (.batchGet, .post)
        case .importUsers: (.batchCreate, .post)
        case .query: (.query, .post)
        case .sendCode: (.sendOobCode, .post)
        case .createSessionCookie: (.createSessionCookie, .post)
        case .createTenant: (.tenants, .post)
        case .tenant, .tenants: (.tenants, .get)
        case .updateTenant: (.tenants, .patch)
        case .deleteTenant: (.tenants, .delete)
        case .createProvider: (.oauthProviders, .post)
        case .provider, .providers: (.oauthProviders, .get)
        case .updateProvider: (.oauthProviders, .patch)
        case .deleteProvider: (.oauthProviders, .delete)
        case .configuration: (.config, .get)
        case .updateConfiguration: (.config, .patch)
        case .createCustomToken, .verifyIDToken, .verifySessionCookie: nil
        }
    }

    /// Whether the operation is about the identity provider that the payload names.
    var isOfProvider: Bool {
        switch self {
        case .createProvider, .provider, .updateProvider, .deleteProvider: true
        default: false
        }
    }

    /// Whether the operation is about the tenant that the payload names, and not about users of that tenant.
    var isOfTenant: Bool {
        switch self {
        case .tenant, .updateTenant, .deleteTenant: true
        default: false
        }
    }
}
