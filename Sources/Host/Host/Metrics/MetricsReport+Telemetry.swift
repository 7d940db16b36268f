import Metrics
import Telemetry

extension MetricsReport {
    func writeTelemetry(_ figures: TelemetryFigures, to set: inout MetricSet) {
        set.begin("hearth_telemetry_requests_total", .counter, "Requests to the collector of telemetry, by signal and outcome.")
        for signal in figures.signals {
            set.sample([("signal", signal.name), ("outcome", "sent")], signal.sent)
            set.sample([("signal", signal.name), ("outcome", "failed")], signal.failed)
        }
        set.begin("hearth_telemetry_rejected_total", .counter, "Spans and figures that the collector has refused, by signal.")
        for signal in figures.signals { set.sample([("signal", signal.name)], signal.rejected) }
        set.number(
            "hearth_telemetry_spans_dropped_total", .counter, figures.droppedSpans,
            "Spans that were dropped because the collector did not take earlier ones in time.")
    }
}
