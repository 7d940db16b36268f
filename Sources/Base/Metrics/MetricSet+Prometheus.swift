import HearthBytes

extension MetricSet {
    /// The `Content-Type` of ``prometheusText()``.
    public static let prometheusContentType: StaticString = "text/plain; version=0.0.4; charset=utf-8"

    /// The figures in the text format of Prometheus, version 0.0.4: each family with help and type, followed by its samples.
    public func prometheusText() -> [UInt8] {
        var writer = PrometheusWriter()
        for family in families { writer.write(family) }
        return writer.buffer.array()
    }
}

private struct PrometheusWriter: ~Copyable {
    var buffer = ByteBuffer(capacity: 16 * 1024)

    mutating func write(_ family: MetricSet.Family) {
        buffer.append("# HELP \(family.name) ")
        escape(family.help, quotes: false)
        buffer.append("\n# TYPE \(family.name) \(family.kind.rawValue)\n")
        for sample in family.samples {
            switch sample.value {
            case .integer(let value):
                write(name: family.name, sample.labels)
                buffer.append(decimal: value)
                buffer.append("\n")
            case .number(let value):
                write(name: family.name, sample.labels)
                buffer.append("\(value)\n")
            case .histogram(let bounds, let counts, let sum): write(family.name, sample.labels, bounds, counts, sum)
            }
        }
    }

    /// Writes a histogram, whose buckets are cumulative here.
    private mutating func write(_ name: String, _ labels: [MetricSet.Label], _ bounds: [String], _ counts: [UInt64], _ sum: Double) {
        var total: UInt64 = 0
        for (bound, count) in zip(bounds + ["+Inf"], counts) {
            total += count
            write(name: name + "_bucket", labels + [("le", bound)])
            buffer.append("\(total)\n")
        }
        write(name: name + "_sum", labels)
        buffer.append("\(sum)\n")
        write(name: name + "_count", labels)
        buffer.append("\(total)\n")
    }

    private mutating func write(name: String, _ labels: [MetricSet.Label]) {
        buffer.append(name)
        for (index, label) in labels.enumerated() {
            buffer.append(index == 0 ? "{" : ",")
            buffer.append(label.name)
            buffer.append("=\"")
            escape(label.value, quotes: true)
            buffer.append("\"")
        }
        buffer.append(labels.isEmpty ? " " : "} ")
    }

    /// Escapes backslashes and line feeds, and in label values quotation marks.
    private mutating func escape(_ text: String, quotes: Bool) {
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\\"): buffer.append("\\\\")
            case UInt8(ascii: "\n"): buffer.append("\\n")
            case UInt8(ascii: "\"") where quotes: buffer.append("\\\"")
            default: buffer.append(byte)
            }
        }
    }
}
