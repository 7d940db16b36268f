import Configuration

/// A function that requests can reach: its options as they hold now, and the pool that runs it.
final class RegisteredFunction: @unchecked Sendable {
    // Unchecked: all of it is constant, and the pool is used on its dispatcher's loop only.

    let name: String
    /// The name, ended by a zero byte, as `invoke` frames begin.
    let nameBytes: [UInt8]
    /// Its position in the manifest.
    let index: UInt32
    let artifact: Artifact
    let trigger: Trigger
    /// 1 or 2: the first has no streaming.
    let generation: Int
    let options: FunctionOptions
    let pool: WorkerPool
    /// `timeoutSeconds` in milliseconds.
    let timeoutMilliseconds: UInt64
    /// What is counted of it; belongs to the pool's loop.
    let figures: FunctionFigures

    init(declaration: FunctionDeclaration, options: FunctionOptions, artifact: Artifact, pool: WorkerPool) {
        name = declaration.name
        nameBytes = Array(declaration.name.utf8) + [0]
        index = UInt32(declaration.index)
        self.artifact = artifact
        trigger = declaration.trigger
        generation = declaration.generation
        self.options = options
        self.pool = pool
        figures = pool.dispatcher.figures.figures(of: declaration.name, version: 1)
        timeoutMilliseconds = UInt64(options.timeoutSeconds * 1000)
    }

    var isCallable: Bool { trigger == .callable }

    /// The first region; part of its URL.
    var region: String { options.regions.first ?? "us-central1" }
}
