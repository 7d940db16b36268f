import CCurl
public import EventLoop
import Synchronization

/// Sends requests to other servers: HTTP/1.1 and HTTP/2, TLS, and the proxy of the environment.
///
/// libcurl does the work on `loop`, without blocking it; it is opened with the first request. Connections are reused. Thread-safe.
///
///     let client = HTTPClient(loop: loop)
///     let keys = try await client.send(ClientRequest(url: "https://example.com/jwks"))
public final class HTTPClient: Sendable {
    private let loop: EventLoop
    private let driver: ClientDriver
    private let isLibraryReady = Atomic(false)
    private let isClosed = Atomic(false)

    /// - Parameters:
    ///   - loop: the loop that watches the sockets; it has to run while requests are under way.
    ///   - certificateAuthorityFile: PEM file of trusted authorities; nil for those of the system.
    ///   - admits: decides which addresses may be connected to, called with each resolved address; nil for all. It also checks the address
    ///     of a proxy of the environment, but not the addresses that the proxy connects to.
    public init(loop: EventLoop, certificateAuthorityFile: String? = nil, admits: AddressRule? = nil) {
        self.loop = loop
        driver = ClientDriver(loop: loop, certificateAuthorityFile: certificateAuthorityFile, admits: admits)
    }

    deinit { close() }

    /// Ends all exchanges with ``ClientError/Kind/cancelled`` and closes the connections. The client cannot be used afterwards.
    public func close() {
        if isClosed.exchange(true, ordering: .acquiringAndReleasing) { return }
        loop.post { [driver] in driver.close() }
    }

    /// Sends `request` and waits for the whole answer, whatever its status.
    ///
    /// If a reused connection breaks before any byte of the answer, the request is sent again on another one. Cancelling the task ends the
    /// exchange at once with ``ClientError/Kind/cancelled``.
    public func send(_ request: ClientRequest) async throws(ClientError) -> ClientResponse {
        if let objection = request.objection { throw ClientError(.invalidRequest, "The request cannot be sent: \(objection).") }
        try await openLibrary()
        let ticket = ClientTicket()
        let result: Result<ClientResponse, ClientError> = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                loop.post { [driver] in
                    driver.start(request, ticket) { continuation.resume(returning: $0) }
                }
            }
        } onCancel: {
            ticket.cancel()
            loop.post { [driver] in driver.cancel(ticket) }
        }
        return try result.get()
    }

    /// Waits before another attempt, with a timer of the loop. `Task.sleep` would use libdispatch, which needs descriptors.
    public func pause(milliseconds: UInt64) async {
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            loop.post { [loop] in
                var timer: Timer?
                timer = Timer(loop: loop) {
                    timer = nil
                    continuation.resume()
                }
                timer?.start(afterMilliseconds: milliseconds)
            }
        }
    }

    /// Opens libcurl, which ``ClientURL`` needs. Sending does this too.
    public func prepare() async throws(ClientError) { try await openLibrary() }

    /// Off the loop, because opening the library and its dependencies reads about thirty files.
    private func openLibrary() async throws(ClientError) {
        if isLibraryReady.load(ordering: .acquiring) { return }
        let reason = await loop.offload { () -> String? in
            var text = [CChar](repeating: 0, count: 256)
            if hearth_curl_load(&text, text.count) != 0 { return nil }
            return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        }
        if let reason { throw ClientError(.unavailable, reason) }
        isLibraryReady.store(true, ordering: .releasing)
    }
}

/// Decides whether an address may be connected to. Called on the client's loop.
public typealias AddressRule = @Sendable (NetworkAddress) -> Bool

/// Identifies one exchange across threads, and remembers a cancellation that arrives before its start.
final class ClientTicket: Sendable {
    private let flag = Atomic(false)

    var isCancelled: Bool { flag.load(ordering: .acquiring) }

    func cancel() { flag.store(true, ordering: .releasing) }
}
