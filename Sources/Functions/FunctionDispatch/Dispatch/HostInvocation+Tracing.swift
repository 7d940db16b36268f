import Configuration
import HTTP
import Telemetry

extension HostInvocation {
    /// Records its span.
    @inline(never)
    final func recordSpan(_ outcome: InvocationOutcome, nanoseconds: UInt64, loop: Int, tracing: Tracing) {
        guard let trace, trace.isSampled else { return }
        var attributes: [(name: StaticString, value: TraceSpan.Value)] = [
            ("faas.name", .text(function.name)), ("faas.version", .text("\(function.version)")),
            ("faas.trigger", .text(function.trigger.faasTrigger)), ("hearth.plugin", .text(function.artifact.name)),
            ("hearth.code", .text(outcome.name)), ("faas.coldstart", .flag(isColdStart)),
        ]
        if waitedNanoseconds > 0 { attributes.append(("hearth.wait", .seconds(Double(waitedNanoseconds) / 1_000_000_000))) }
        tracing.record(
            trace, name: function.name, kind: function.trigger.isForRequests ? .server : .consumer, nanoseconds: nanoseconds, attributes: attributes,
            failure: outcome.isFault ? outcome.name : nil, loop: loop)
    }
}

extension Trigger {
    /// The value of `faas.trigger` in OpenTelemetry's conventions.
    fileprivate var faasTrigger: String {
        switch self {
        case .callable, .https: "http"
        case .event: "datasource"
        case .schedule: "timer"
        case .blocking, .task: "other"
        }
    }
}
