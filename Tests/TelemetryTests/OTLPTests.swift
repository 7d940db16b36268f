import HearthJSON
import HTTP
import Metrics
@testable import Telemetry
import Testing

/// The JSON of OTLP 1.x, as the protocol's JSON mapping defines it: ids in hexadecimal, numbers of 64 bits as text, enumerations as numbers.
@Suite("The JSON of OpenTelemetry's protocol")
struct OTLPTests {
    private let resource = TelemetryResource(attributes: [("service.name", "a \"name\"")], version: "1.2.3")

    private func parsed(_ text: [UInt8]) throws -> JSONValue { try JSONValue(parsing: text) }

    @Test("a span has its ids, its times, its attributes and its failure")
    func span() throws {
        let id = try #require(TraceID("0af7651916cd43dd8448eb211c80319c"))
        let parent = TraceContext(id: id, span: 0xb7ad_6b71_6920_3331, isSampled: true, state: Array("a=b".utf8))
        let context = parent.child(0x00f0_67aa_0ba9_02b7)
        let span = TraceSpan(
            context, name: "f\u{1}\n", kind: .server, endNanoseconds: 1_700_000_000_000_000_005, nanoseconds: 5,
            attributes: [("a", .text("b")), ("c", .integer(-3)), ("d", .flag(true)), ("e", .seconds(0.25))], failure: "internal")
        let other = TraceSpan(parent, name: "g", kind: .client, endNanoseconds: 7, nanoseconds: 7)
        let value = try parsed(OTLP.text(of: [span, other], resource))
        let expected = """
            {"resourceSpans": [{
                "resource": {"attributes": [{"key": "service.name", "value": {"stringValue": "a \\"name\\""}}]},
                "scopeSpans": [{"scope": {"name": "hearth", "version": "1.2.3"}, "spans": [
                    {"traceId": "0af7651916cd43dd8448eb211c80319c", "spanId": "00f067aa0ba902b7", "parentSpanId": "b7ad6b7169203331",
                     "traceState": "a=b", "flags": 1, "name": "f\\u0001\\n", "kind": 2, "startTimeUnixNano": "1700000000000000000",
                     "endTimeUnixNano": "1700000000000000005", "attributes": [
                        {"key": "a", "value": {"stringValue": "b"}}, {"key": "c", "value": {"intValue": "-3"}},
                        {"key": "d", "value": {"boolValue": true}}, {"key": "e", "value": {"doubleValue": 0.25}}],
                     "status": {"code": 2, "message": "internal"}},
                    {"traceId": "0af7651916cd43dd8448eb211c80319c", "spanId": "b7ad6b7169203331", "traceState": "a=b", "flags": 1,
                     "name": "g", "kind": 3, "startTimeUnixNano": "0", "endTimeUnixNano": "7", "attributes": []}
                ]}]
            }]}
            """
        #expect(try value == parsed(Array(expected.utf8)))
    }

    @Test("metrics have their types, units, labels and times")
    func metrics() throws {
        var set = MetricSet()
        set.begin("a_bytes_total", .counter, "All.")
        set.sample([("code", "x\\")], 3)
        set.sample([], 4)
        set.number("b_seconds", .gauge, 0.5, "So long.")
        set.begin("c", .histogram, "Sizes.")
        var histogram = SizeHistogram()
        histogram.record(3)
        histogram.record(9000)
        set.sample([("f", "g")], histogram)
        let value = try parsed(OTLP.text(of: set, resource, startNanoseconds: 1, nanoseconds: 2))
        let zeros = Array(repeating: "\"0\"", count: 10).joined(separator: ",")
        let bounds = (0..<13).map { "\(1 << $0)" }.joined(separator: ",")
        let expected = """
            {"resourceMetrics": [{
                "resource": {"attributes": [{"key": "service.name", "value": {"stringValue": "a \\"name\\""}}]},
                "scopeMetrics": [{"scope": {"name": "hearth", "version": "1.2.3"}, "metrics": [
                    {"name": "a_bytes_total", "description": "All.", "unit": "By", "sum": {
                        "aggregationTemporality": 2, "isMonotonic": true, "dataPoints": [
                            {"attributes": [{"key": "code", "value": {"stringValue": "x\\\\"}}], "timeUnixNano": "2", "startTimeUnixNano": "1",
                             "asInt": "3"},
                            {"attributes": [], "timeUnixNano": "2", "startTimeUnixNano": "1", "asInt": "4"}]}},
                    {"name": "b_seconds", "description": "So long.", "unit": "s", "gauge": {"dataPoints": [
                        {"attributes": [], "timeUnixNano": "2", "asDouble": 0.5}]}},
                    {"name": "c", "description": "Sizes.", "unit": "1", "histogram": {"aggregationTemporality": 2, "dataPoints": [
                        {"attributes": [{"key": "f", "value": {"stringValue": "g"}}], "timeUnixNano": "2", "startTimeUnixNano": "1",
                         "count": "2", "sum": 9003.0, "bucketCounts": ["0", "0", "1", \(zeros), "1"], "explicitBounds": [\(bounds)]}]}}
                ]}]
            }]}
            """
        #expect(try value == parsed(Array(expected.utf8)))
    }

    @Test("spans that are too many are dropped and counted, for each loop")
    func limit() throws {
        let spans = SpanCollector(parts: 2)
        let tracing = Tracing(spans, sampleRatio: 1)
        let context = TraceContext(id: try #require(TraceID(high: 1, low: 2)), span: 3, isSampled: true)
        for _ in 0..<SpanCollector.partMax + 7 { tracing.record(context, name: "f", kind: .internal, nanoseconds: 1) }
        tracing.on(loop: 1).record(context, name: "g", kind: .internal, nanoseconds: 1)
        var unsampled = context
        unsampled.isSampled = false
        tracing.on(loop: 1).record(unsampled, name: "h", kind: .internal, nanoseconds: 1)
        let taken = spans.take()
        #expect(taken.spans.count == SpanCollector.partMax + 1 && taken.dropped == 7 && taken.spans.last?.name == "g")
        #expect(spans.take().spans.isEmpty && spans.take().dropped == 0)
    }

    @Test("new traces are sampled by the ratio, those of callers as the caller does", arguments: [0, 0.25, 1])
    func sampling(ratio: Double) {
        var source = Tracing(SpanCollector(parts: 1), sampleRatio: ratio).makeSource()
        let count = (0..<10_000).count { _ in source.begin().isSampled }
        #expect(abs(Double(count) - ratio * 10_000) < (ratio == 0.25 ? 400 : 1))
        var caller = source.begin()
        for isSampled in [true, false] {
            caller.isSampled = isSampled
            let child = source.next(after: caller)
            #expect(child.isSampled == isSampled && child.parentSpan == caller.span && child.span != caller.span && child.id == caller.id)
        }
    }
}
