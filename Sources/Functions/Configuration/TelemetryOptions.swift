/// Traces and metrics for a collector of OpenTelemetry.
public struct TelemetryOptions: Sendable, Equatable {
    /// The address of the collector, without `/v1/traces`.
    public var endpoint: String
    /// A file with headers for each request.
    public var headersFile: String?
    /// PEM file of trusted authorities; nil for those of the system.
    public var certificateAuthority: String?
    /// The value of `service.name`.
    public var serviceName: String
    /// Whether spans are sent.
    public var traces: Bool
    /// The share of new traces that are recorded, from 0 to 1.
    public var sampleRatio: Double
    /// Whether metrics are sent.
    public var metrics: Bool
    /// The time between two reports of metrics.
    public var metricsIntervalSeconds: Double
}

extension ConfigurationReader {
    mutating func telemetry(_ field: Field) -> TelemetryOptions? {
        guard field.isPresent, let endpoint = field["endpoint"].stringIfPresent else { return nil }
        return TelemetryOptions(
            endpoint: endpoint.hasSuffix("/") ? String(endpoint.dropLast()) : endpoint, headersFile: secretFile(field["headersFile"]),
            certificateAuthority: file(field["certificateAuthority"]), serviceName: field["serviceName"].string, traces: field["traces"].bool,
            sampleRatio: field["sampleRatio"].double, metrics: field["metrics"].bool,
            metricsIntervalSeconds: field["metricsIntervalSeconds"].double)
    }
}
