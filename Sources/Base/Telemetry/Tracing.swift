import Glibc
public import HTTP

/// Records the spans of one loop.
public struct Tracing: Sendable {
    private let spans: SpanCollector
    private let sampleRatio: Double
    private let part: Int

    /// - Parameters:
    ///   - sampleRatio: the share of new traces that are recorded, from 0 to 1. Traces of callers are recorded if the caller records them.
    ///   - loop: the number of the loop.
    public init(_ spans: SpanCollector, sampleRatio: Double, loop: Int = 0) {
        self.spans = spans
        self.sampleRatio = sampleRatio
        part = loop
    }

    /// The same for another loop.
    public func on(loop: Int) -> Tracing { Tracing(spans, sampleRatio: sampleRatio, loop: loop) }

    /// A source of trace contexts.
    public func makeSource() -> TraceSource {
        var source = TraceSource()
        source.sample(sampleRatio)
        return source
    }

    /// Records an operation that has ended now.
    ///
    /// - Parameters:
    ///   - context: that of the operation; only sampled ones are recorded.
    ///   - failure: what was wrong, if the operation failed for a reason of the host or the function.
    ///   - loop: the number of the loop; nil for the one for which this was made.
    public func record(
        _ context: TraceContext, name: String, kind: TraceSpan.Kind, nanoseconds: UInt64,
        attributes: [(name: StaticString, value: TraceSpan.Value)] = [], failure: String? = nil, loop: Int? = nil
    ) {
        guard context.isSampled else { return }
        let span = TraceSpan(
            context, name: name, kind: kind, endNanoseconds: Self.now(), nanoseconds: nanoseconds, attributes: attributes, failure: failure)
        spans.add(span, part: loop ?? part)
    }

    /// Nanoseconds since 1970.
    public static func now() -> UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }
}
