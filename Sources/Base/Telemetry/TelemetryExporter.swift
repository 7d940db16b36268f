public import EventLoop
public import HTTP
public import Logging
public import Metrics

/// The destination of telemetry, and what is sent.
public struct TelemetrySettings: Sendable {
    /// The address of the collector, to which `/v1/traces` and `/v1/metrics` are appended.
    public var endpoint: String
    /// Headers of each request, for example the key of the collector.
    public var headers: [(name: String, value: String)]
    /// Whether spans are sent.
    public var sendsTraces: Bool
    /// The time between two reports of metrics; nil to send none.
    public var metricsMilliseconds: UInt64?
    /// The origin of all data.
    public var resource: TelemetryResource

    /// Settings for a collector.
    public init(
        endpoint: String, headers: [(name: String, value: String)], sendsTraces: Bool, metricsMilliseconds: UInt64?, resource: TelemetryResource
    ) {
        self.endpoint = endpoint
        self.headers = headers
        self.sendsTraces = sendsTraces
        self.metricsMilliseconds = metricsMilliseconds
        self.resource = resource
    }
}

/// Figures of the export.
public struct TelemetryFigures: Sendable {
    /// A signal: what is sent.
    public typealias Signal = (name: String, sent: Int, failed: Int, rejected: Int)

    /// Requests that were taken, and given up, and entries that the collector refused, by signal.
    public var signals: [Signal] = [("metrics", 0, 0, 0), ("traces", 0, 0, 0)]
    /// Spans that were dropped because too many waited.
    public var droppedSpans = 0

    /// Figures of a host that sends nothing.
    public init() {}
}

/// Sends spans and metrics to a collector, with OpenTelemetry's protocol over HTTP, in JSON. Belongs to a loop.
///
/// Nothing waits for it: what a slow collector does not take is dropped, and counted.
public final class TelemetryExporter {
    private let loop: EventLoop
    private let client: HTTPClient
    private let settings: TelemetrySettings
    private let spans: SpanCollector
    private let gather: (@escaping (MetricSet) -> Void) -> Void
    private let clock: () -> UInt64
    private let startNanoseconds: UInt64
    private let traceLane: ExportLane
    private let metricLane: ExportLane
    private var dropped = 0
    private var isTaking = false
    private lazy var traceTimer = Timer(loop: loop) { [unowned self] in sendSpans() }
    private lazy var metricTimer = Timer(loop: loop) { [unowned self] in sendMetrics() }

    /// The time that a span waits for others.
    private static let gatherMilliseconds: UInt64 = 1000
    /// The most spans of a request.
    private static let batchMax = 512
    /// The end of the host waits for the collector at most so long.
    private static let endingMilliseconds: UInt64 = 3000

    /// - Parameters:
    ///   - spans: what the loops have done.
    ///   - clock: nanoseconds since 1970.
    ///   - gather: collects the figures for metrics.
    public init(
        loop: EventLoop, client: HTTPClient, settings: TelemetrySettings, spans: SpanCollector, clock: @escaping () -> UInt64, log: Logger,
        gather: @escaping (@escaping (MetricSet) -> Void) -> Void
    ) {
        self.loop = loop
        self.client = client
        self.settings = settings
        self.spans = spans
        self.clock = clock
        self.gather = gather
        startNanoseconds = clock()
        traceLane = ExportLane(loop: loop, client: client, url: settings.endpoint + "/v1/traces", headers: settings.headers, log: log)
        metricLane = ExportLane(loop: loop, client: client, url: settings.endpoint + "/v1/metrics", headers: settings.headers, log: log)
    }

    /// Begins to send.
    public func start() {
        if settings.sendsTraces {
            traceTimer.start(afterMilliseconds: Self.gatherMilliseconds, repeatMilliseconds: Self.gatherMilliseconds)
        }
        if let interval = settings.metricsMilliseconds { metricTimer.start(afterMilliseconds: interval, repeatMilliseconds: interval) }
    }

    /// Sends what waits, once, and ends after a few seconds at most.
    public func stop() async {
        traceTimer.stop()
        metricTimer.stop()
        if settings.metricsMilliseconds != nil {
            let set = await withCheckedContinuation { continuation in gather { continuation.resume(returning: $0) } }
            metricLane.add(body(of: set))
        }
        for batch in takeBatches() { add(OTLP.text(of: batch, settings.resource), count: batch.count) }
        // Closing the client ends all requests.
        let limit = Timer(loop: loop) { [client] in client.close() }
        limit.start(afterMilliseconds: Self.endingMilliseconds)
        _ = await loop.concurrently([traceLane, metricLane]) { lane in
            await withCheckedContinuation { continuation in lane.end { continuation.resume() } }
        }
        limit.close()
    }

    /// Sends spans, unless too many requests wait.
    private func add(_ body: [UInt8], count: Int) {
        if traceLane.hasRoom { traceLane.add(body) } else { dropped += count }
    }

    /// The figures since the start.
    public var figures: TelemetryFigures {
        var figures = TelemetryFigures()
        figures.signals = [("metrics", metricLane), ("traces", traceLane)].map { name, lane in
            (name, lane.figures.sent, lane.figures.failed, lane.figures.rejected)
        }
        figures.droppedSpans = dropped
        return figures
    }

    private func takeBatches() -> [ArraySlice<TraceSpan>] {
        let taken = spans.take()
        dropped += taken.dropped
        return stride(from: 0, to: taken.spans.count, by: Self.batchMax).map { taken.spans[$0...].prefix(Self.batchMax) }
    }

    private func sendSpans() {
        // Without room, spans wait in their collector, which drops those that are too many.
        guard !isTaking, traceLane.hasRoom else { return }
        let batches = takeBatches()
        guard !batches.isEmpty else { return }
        isTaking = true
        let resource = settings.resource
        loop.compute { batches.map { (OTLP.text(of: $0, resource), $0.count) } } then: { [self] bodies in
            isTaking = false
            for (body, count) in bodies { add(body, count: count) }
        }
    }

    private func sendMetrics() {
        guard metricLane.hasRoom else { return }
        gather { [self] set in metricLane.add(body(of: set)) }
    }

    private func body(of set: MetricSet) -> [UInt8] {
        OTLP.text(of: set, settings.resource, startNanoseconds: startNanoseconds, nanoseconds: clock())
    }
}
