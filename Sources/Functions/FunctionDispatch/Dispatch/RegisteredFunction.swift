import Configuration
import Telemetry

/// A deployed function: its current options, and the pool that runs it.
public final class RegisteredFunction: @unchecked Sendable {
    // Unchecked: all members are constant. Of the pool, other loops than the dispatcher's use only `lanes`, which is constant too.

    package let name: String
    /// The name with a terminating zero byte, as in `invoke` frames.
    let nameBytes: [UInt8]
    /// Its index in the manifest.
    let index: UInt32
    /// The number of its version.
    package let version: Int
    package let artifact: Artifact
    package let trigger: Trigger
    /// 1 or 2. The first generation has no streaming.
    package let generation: Int
    package let options: FunctionOptions
    package let pool: WorkerPool
    /// `timeoutSeconds` in milliseconds.
    package let timeoutMilliseconds: UInt64
    /// Its metrics.
    let figures: FunctionFigures
    /// Records its invocations for traces; nil if none are recorded.
    let tracing: Tracing?
    /// The percentage of invocations that go to ``alternative``; usually 0.
    package let alternativePercent: Int
    /// Another version of the function, while calls are split between two versions.
    package let alternative: RegisteredFunction?

    package init(
        declaration: FunctionDeclaration, version: Int, options: FunctionOptions, artifact: Artifact, pool: WorkerPool,
        alternative: RegisteredFunction? = nil, alternativePercent: Int = 0
    ) {
        name = declaration.name
        nameBytes = Array(declaration.name.utf8) + [0]
        index = UInt32(declaration.index)
        self.version = version
        self.artifact = artifact
        trigger = declaration.trigger
        generation = declaration.generation
        self.options = options
        self.pool = pool
        figures = pool.dispatcher.figures.figures(of: declaration.name, version: version)
        tracing = pool.dispatcher.tracing
        timeoutMilliseconds = UInt64(options.timeoutSeconds * 1000)
        self.alternative = alternative
        self.alternativePercent = alternative == nil ? 0 : alternativePercent
    }

    package var isCallable: Bool { trigger == .callable }

    /// The first region, which is part of the function's URL.
    package var region: String { options.regions.first ?? "us-central1" }
}
