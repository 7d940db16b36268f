import AdminProtocol
import Configuration
import EventLoop
import Files
import FunctionDispatch
import Glibc
import HostCore
import HTTP
import Logging
import Telemetry

/// The export of a host's spans and metrics to a collector, where one is configured. Belongs to the home loop.
///
/// Invocations are recorded once it exists.
final class TelemetryHost {
    /// Nil if no spans are recorded.
    let tracing: Tracing?
    private let exporter: TelemetryExporter

    /// - Throws: `HostStartError` if the file with headers cannot be used.
    init?(
        _ configuration: Configuration, loop: EventLoop, dispatcher: Dispatcher, metrics: MetricsGatherer, log: Logger
    ) throws(HostStartError) {
        guard let options = configuration.telemetry else { return nil }
        let settings = try TelemetrySettings(options, project: configuration.project)
        let spans = SpanCollector(parts: configuration.server.loops)
        tracing = options.traces ? Tracing(spans, sampleRatio: options.sampleRatio) : nil
        let client = HTTPClient(loop: loop, certificateAuthorityFile: options.certificateAuthority)
        exporter = TelemetryExporter(loop: loop, client: client, settings: settings, spans: spans, clock: Tracing.now, log: log) {
            metrics.gather(completion: $0)
        }
        dispatcher.tracing = tracing
        metrics.telemetryFigures = { [exporter] in exporter.figures }
    }

    func start() { exporter.start() }

    /// Sends what waits, and ends.
    func stop() async { await exporter.stop() }
}

extension TelemetrySettings {
    init(_ options: TelemetryOptions, project: String) throws(HostStartError) {
        let host = (try? WholeFile.readText("/proc/sys/kernel/hostname", sizeBytesMax: 256))?.split(separator: "\n").first.map(String.init) ?? ""
        let resource = TelemetryResource(
            attributes: [
                ("service.name", options.serviceName), ("service.namespace", project), ("service.version", HearthVersion.text),
                ("service.instance.id", "\(host):\(getpid())"), ("host.name", host), ("telemetry.sdk.name", "hearth"),
                ("telemetry.sdk.language", "swift"), ("telemetry.sdk.version", HearthVersion.text),
            ], version: HearthVersion.text)
        self.init(
            endpoint: options.endpoint, headers: try Self.headers(options.headersFile), sendsTraces: options.traces,
            metricsMilliseconds: options.metrics ? UInt64(options.metricsIntervalSeconds * 1000) : nil, resource: resource)
    }

    /// Reads lines of the form `Name: value`.
    private static func headers(_ path: String?) throws(HostStartError) -> [(name: String, value: String)] {
        guard let path else { return [] }
        let text: String
        do throws(FileFailure) {
            text = try WholeFile.readText(path, sizeBytesMax: 64 * 1024)
        } catch {
            throw HostStartError("telemetry.headersFile: \(path) \(error)")
        }
        var headers: [(name: String, value: String)] = []
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() where !line.allSatisfy(\.isWhitespace) {
            let parts = line.split(separator: ":", maxSplits: 1)
            let name = parts.first.map { String($0) } ?? ""
            guard parts.count == 2, !name.isEmpty, name.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
                throw HostStartError("telemetry.headersFile: line \(index + 1) of \(path) is no header; expected \"Name: value\"")
            }
            headers.append((name, String(parts[1].drop { $0 == " " || $0 == "\t" }.filter { $0 != "\r" && $0 != "\r\n" })))
        }
        return headers
    }
}
