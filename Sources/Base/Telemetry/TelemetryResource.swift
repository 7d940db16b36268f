/// The origin of all exported data.
public struct TelemetryResource: Sendable {
    /// Names and values, as OpenTelemetry's conventions name them: `service.name`, `host.name`.
    public var attributes: [(name: StaticString, value: String)]
    /// The version of this program.
    public var version: String

    /// A resource.
    public init(attributes: [(name: StaticString, value: String)], version: String) {
        self.attributes = attributes
        self.version = version
    }
}
