/// How a function runs: `OnCall("resize", options: Options(memory: .gib1, timeoutSeconds: 120)) { ... }`.
///
/// An option that is not given has the value that `Functions(defaults:)` gives, else the host's. `functions.json` overrides all of
/// them for one deployment. A value out of range keeps the plugin from loading; the log names function, option and range. The host
/// logs a warning for an option that does nothing, either on this host or for this kind of function.
public struct Options: Sendable {
    /// The regions in the function's URL. Default `us-central1`.
    public var region: [String]?
    /// Memory of a worker. Default 256 MiB.
    public var memory: Memory?
    /// Seconds until the caller gets `deadline-exceeded`, from 0 (the default of 60) to 3600.
    public var timeoutSeconds: Int?
    /// Processors of a worker: 0.08 to 1, 2, 4, 6 or 8.
    public var cpu: Double?
    /// Calls that a worker takes at a time, from 1 to 1000.
    public var concurrency: Int?
    /// Workers that are kept ready. Default 0.
    public var minInstances: Int?
    /// Workers at most. Further calls are queued, then refused.
    public var maxInstances: Int?
    /// Secrets that the function may read.
    public var secrets: [SecretParam]?
    /// Labels that tools filter by. At most 58.
    public var labels: [String: String]?
    /// The networks from which the function may be reached.
    public var ingressSettings: IngressSettings?
    /// The callers that are allowed. Of an `OnRequest` only.
    public var invoker: Invoker?
    /// The account of the function on Google's servers: "default", an address, or "name@". Does nothing on a host of Hearth.
    public var serviceAccount: String?
    /// The private network that the function's requests leave through. Does nothing on a host of Hearth.
    public var vpc: VPC?
    /// Whether a call without a valid App Check token is refused. Of an `OnCall` only. Default false.
    public var enforceAppCheck: Bool?
    /// Whether an App Check token counts as used afterwards; see `AppCheckData.alreadyConsumed`. Of an `OnCall` only.
    public var consumeAppCheckToken: Bool?
    /// The web pages that may call. Default: all for `OnCall`, none for `OnRequest`.
    public var cors: CORS?
    /// How often a silent stream sends a heartbeat. Of an `OnCall` only. Default every 30 seconds.
    public var heartbeatSeconds: Heartbeat?
    /// The form of a heartbeat. Of an `OnCall` only. Default `padding`, which every client understands.
    public var heartbeatStyle: HeartbeatStyle?
    /// Whether the function is left out: neither deployed nor served.
    public var omit: Bool?
    /// The hosts that the function may send requests to with `http`, such as `["api.example.com", "10.0.0.5:8080"]`. Default: every public
    /// host. `docs/outgoing-http.md` of Hearth's sources describes the entries.
    public var allowedHosts: [String]?

    /// Options. Those that are not given stay open.
    public init(
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
        invoker: Invoker? = nil,
        serviceAccount: String? = nil,
        vpc: VPC? = nil,
        enforceAppCheck: Bool? = nil,
        consumeAppCheckToken: Bool? = nil,
        cors: CORS? = nil,
        heartbeatSeconds: Heartbeat? = nil,
        heartbeatStyle: HeartbeatStyle? = nil,
        omit: Bool? = nil,
        allowedHosts: [String]? = nil
    ) {
        self.region = region
        self.memory = memory
        self.timeoutSeconds = timeoutSeconds
        self.cpu = cpu
        self.concurrency = concurrency
        self.minInstances = minInstances
        self.maxInstances = maxInstances
        self.secrets = secrets
        self.labels = labels
        self.ingressSettings = ingressSettings
        self.invoker = invoker
        self.serviceAccount = serviceAccount
        self.vpc = vpc
        self.enforceAppCheck = enforceAppCheck
        self.consumeAppCheckToken = consumeAppCheckToken
        self.cors = cors
        self.heartbeatSeconds = heartbeatSeconds
        self.heartbeatStyle = heartbeatStyle
        self.omit = omit
        self.allowedHosts = allowedHosts
    }

    /// These options, with open ones taken from `defaults`. Labels of both are kept; of equal names these options' label counts.
    func filled(from defaults: Options) -> Options {
        var all = labels
        if let common = defaults.labels { all = common.merging(labels ?? [:]) { _, own in own } }
        return Options(
            region: region ?? defaults.region,
            memory: memory ?? defaults.memory,
            timeoutSeconds: timeoutSeconds ?? defaults.timeoutSeconds,
            cpu: cpu ?? defaults.cpu,
            concurrency: concurrency ?? defaults.concurrency,
            minInstances: minInstances ?? defaults.minInstances,
            maxInstances: maxInstances ?? defaults.maxInstances,
            secrets: secrets ?? defaults.secrets,
            labels: all,
            ingressSettings: ingressSettings ?? defaults.ingressSettings,
            invoker: invoker ?? defaults.invoker,
            serviceAccount: serviceAccount ?? defaults.serviceAccount,
            vpc: vpc ?? defaults.vpc,
            enforceAppCheck: enforceAppCheck ?? defaults.enforceAppCheck,
            consumeAppCheckToken: consumeAppCheckToken ?? defaults.consumeAppCheckToken,
            cors: cors ?? defaults.cors,
            heartbeatSeconds: heartbeatSeconds ?? defaults.heartbeatSeconds,
            heartbeatStyle: heartbeatStyle ?? defaults.heartbeatStyle,
            omit: omit ?? defaults.omit,
            allowedHosts: allowedHosts ?? defaults.allowedHosts)
    }

    /// These options without those that do nothing for functions of `trigger`.
    func limited(to trigger: FunctionDefinition.Trigger) -> Options {
        var limited = self
        switch trigger {
        case .callable: limited.invoker = nil
        case .http: limited.removeCallOptions()
        case .database, .user, .blocking, .schedule, .taskQueue:
            limited.removeCallOptions()
            (limited.invoker, limited.cors, limited.ingressSettings) = (nil, nil, nil)
        }
        return limited
    }

    private mutating func removeCallOptions() {
        (enforceAppCheck, consumeAppCheckToken, heartbeatSeconds, heartbeatStyle) = (nil, nil, nil, nil)
    }
}
