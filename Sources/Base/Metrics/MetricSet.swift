/// The figures of a moment, in families: for a page in Prometheus' format (``prometheusText()``), and for other systems.
public struct MetricSet: Sendable {
    /// All families, in the order of writing.
    public private(set) var families: [Family] = []

    /// The type of a family.
    public enum Kind: String, Sendable {
        /// Only increases; starts at 0 with the process.
        case counter
        /// Increases and decreases.
        case gauge
        /// Counts in buckets, with a sum and a count.
        case histogram
    }

    /// Samples of one name.
    public struct Family: Sendable {
        /// For example `hearth_http_requests_total`.
        public var name: String
        /// Whether it is a counter, a gauge or a histogram.
        public var kind: Kind
        /// A sentence that explains it.
        public var help: String
        /// The samples, each with other labels.
        public var samples: [Sample] = []
    }

    /// A name and a value that distinguish samples of one family.
    public typealias Label = (name: StaticString, value: String)

    /// A figure.
    public struct Sample: Sendable {
        /// Names and values by which it differs from the others of its family.
        public var labels: [Label]
        /// The figure.
        public var value: Value
    }

    /// The value of a sample.
    public enum Value: Sendable {
        /// A count.
        case integer(Int)
        /// Seconds, or a ratio.
        case number(Double)
        /// The counts of buckets, not cumulative. The last bucket has no bound.
        case histogram(bounds: [String], counts: [UInt64], sum: Double)
    }

    /// A set without families.
    public init() {}

    /// Begins a family. All of its samples must follow.
    public mutating func begin(_ name: String, _ kind: Kind, _ help: String) {
        families.append(Family(name: name, kind: kind, help: help))
    }

    /// Adds a family with one number.
    public mutating func number(_ name: String, _ kind: Kind, _ value: Int, _ help: String) {
        begin(name, kind, help)
        sample([], value)
    }

    /// Adds a family with one number: seconds, or a ratio.
    public mutating func number(_ name: String, _ kind: Kind, _ value: Double, _ help: String) {
        begin(name, kind, help)
        sample([], value)
    }

    /// Adds a sample with an integer to the last family.
    public mutating func sample(_ labels: [Label], _ value: Int) { add(labels, .integer(value)) }

    /// Adds a sample with a number of seconds, or a ratio, to the last family.
    public mutating func sample(_ labels: [Label], _ value: Double) { add(labels, .number(value)) }

    /// Adds a histogram to the last family.
    public mutating func sample<H: Histogram>(_ labels: [Label], _ histogram: H) {
        add(labels, .histogram(bounds: H.bounds, counts: (0...H.bounds.count).map { histogram.bucketCount($0) }, sum: histogram.sum))
    }

    private mutating func add(_ labels: [Label], _ value: Value) {
        precondition(!families.isEmpty, "a sample without a family")
        families[families.count - 1].samples.append(Sample(labels: labels, value: value))
    }
}
