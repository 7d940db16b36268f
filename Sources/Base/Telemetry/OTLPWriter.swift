import HearthBytes
import HearthJSON
import HTTP
public import Metrics

/// Writes spans and metrics in the JSON form of OpenTelemetry's protocol (OTLP 1.x): ids are hexadecimal, numbers of 64 bits are text.
public enum OTLP {
    /// The body of a request to `/v1/traces`.
    public static func text(of spans: some Sequence<TraceSpan>, _ resource: TelemetryResource) -> [UInt8] {
        var writer = OTLPWriter()
        writer.open("resourceSpans", resource, "scopeSpans", "spans")
        for span in spans { writer.write(span) }
        return writer.close()
    }

    /// The body of a request to `/v1/metrics`.
    ///
    /// - Parameters:
    ///   - startNanoseconds: when counters were 0, in nanoseconds since 1970.
    ///   - nanoseconds: the time of the figures.
    public static func text(
        of set: MetricSet, _ resource: TelemetryResource, startNanoseconds: UInt64, nanoseconds: UInt64
    ) -> [UInt8] {
        var writer = OTLPWriter()
        writer.open("resourceMetrics", resource, "scopeMetrics", "metrics")
        for family in set.families { writer.write(family, startNanoseconds, nanoseconds) }
        return writer.close()
    }
}

private struct OTLPWriter: ~Copyable {
    private var buffer = ByteBuffer(capacity: 64 * 1024)
    private var needsComma = false

    mutating func open(_ resources: StaticString, _ resource: TelemetryResource, _ scopes: StaticString, _ entries: StaticString) {
        buffer.append("{\"\(resources)\":[{\"resource\":{\"attributes\":[")
        for (name, value) in resource.attributes { attribute(name, value) }
        buffer.append("]},\"\(scopes)\":[{\"scope\":{\"name\":\"hearth\",\"version\":")
        text(resource.version)
        buffer.append("},\"\(entries)\":[")
        needsComma = false
    }

    mutating func close() -> [UInt8] {
        buffer.append("]}]}]}")
        return buffer.array()
    }

    // MARK: Spans

    mutating func write(_ span: TraceSpan) {
        comma()
        buffer.append("{\"traceId\":\"")
        span.context.id.append(to: &buffer)
        buffer.append("\",\"spanId\":\"")
        buffer.append(hexadecimal: span.context.span)
        if span.context.parentSpan != 0 {
            buffer.append("\",\"parentSpanId\":\"")
            buffer.append(hexadecimal: span.context.parentSpan)
        }
        buffer.append("\"")
        if let state = span.context.state {
            buffer.append(",\"traceState\":")
            buffer.append(jsonString: state.span)
        }
        buffer.append(",\"flags\":\(span.context.isSampled ? 1 : 0),\"name\":")
        text(span.name)
        buffer.append(",\"kind\":\(span.kind.rawValue),\"startTimeUnixNano\":\"\(span.endNanoseconds &- span.nanoseconds)\"")
        buffer.append(",\"endTimeUnixNano\":\"\(span.endNanoseconds)\",\"attributes\":[")
        needsComma = false
        for (name, value) in span.attributes {
            switch value {
            case .text(let value): attribute(name, value)
            case .integer(let value): attribute(name, "intValue", "\"\(value)\"")
            case .flag(let value): attribute(name, "boolValue", "\(value)")
            case .seconds(let value): attribute(name, "doubleValue", "\(value)")
            }
        }
        buffer.append("]")
        if let failure = span.failure {
            buffer.append(",\"status\":{\"code\":2,\"message\":")
            text(failure)
            buffer.append("}")
        }
        buffer.append("}")
        needsComma = true
    }

    // MARK: Metrics

    mutating func write(_ family: MetricSet.Family, _ start: UInt64, _ now: UInt64) {
        comma()
        buffer.append("{\"name\":\"\(family.name)\",\"description\":")
        text(family.help)
        buffer.append(",\"unit\":\"\(Self.unit(of: family.name))\",\"")
        switch family.kind {
        case .counter: buffer.append("sum\":{\"aggregationTemporality\":2,\"isMonotonic\":true,\"dataPoints\":[")
        case .gauge: buffer.append("gauge\":{\"dataPoints\":[")
        case .histogram: buffer.append("histogram\":{\"aggregationTemporality\":2,\"dataPoints\":[")
        }
        needsComma = false
        for sample in family.samples {
            comma()
            buffer.append("{\"attributes\":[")
            needsComma = false
            for (name, value) in sample.labels { attribute(name, value) }
            buffer.append("],\"timeUnixNano\":\"\(now)\"")
            if family.kind != .gauge { buffer.append(",\"startTimeUnixNano\":\"\(start)\"") }
            write(sample.value)
            buffer.append("}")
            needsComma = true
        }
        buffer.append("]}}")
        needsComma = true
    }

    private mutating func write(_ value: MetricSet.Value) {
        switch value {
        case .integer(let value): buffer.append(",\"asInt\":\"\(value)\"")
        case .number(let value): buffer.append(",\"asDouble\":\(value)")
        case .histogram(let bounds, let counts, let sum):
            buffer.append(",\"count\":\"\(counts.reduce(0, +))\",\"sum\":\(sum),\"bucketCounts\":[")
            for (index, count) in counts.enumerated() { buffer.append("\(index == 0 ? "" : ",")\"\(count)\"") }
            buffer.append("],\"explicitBounds\":[")
            for (index, bound) in bounds.enumerated() { buffer.append("\(index == 0 ? "" : ",")\(bound)") }
            buffer.append("]")
        }
    }

    /// The unit, which the names of metrics tell, in the words of UCUM.
    private static func unit(of name: String) -> StaticString {
        let name = name.hasSuffix("_total") ? name.dropLast(6) : name[...]
        return name.hasSuffix("_seconds") ? "s" : name.hasSuffix("_bytes") ? "By" : "1"
    }

    // MARK: Parts

    private mutating func comma() {
        if needsComma { buffer.append(",") }
        needsComma = true
    }

    private mutating func attribute(_ name: StaticString, _ value: String) {
        comma()
        buffer.append("{\"key\":\"\(name)\",\"value\":{\"stringValue\":")
        text(value)
        buffer.append("}}")
    }

    private mutating func attribute(_ name: StaticString, _ kind: StaticString, _ value: String) {
        comma()
        buffer.append("{\"key\":\"\(name)\",\"value\":{\"\(kind)\":\(value)}}")
    }

    private mutating func text(_ value: String) { buffer.append(jsonString: value) }
}
