/// A function that runs when a value comes into being at a place where none was.
///
///     OnValueCreated("makeUppercase", ref: "/messages/{pushId}/original") { (event: DatabaseEvent<String>) in
///         try await event.ref.parent?.child("uppercase").setValue(event.data.uppercased())
///     }
///
/// A write above the place counts as well: it runs the function once for each matching place below whose value it changes. So
/// does a write below it. The function runs after the write is durable, and what it throws is a failure of the event.
public struct OnValueCreated: FunctionsContent {
    /// The one function.
    public let definitions: [FunctionDefinition]

    /// A function with snapshots of what was written.
    ///
    /// - Parameters:
    ///   - ref: the places: a path with `{name}` for a key that `event.params` has, `*` for any key, and once `{name=**}`
    ///     or `**` for several.
    ///   - instance: the databases: a name, or a pattern with `*`. Default: all.
    ///   - retry: whether a failed event comes again, less and less often, for a day. Default: it does not.
    public init(
        _ name: String,
        ref: String,
        instance: String = "*",
        retry: Bool = false,
        region: [String]? = nil,
        memory: Memory? = nil,
        timeoutSeconds: Int? = nil,
        cpu: Double? = nil,
        concurrency: Int? = nil,
        minInstances: Int? = nil,
        maxInstances: Int? = nil,
        secrets: [SecretParam]? = nil,
        labels: [String: String]? = nil,
        ingressSettings: IngressSettings? = nil,
        serviceAccount: String? = nil,
        vpc: VPC? = nil,
        omit: Bool? = nil,
        _ handler: @escaping @Sendable (DatabaseEvent<DataSnapshot>) async throws -> Void
    ) {
        let options = Options(
            region: region, memory: memory, timeoutSeconds: timeoutSeconds, cpu: cpu, concurrency: concurrency,
            minInstances: minInstances, maxInstances: maxInstances, secrets: secrets, labels: labels,
            ingressSettings: ingressSettings, serviceAccount: serviceAccount, vpc: vpc, omit: omit)
        let trigger = DatabaseTrigger(kind: .created, ref: ref, instance: instance, retry: retry)
        definitions = [FunctionDefinition(name, options, trigger, reading: EventPayload.createdSnapshot, handler)]
    }

    /// The same with a value of a type: `DatabaseEvent<Message>`. A value of another shape is a failure.
    public init<Value: Decodable & SendableMetatype>(
        _ name: String,
        ref: String,
        instance: String = "*",
        retry: Bool = false,
        region: [String]? = nil,
        memory: Memory? = nil,
        timeoutSeconds: Int? = nil,
        cpu: Double? = nil,
        concurrency: Int? = nil,
        minInstances: Int? = nil,
        maxInstances: Int? = nil,
        secrets: [SecretParam]? = nil,
        labels: [String: String]? = nil,
        ingressSettings: IngressSettings? = nil,
        serviceAccount: String? = nil,
        vpc: VPC? = nil,
        omit: Bool? = nil,
        _ handler: @escaping @Sendable (DatabaseEvent<Value>) async throws -> Void
    ) {
        let options = Options(
            region: region, memory: memory, timeoutSeconds: timeoutSeconds, cpu: cpu, concurrency: concurrency,
            minInstances: minInstances, maxInstances: maxInstances, secrets: secrets, labels: labels,
            ingressSettings: ingressSettings, serviceAccount: serviceAccount, vpc: vpc, omit: omit)
        let trigger = DatabaseTrigger(kind: .created, ref: ref, instance: instance, retry: retry)
        definitions = [FunctionDefinition(name, options, trigger, reading: EventPayload.created, handler)]
    }
}
