import EventLoop
import Glibc
import HTTP

/// Sends a request, follows redirects, and tries again. Each address is checked anew.
final class OutgoingExchange {
    private let client: HTTPClient
    private let rules: HostRules
    private let loop: EventLoop
    private let responseBytesMax: Int

    /// The longest pause between two attempts, unless the server asks for a longer one.
    private static let pauseMillisecondsMax: UInt64 = 10_000
    /// Headers that may go to another origin than that of the request. All others may hold a secret.
    private static let harmlessHeaders: Set<String> = [
        "accept", "accept-charset", "accept-encoding", "accept-language", "cache-control", "content-type", "range", "if-modified-since",
        "if-none-match", "user-agent", "traceparent", "tracestate",
    ]

    init(_ policy: OutgoingPolicy, loop: EventLoop) {
        self.loop = loop
        rules = HostRules([policy.allowedHosts, policy.allowedForAll])
        responseBytesMax = policy.responseBytesMax
        client = HTTPClient(loop: loop, certificateAuthorityFile: policy.certificateAuthority)
    }

    /// The answer to a call, or the last failure.
    func answer(_ call: OutgoingCall) async -> Result<OutgoingAnswer, OutgoingFailure> {
        var attempts = 0
        while true {
            let result = await attempt(call)
            attempts += 1
            guard attempts <= call.request.retries, call.request.isIdempotent, let pause = pause(after: result, attempts), !call.isOver,
                loop.nowMilliseconds + pause < call.deadline
            else {
                return result.map { answer in
                    var answer = answer
                    answer.attempts = attempts
                    return answer
                }
            }
            await call.pause(milliseconds: pause)
            if call.isOver { return .failure(OutgoingFailure(.cancelled, "the request was cancelled")) }
        }
    }

    /// The time until another attempt; nil if it is of no use.
    private func pause(after result: Result<OutgoingAnswer, OutgoingFailure>, _ attempts: Int) -> UInt64? {
        let doubled = min(Self.pauseMillisecondsMax, 100 << UInt64(min(attempts - 1, 20)))
        let pause = UInt64.random(in: doubled / 2...doubled)
        switch result {
        case .failure(let failure): return failure.mayPass ? pause : nil
        case .success(let answer):
            guard [429, 502, 503, 504].contains(answer.response.status) else { return nil }
            guard let text = answer.response.header("retry-after") else { return pause }
            return max(pause, Self.milliseconds(ofRetryAfter: text) ?? 0)
        }
    }

    /// RFC 9110 section 10.2.3: seconds, or a date.
    private static func milliseconds(ofRetryAfter text: String) -> UInt64? {
        if let seconds = UInt64(text) { return min(seconds, 86_400) * 1000 }
        return ClientURL.seconds(ofDate: text).map { UInt64(min(max(0, $0 - Int64(time(nil))), 86_400)) * 1000 }
    }

    /// One attempt, with its redirects.
    private func attempt(_ call: OutgoingCall) async -> Result<OutgoingAnswer, OutgoingFailure> {
        do throws(OutgoingFailure) {
            return .success(try await follow(call))
        } catch {
            return .failure(error)
        }
    }

    private func follow(_ call: OutgoingCall) async throws(OutgoingFailure) -> OutgoingAnswer {
        do throws(ClientError) { try await client.prepare() } catch { throw OutgoingFailure(error) }
        guard let first = ClientURL(call.request.url) else { throw .invalid("the address is not an absolute http: or https: URL without a user") }
        var hop = Hop(url: first, method: call.request.method, headers: call.request.headers, body: call.request.body)
        var count = 0
        while true {
            let response = try await send(hop, call)
            guard call.request.redirects > 0, let location = Self.location(response) else {
                return OutgoingAnswer(url: hop.url.text, attempts: 0, response: response, isDecompressed: call.request.decompresses)
            }
            guard count < call.request.redirects else { throw OutgoingFailure(.redirect, "there were more than \(call.request.redirects) redirects") }
            count += 1
            try hop.move(to: location, status: response.status, keeping: Self.harmlessHeaders)
        }
    }

    private static func location(_ response: ClientResponse) -> String? {
        [301, 302, 303, 307, 308].contains(response.status) ? response.header("location") : nil
    }

    private func send(_ hop: Hop, _ call: OutgoingCall) async throws(OutgoingFailure) -> ClientResponse {
        let (host, port) = (hop.url.host, hop.url.port)
        guard rules.mayAdmit(host, port: port) else {
            throw OutgoingFailure(.denied, "requests to \(host):\(port) are not allowed; `allowedHosts` can name the host")
        }
        let now = loop.nowMilliseconds
        guard now < call.deadline, !call.isOver else { throw OutgoingFailure(.timeout, "there was no answer in time") }
        var request = ClientRequest(
            method: hop.method, url: hop.url.text, headers: hop.headers, body: hop.body, timeoutMilliseconds: Int(call.deadline - now),
            responseBytesMax: min(call.request.responseBytesMax, responseBytesMax))
        request.isDirect = true
        request.decompresses = call.request.decompresses
        request.admits = { [rules] in rules.admits($0, host, port: port) }
        do throws(ClientError) {
            return try await client.send(request)
        } catch {
            if error.kind == .forbiddenAddress {
                throw OutgoingFailure(.denied, "the address of \(host) is private, and `allowedHosts` does not name it")
            }
            throw OutgoingFailure(error)
        }
    }
}

/// One request on the way to the final answer.
private struct Hop {
    var url: ClientURL
    var method: String
    var headers: [(name: String, value: String)]
    var body: [UInt8]?

    /// Turns to the target of a redirect.
    ///
    /// - Parameter harmless: names of headers that another origin may get.
    mutating func move(to location: String, status: Int, keeping harmless: Set<String>) throws(OutgoingFailure) {
        guard let next = ClientURL(location, relativeTo: url) else {
            throw OutgoingFailure(.redirect, "the server redirects to an address that is not one of http: or https: without a user")
        }
        guard next.scheme == "https" || url.scheme == "http" else {
            throw OutgoingFailure(.redirect, "the server redirects from https: to http:")
        }
        // RFC 9110 section 15.4: 303 asks for GET, and so do 301 and 302 after POST.
        if status == 303 && method != "HEAD" || status < 303 && method == "POST" {
            method = "GET"
            body = nil
            headers.removeAll { $0.name.lowercased().hasPrefix("content-") }
        }
        if !next.hasOrigin(of: url) { headers.removeAll { !harmless.contains($0.name.lowercased()) } }
        url = next
    }
}
