import HearthBytes
import Testing

@testable import Metrics

@Suite("Metrics")
struct MetricsTests {
    @Test("a duration falls into the bucket whose bound it does not exceed")
    func durationBounds() throws {
        for (index, bound) in DurationHistogram.bounds.enumerated() {
            let nanoseconds = UInt64((try #require(Double(bound)) * 1_000_000_000).rounded())
            #expect(DurationHistogram.bucket(of: nanoseconds) == index)
            #expect(DurationHistogram.bucket(of: nanoseconds + 1) == index + 1)
        }
        #expect(DurationHistogram.bucket(of: 0) == 0)
        #expect(DurationHistogram.bucket(of: .max) == DurationHistogram.bounds.count)
    }

    @Test("a size falls into the bucket whose bound it does not exceed")
    func sizeBounds() {
        for (index, bound) in SizeHistogram.bounds.enumerated() {
            for (size, bucket) in [(Int(bound) ?? 0, index), ((Int(bound) ?? 0) + 1, index + 1)] {
                var histogram = SizeHistogram()
                histogram.record(size)
                #expect(histogram.bucketCount(bucket) == 1 && histogram.sum == Double(size))
            }
        }
        var histogram = SizeHistogram()
        histogram.record(.max >> 8)
        #expect(histogram.bucketCount(SizeHistogram.bounds.count) == 1)
    }

    @Test("histograms add up")
    func merges() {
        var first = DurationHistogram()
        var second = DurationHistogram()
        first.record(nanoseconds: 50_000)
        second.record(nanoseconds: 2_000_000_000)
        second.record(immediate: 3)
        first.merge(second)
        #expect(first.count == 5 && first.bucketCount(0) == 4 && first.bucketCount(13) == 1)
        #expect(first.sum == 2.00005)
    }

    @Test("figures are written as Prometheus reads them")
    func text() {
        var text = MetricSet()
        text.begin("a_total", .counter, "What \\ is\ncounted.")
        text.sample([("path", "C:\\DIR\nx\"y\"")], 3)
        text.sample([], -1)
        text.number("c_seconds", .gauge, 0.5, "So long.")
        text.begin("b_seconds", .histogram, "How long.")
        var histogram = SizeHistogram()
        histogram.record(3)
        histogram.record(3)
        text.sample([("f", "g")], histogram)
        let written = String(decoding: text.prometheusText(), as: UTF8.self)
        #expect(written.hasPrefix("""
            # HELP a_total What \\\\ is\\ncounted.
            # TYPE a_total counter
            a_total{path="C:\\\\DIR\\nx\\"y\\""} 3
            a_total -1
            # HELP c_seconds So long.
            # TYPE c_seconds gauge
            c_seconds 0.5
            # HELP b_seconds How long.
            # TYPE b_seconds histogram
            b_seconds_bucket{f="g",le="1"} 0
            b_seconds_bucket{f="g",le="2"} 0
            b_seconds_bucket{f="g",le="4"} 2

            """))
        #expect(written.hasSuffix("""
            b_seconds_bucket{f="g",le="+Inf"} 2
            b_seconds_sum{f="g"} 6.0
            b_seconds_count{f="g"} 2

            """))
    }
}
