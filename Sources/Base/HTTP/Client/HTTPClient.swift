import CCurl
public import EventLoop
import Synchronization

/// Sends requests to other servers: HTTP/1.1 and HTTP/2, TLS, and the proxy that the environment names.
///
/// libcurl does the work on `loop`, without blocking it, and is opened with the first request only. Connections are kept and
/// used again. Can be used from any thread.
///
///     let client = HTTPClient(loop: loop)
///     let keys = try await client.send(ClientRequest(url: "https://example.com/jwks"))
public final class HTTPClient: Sendable {
    private let loop: EventLoop
    private let driver: ClientDriver
    private let isLibraryReady = Atomic(false)
    private let isClosed = Atomic(false)

    /// - Parameters:
    ///   - loop: the loop that the sockets are watched on; it has to run while anything is sent.
    ///   - certificateAuthorityFile: PEM file of the authorities to trust; the system's where it is nil.
    ///   - admits: which addresses it may connect to, asked with each address that a name has led to; nil for all. A proxy that the
    ///     environment names is such an address, too, and what it connects to is its own affair.
    public init(loop: EventLoop, certificateAuthorityFile: String? = nil, admits: AddressRule? = nil) {
        self.loop = loop
        driver = ClientDriver(loop: loop, certificateAuthorityFile: certificateAuthorityFile, admits: admits)
    }

    deinit { close() }

    /// Ends what is under way with ``ClientError/Kind/cancelled`` and gives the connections back. Nothing can be sent after it.
    public func close() {
        if isClosed.exchange(true, ordering: .acquiringAndReleasing) { return }
        loop.post { [driver] in driver.close() }
    }

    /// Sends `request` and waits for the whole answer, whatever its status.
    ///
    /// Where a kept connection breaks before anything of the answer has come, the same request is sent again on another one.
    /// When the task is cancelled the exchange ends at once with ``ClientError/Kind/cancelled``.
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

    /// Waits before another attempt, on a timer of the loop. `Task.sleep` would take one of libdispatch, which needs descriptors.
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

    /// Off the loop, since opening the library and those that it needs reads some thirty files.
    private func openLibrary() async throws(ClientError) {
        if isLibraryReady.load(ordering: .acquiring) { return }
        let reason: String?
        do {
            reason = try await loop.offload {
                var text = [CChar](repeating: 0, count: 256)
                if hearth_curl_load(&text, text.count) != 0 { return nil }
                return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            }
        } catch {
            reason = "\(error)"
        }
        if let reason { throw ClientError(.unavailable, reason) }
        isLibraryReady.store(true, ordering: .releasing)
    }
}

/// Says whether an address may be connected to. Called on the client's loop.
public typealias AddressRule = @Sendable (NetworkAddress) -> Bool

/// Names one exchange across threads, and remembers a cancellation that overtook its start.
final class ClientTicket: Sendable {
    private let flag = Atomic(false)

    var isCancelled: Bool { flag.load(ordering: .acquiring) }

    func cancel() { flag.store(true, ordering: .releasing) }
}
