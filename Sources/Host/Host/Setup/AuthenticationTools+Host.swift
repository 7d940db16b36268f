import Accounts
import Authentication
import Configuration
import EventLoop
import HearthJSON
import HTTP
import Logging
import Tokens

extension AuthenticationTools {
    /// The tools of a host.
    ///
    /// - Parameters:
    ///   - idKeys: the keys of ID tokens.
    ///   - cookieKeys: the keys of session cookies.
    init(_ configuration: Configuration, idKeys: KeyRing, cookieKeys: KeyRing, loop: EventLoop, log: Logger) {
        let facebook = configuration.identity.facebook.map { FacebookVerifier($0, loop: loop, log: log) }
        let isSigned = configuration.mode == .production
        self.init(
            idTokens: isSigned ? TokenSigner(idKeys) : .unsigned, cookies: isSigned ? TokenSigner(cookieKeys) : .unsigned,
            document: { kind in
                do throws(KeyRingError) {
                    return switch kind {
                    case .idTokenKeys: try idKeys.keySet()
                    case .idTokenCertificates: try idKeys.certificates()
                    case .cookieKeys: try cookieKeys.keySet()
                    case .cookieCertificates: try cookieKeys.certificates()
                    }
                } catch {
                    log.error("public keys cannot be served", metadata: ["reason": "\(error)"])
                    return nil
                }
            },
            hash: { PasswordHash.make($0) },
            verify: { password, user in PasswordHash.verify(password, user) },
            assertion: { credential in
                guard configuration.mode == .development else {
                    guard credential.provider == "facebook.com", let facebook else { return .failure(AuthError("OPERATION_NOT_ALLOWED")) }
                    return await facebook.assertion(credential)
                }
                do throws(AuthError) {
                    return .success(ProviderAssertion(identity: try DevelopmentAssertion.identity(credential)))
                } catch {
                    return .failure(error)
                }
            },
            send: { _ in true })
    }
}

extension FacebookVerifier {
    init(_ settings: IdentitySettings.Facebook, loop: EventLoop, log: Logger) {
        let client = HTTPClient(loop: loop)
        let milliseconds = Int(settings.timeoutSeconds * 1000)
        var times = KeyTimes()
        times.unknownKeyInterval = 60
        times.maxAgeCeiling = 21_600
        let keys = KeySet(
            source: .url(settings.keyURLs[0]), fetcher: FirstKeyFetcher(client: client, urls: settings.keyURLs, milliseconds: milliseconds),
            times: times
        ) { report in
            if case .failed(let error, _) = report { log.warning("the keys of Facebook could not be read", metadata: ["reason": "\(error)"]) }
        }
        self.init(
            FacebookSettings(
                appID: settings.appID, appSecret: settings.appSecret, graphURL: settings.graphURL, issuers: settings.issuers,
                trustsEmail: settings.trustsEmail, timeoutMilliseconds: milliseconds),
            client: client, signatures: SignatureCheck(keys: keys), clock: AccountPolicy.calendar)
    }
}

/// Downloads keys from the first address that answers.
private struct FirstKeyFetcher: KeyFetching {
    let client: HTTPClient
    let urls: [String]
    let milliseconds: Int

    func fetch(_: String) async throws(KeyFetchError) -> FetchedKeys {
        var failure = KeyFetchError("no address is configured")
        for url in urls {
            do throws(ClientError) {
                let response = try await client.send(
                    ClientRequest(url: url, timeoutMilliseconds: milliseconds, responseBytesMax: 1 << 20, redirectsMax: 3))
                if response.status == 200 { return FetchedKeys(bytes: response.body, maxAgeSeconds: response.maxAgeSeconds) }
                failure = KeyFetchError("\(url): the answer has status \(response.status)")
            } catch {
                failure = KeyFetchError("\(url): \(error)")
            }
        }
        throw failure
    }
}
