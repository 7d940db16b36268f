import Configuration

/// A function that requests can reach: its options as they hold now, and the pool that runs it.
final class RegisteredFunction: @unchecked Sendable {
    // Unchecked: all of it is constant, and the pool is used on its dispatcher's loop only.

    let name: String
    /// The name, ended by a zero byte, as `invoke` frames begin.
    let nameBytes: [UInt8]
    /// Its position in the manifest.
    let index: UInt32
    /// The number of its version.
    let version: Int
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
    /// How many of a hundred invocations go to ``alternative``; 0 for nearly every function.
    let alternativePercent: Int
    /// Another version of the function, while calls are split between two.
    let alternative: RegisteredFunction?

    init(
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

    var isCallable: Bool { trigger == .callable }

    /// The first region; part of its URL.
    var region: String { options.regions.first ?? "us-central1" }
}

/// Chance, for choosing between two versions: fast, and nobody's secret.
struct TrafficDice {
    private var state = UInt64.random(in: .min ... .max)

    /// Which version of a function whose calls are split gets the next one.
    mutating func choose(_ function: RegisteredFunction) -> RegisteredFunction {
        guard let alternative = function.alternative, roll(below: function.alternativePercent) else { return function }
        return alternative
    }

    /// True in so many of a hundred cases.
    mutating func roll(below percent: Int) -> Bool {
        // SplitMix64.
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = (state ^ (state >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        mixed ^= mixed >> 31
        return Int(mixed.multipliedFullWidth(by: 100).high) < percent
    }
}
