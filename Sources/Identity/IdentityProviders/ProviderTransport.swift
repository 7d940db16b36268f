public import HTTP
import HearthJSON
import Synchronization
public import Tokens

/// A request to a provider.
public struct ProviderRequest: Sendable, Equatable {
    public var url: String
    /// A form to post; nil for a request without body.
    public var form: String?
    /// The value of `Authorization`.
    public var authorization: String?
    public var timeoutMilliseconds = 5000
    /// A longer answer is an error.
    public var bytesMax = 64 * 1024

    /// A request without body.
    public init(url: String) { self.url = url }
}

/// The answer of a provider.
public struct ProviderAnswer: Sendable {
    public var status: Int
    public var body: [UInt8]
    /// The lifetime that the answer states.
    public var maxAgeSeconds: Int?

    /// An answer.
    public init(status: Int, body: [UInt8], maxAgeSeconds: Int? = nil) {
        self.status = status
        self.body = body
        self.maxAgeSeconds = maxAgeSeconds
    }

    /// The body as JSON; nil if it is not an object.
    var json: JSONValue? {
        guard let value = try? JSONValue(parsing: body, limits: JSONLimits(depthMax: 32)), value.object != nil else { return nil }
        return value
    }
}

/// Sends requests to providers: the HTTP client in the host, a table in tests. Follows no redirects.
public protocol ProviderTransport: Sendable {
    /// The answer; nil if there is none in time, or a longer one.
    func send(_ request: ProviderRequest) async -> ProviderAnswer?
}

/// Trouble of a provider: what happened, and how often the same provider had trouble that was not reported since the last time.
public struct ProviderTrouble: Sendable {
    /// Scheme, name and port: paths and queries of requests hold secrets.
    public var origin: String
    public var reason: String
    public var unreportedCount: Int
}

/// Sends requests over HTTP, and reports trouble: for each provider once a minute.
public final class ReportedTransport: ProviderTransport {
    private struct Last {
        var reported: Int
        var unreportedCount = 0
    }

    private static let pauseSeconds = 60
    /// Administrators can name any number of providers.
    private static let originsMax = 100

    private let client: HTTPClient
    private let clock: TokenClock
    private let report: @Sendable (ProviderTrouble) -> Void
    private let last = Mutex<[String: Last]>([:])

    /// - Parameter report: called on any thread.
    public init(_ client: HTTPClient, clock: TokenClock = .system, report: @escaping @Sendable (ProviderTrouble) -> Void) {
        (self.client, self.clock, self.report) = (client, clock, report)
    }

    public func send(_ request: ProviderRequest) async -> ProviderAnswer? {
        do throws(ClientError) {
            let answer = try await client.answer(request)
            if answer.isTrouble { tell(request, "status \(answer.status)") }
            return answer
        } catch {
            tell(request, error.message)
            return nil
        }
    }

    private static func origin(_ url: String) -> String {
        guard let scheme = WebOrigin(of: url)?.scheme else { return "?" }
        return "\(scheme)://\(url.dropFirst(scheme.count + 3).prefix { $0 != "/" && $0 != "?" && $0 != "#" })"
    }

    private func tell(_ request: ProviderRequest, _ reason: String) {
        let origin = Self.origin(request.url)
        let now = clock.now()
        let unreported = last.withLock { last -> Int? in
            if let known = last[origin], abs(now - known.reported) < Self.pauseSeconds {
                last[origin]?.unreportedCount += 1
                return nil
            }
            if last.count >= Self.originsMax { last.removeAll() }
            return last.updateValue(Last(reported: now), forKey: origin)?.unreportedCount ?? 0
        }
        if let unreported { report(ProviderTrouble(origin: origin, reason: reason, unreportedCount: unreported)) }
    }
}

extension ProviderAnswer {
    /// Whether the provider itself fails, or refuses because of limits.
    var isTrouble: Bool { status >= 500 || status == 429 }
}

extension HTTPClient {
    fileprivate func answer(_ request: ProviderRequest) async throws(ClientError) -> ProviderAnswer {
        var headers = [("Accept", "application/json")]
        if request.form != nil { headers.append(("Content-Type", "application/x-www-form-urlencoded")) }
        if let authorization = request.authorization { headers.append(("Authorization", authorization)) }
        var sent = ClientRequest(
            method: request.form == nil ? "GET" : "POST", url: request.url, headers: headers.map { (name: $0, value: $1) },
            body: request.form.map { Array($0.utf8) }, timeoutMilliseconds: request.timeoutMilliseconds, responseBytesMax: request.bytesMax)
        sent.redirectsMax = 0
        let response = try await send(sent)
        return ProviderAnswer(status: response.status, body: response.body, maxAgeSeconds: response.maxAgeSeconds)
    }
}

extension ProviderTransport {
    /// Sends a request to an address that may be used, and again if the provider fails; nil if it fails twice.
    func exchange(_ request: ProviderRequest, attempts: Int = 2) async -> ProviderAnswer? {
        guard WebOrigin.isUsable(request.url) else { return nil }
        for _ in 0..<attempts {
            if let answer = await send(request), !answer.isTrouble { return answer }
        }
        return nil
    }
}

/// Fetches key documents of providers: the first of several addresses that has usable keys.
struct ProviderKeys: KeyFetching {
    let transport: any ProviderTransport
    let urls: [String]
    let timeoutMilliseconds: Int

    func fetch(_ url: String) async throws(KeyFetchError) -> FetchedKeys {
        for url in urls {
            var request = ProviderRequest(url: url)
            request.timeoutMilliseconds = timeoutMilliseconds
            request.bytesMax = 256 * 1024
            guard let answer = await transport.exchange(request, attempts: 1), answer.status == 200, answer.json != nil else { continue }
            return FetchedKeys(bytes: answer.body, maxAgeSeconds: answer.maxAgeSeconds)
        }
        throw KeyFetchError("no address answers with keys")
    }

    /// A key set of a provider: kept at most six hours, with at most one request a minute for unknown keys (spec auth 3.3).
    static func set(
        _ urls: [String], algorithms: Set<String>, transport: any ProviderTransport, timeoutMilliseconds: Int = 5000, clock: TokenClock
    ) -> KeySet {
        var times = KeyTimes()
        times.maxAgeCeiling = 6 * 3600
        times.unknownKeyInterval = 60
        return KeySet(
            source: .url(urls.first ?? ""), algorithms: algorithms,
            fetcher: ProviderKeys(transport: transport, urls: urls, timeoutMilliseconds: timeoutMilliseconds), times: times, clock: clock)
    }
}
