import HearthBytes

/// Writes metrics in the text format of Prometheus, version 0.0.4: each family with help and type, followed by its samples.
public struct MetricsText: ~Copyable {
    private var buffer = ByteBuffer(capacity: 16 * 1024)
    private var family = ""

    /// The type of a family.
    public enum Kind: String, Sendable {
        /// Only increases; starts at 0 with the process.
        case counter
        /// Increases and decreases.
        case gauge
        /// Cumulative buckets, with a sum and a count.
        case histogram
    }

    /// A name and a value that distinguish samples of one family.
    public typealias Label = (name: StaticString, value: String)

    /// The `Content-Type` of the answer: Prometheus' text format.
    public static let contentType: StaticString = "text/plain; version=0.0.4; charset=utf-8"

    /// An empty text.
    public init() {}

    /// The written text.
    public consuming func finish() -> [UInt8] { buffer.array() }

    /// Begins a family. All of its samples must follow.
    public mutating func begin(_ name: String, _ kind: Kind, _ help: String) {
        family = name
        buffer.append("# HELP \(name) ")
        escape(help, quotes: false)
        buffer.append("\n# TYPE \(name) \(kind.rawValue)\n")
    }

    /// Writes a family with one number.
    public mutating func number(_ name: String, _ kind: Kind, _ value: Int, _ help: String) {
        begin(name, kind, help)
        sample([], value)
    }

    /// Writes a family with one number: seconds, or a ratio.
    public mutating func number(_ name: String, _ kind: Kind, _ value: Double, _ help: String) {
        begin(name, kind, help)
        sample([], value)
    }

    /// Writes a sample with an integer.
    public mutating func sample(_ labels: [Label], _ value: Int) {
        write(name: family, labels)
        buffer.append(decimal: value)
        buffer.append("\n")
    }

    /// Writes a sample with a number of seconds, or a ratio.
    public mutating func sample(_ labels: [Label], _ value: Double) {
        write(name: family, labels)
        buffer.append("\(value)\n")
    }

    /// Writes a histogram with cumulative buckets.
    public mutating func sample<H: Histogram>(_ labels: [Label], _ histogram: H) {
        var count: UInt64 = 0
        for (index, bound) in (H.bounds + ["+Inf"]).enumerated() {
            count += histogram.bucketCount(index)
            write(name: family + "_bucket", labels + [("le", bound)])
            buffer.append("\(count)\n")
        }
        write(name: family + "_sum", labels)
        buffer.append("\(histogram.sum)\n")
        write(name: family + "_count", labels)
        buffer.append("\(count)\n")
    }

    private mutating func write(name: String, _ labels: [Label]) {
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
