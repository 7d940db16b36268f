import Configuration

/// A function that requests can reach: its options as they hold now, and the pool that runs it.
public final class RegisteredFunction: @unchecked Sendable {
    // Unchecked: all of it is constant, and the pool is used on its dispatcher's loop only.

    package let name: String
    /// The name, ended by a zero byte, as `invoke` frames begin.
    let nameBytes: [UInt8]
    /// Its position in the manifest.
    let index: UInt32
    /// The number of its version.
    package let version: Int
    package let artifact: Artifact
    package let trigger: Trigger
    /// 1 or 2: the first has no streaming.
    package let generation: Int
    package let options: FunctionOptions
    package let pool: WorkerPool
    /// `timeoutSeconds` in milliseconds.
    package let timeoutMilliseconds: UInt64
    /// What is counted of it; belongs to the pool's loop.
    let figures: FunctionFigures
    /// How many of a hundred invocations go to ``alternative``; 0 for nearly every function.
    package let alternativePercent: Int
    /// Another version of the function, while calls are split between two.
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
        timeoutMilliseconds = UInt64(options.timeoutSeconds * 1000)
        self.alternative = alternative
        self.alternativePercent = alternative == nil ? 0 : alternativePercent
    }

    package var isCallable: Bool { trigger == .callable }

    /// The first region; part of its URL.
    package var region: String { options.regions.first ?? "us-central1" }
}
