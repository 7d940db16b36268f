import EventLoop
import HearthJSON
import HTTP
import Logging

/// Sends the bodies of one signal to a collector, one after the other, each until it is taken or was tried often enough. Belongs to a loop.
final class ExportLane {
    /// How often, and with what result, bodies were sent.
    struct Figures: Sendable {
        var sent = 0
        var failed = 0
        /// Entries that the collector did not take.
        var rejected = 0
    }

    private let loop: EventLoop
    private let client: HTTPClient
    private let url: String
    private let headers: [(name: String, value: String)]
    private let log: Logger
    private var waiting: [[UInt8]] = []
    private var attempts = 0
    private var isSending = false
    private var isFailing = false
    /// Whether what waits is the last.
    private var isEnding = false
    /// Called once nothing waits, while the lane ends.
    private var completion: (() -> Void)?
    private(set) var figures = Figures()
    private lazy var timer = Timer(loop: loop) { [unowned self] in sendNext() }

    /// A body is given up after this many attempts, with one, two, four and eight seconds between them.
    static let attemptsMax = 5
    /// The most bodies that wait.
    static let waitingMax = 8
    /// The longest wait that a collector may ask for.
    private static let pauseSecondsMax: UInt64 = 30
    /// The most entries of one request that are counted as refused.
    private static let rejectedMax = 1_000_000
    private static let timeoutMilliseconds = 10_000

    init(loop: EventLoop, client: HTTPClient, url: String, headers: [(name: String, value: String)], log: Logger) {
        self.loop = loop
        self.client = client
        self.url = url
        self.headers = headers
        self.log = log
    }

    /// Whether another body may be added.
    var hasRoom: Bool { waiting.count < Self.waitingMax && !isEnding }

    /// Sends a body after those that wait.
    func add(_ body: [UInt8]) {
        waiting.append(body)
        sendNext()
    }

    /// Sends what waits, each body once, and calls `completion` once.
    func end(_ completion: @escaping () -> Void) {
        isEnding = true
        self.completion = completion
        sendNext()
    }

    private func sendNext() {
        guard !isSending else { return }
        timer.stop()
        guard let body = waiting.first else {
            completion?()
            completion = nil
            return
        }
        isSending = true
        loop.task { [self] in
            let result = await attempt(body)
            isSending = false
            didSend(result)
        }
    }

    private enum Attempt {
        case taken
        /// Another attempt makes sense after this time; nil for the usual one.
        case again(reason: String, milliseconds: UInt64?)
        case refused(reason: String)
    }

    @inline(never)
    private func attempt(_ body: [UInt8]) async -> Attempt {
        var request = ClientRequest(method: "POST", url: url, headers: headers + [("Content-Type", "application/json")], body: body)
        request.timeoutMilliseconds = Self.timeoutMilliseconds
        request.responseBytesMax = 64 * 1024
        do throws(ClientError) {
            let response = try await client.send(request)
            if (200..<300).contains(response.status) {
                noteRejected(response)
                return .taken
            }
            let reason = "the collector has answered with status \(response.status)"
            guard [429, 502, 503, 504].contains(response.status) else { return .refused(reason: reason) }
            let seconds = response.header("retry-after").flatMap { UInt64($0) }
            return .again(reason: reason, milliseconds: seconds.map { min($0, Self.pauseSecondsMax) * 1000 })
        } catch {
            return .again(reason: "\(error)", milliseconds: nil)
        }
    }

    /// Counts the entries that the collector has refused although it took the request.
    private func noteRejected(_ response: ClientResponse) {
        guard let partial = (try? JSONValue(parsing: response.body.span))?.object?["partialSuccess"]?.object else { return }
        let text = partial["rejectedSpans"] ?? partial["rejectedDataPoints"]
        guard let count = text?.string.flatMap({ Int($0) }) ?? text?.int, count > 0 else { return }
        if figures.rejected == 0 {
            log.warning(
                "the collector of telemetry does not take everything",
                metadata: ["url": "\(url)", "rejected": "\(count)", "reason": "\(partial["errorMessage"]?.string ?? "")"])
        }
        figures.rejected += min(count, Self.rejectedMax)
    }

    private func didSend(_ result: Attempt) {
        attempts += 1
        switch result {
        case .taken:
            if isFailing { log.notice("telemetry is sent again", metadata: ["url": "\(url)"]) }
            isFailing = false
            figures.sent += 1
            removeFirst()
        case .again(let reason, let milliseconds) where attempts < Self.attemptsMax && !isEnding:
            tell(reason)
            return timer.start(afterMilliseconds: milliseconds ?? 1000 << UInt64(attempts - 1))
        case .again(let reason, _), .refused(let reason):
            tell(reason)
            figures.failed += 1
            removeFirst()
        }
        sendNext()
    }

    private func removeFirst() {
        attempts = 0
        waiting.removeFirst()
    }

    private func tell(_ reason: String) {
        if !isFailing { log.warning("telemetry cannot be sent", metadata: ["url": "\(url)", "reason": "\(reason)"]) }
        isFailing = true
    }
}
