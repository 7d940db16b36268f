import Glibc

/// Builds dynamic library products of a Swift package with the package manager.
///
/// Blocks while compilers run: for a thread that may wait. Usable from several threads; the package manager itself serializes builds of a
/// package.
public struct PackageBuild: Sendable {
    /// The argument of `swift build -c`.
    public enum Configuration: String, Sendable, CaseIterable {
        case release
        case debug
    }

    /// The result of a build.
    public struct Outcome: Sendable {
        /// The library of each product.
        public var libraries: [String: String]
        /// Warnings, verbatim.
        public var diagnostics: String
    }

    /// The folder of `Package.swift`, absolute and without links.
    public let directory: String
    /// The configuration, which names the folder of the libraries in `.build`.
    public let configuration: Configuration
    /// The toolchain to build with.
    public let toolchain: Toolchain

    /// - Parameters:
    ///   - directory: the folder of `Package.swift`.
    ///   - toolchain: nil for the result of ``Toolchain/find(path:)``.
    /// - Throws: `BuildFailure` if there is no toolchain or no package.
    public init(directory: String, configuration: Configuration, toolchain: Toolchain? = nil) throws(BuildFailure) {
        guard let toolchain = toolchain ?? Toolchain.find() else {
            throw BuildFailure(.noToolchain, "there is no Swift to build plugins with; \(Toolchain.advice)")
        }
        guard let resolved = realpath(directory, nil) else {
            throw BuildFailure(.package, "the folder \(directory) cannot be opened: \(String(cString: strerror(errno)))")
        }
        defer { free(resolved) }
        self.directory = String(cString: resolved)
        self.configuration = configuration
        self.toolchain = toolchain
        guard access("\(self.directory)/Package.swift", R_OK) == 0 else {
            throw BuildFailure(
                .package, "\(directory) has no Package.swift; put functions.json beside it, or name a \"library\" instead of a \"product\"")
        }
    }

    /// The path of a product's library after a build.
    public func libraryPath(of product: String) -> String { "\(directory)/.build/\(configuration.rawValue)/lib\(product).so" }

    /// The equivalent shell command.
    public func command(for product: String) -> String { Self.command(configuration, product: product) }

    /// The shell command that builds a product. Without colours: on a terminal they change the compiler's arguments, and a build with other
    /// arguments compiles everything again.
    public static func command(_ configuration: Configuration, product: String) -> String {
        "swift build -c \(configuration.rawValue) --no-color-diagnostics --product \(product)"
    }

    /// Builds products one after the other; stops at the first failure.
    ///
    /// - Parameters:
    ///   - cancellation: cancels from another thread; no started process remains.
    ///   - progress: called on this thread.
    public func build(
        products: [String], cancellation: BuildCancellation = BuildCancellation(), progress: (BuildProgress) -> Void = { _ in }
    ) throws(BuildFailure) -> Outcome {
        var outcome = Outcome(libraries: [:], diagnostics: "")
        for product in products where outcome.libraries[product] == nil {
            outcome.diagnostics += try build(product, cancellation, progress)
            outcome.libraries[product] = libraryPath(of: product)
        }
        return outcome
    }

    private func build(
        _ product: String, _ cancellation: BuildCancellation, _ progress: (BuildProgress) -> Void
    ) throws(BuildFailure) -> String {
        let arguments = [toolchain.swift, "build", "-c", configuration.rawValue, "--product", product]
        let process = try KeptProcess(arguments, environment: Environment.inherited(), directory: directory, cancellation: cancellation)
        var output = PackageOutput()
        func tell(_ step: PackageOutput.Step) {
            progress(BuildProgress(product: product, step: step.number, steps: step.count, text: step.text))
        }
        let status = process.run { output.read($0, tell) }
        output.finish(tell)
        let diagnostics = String(decoding: output.diagnostics, as: UTF8.self)
        if cancellation.isCancelled { throw BuildFailure(.cancelled, "the build of \(product) was cancelled") }
        guard status == 0 else { throw failure(product, status, diagnostics) }
        try check(libraryPath(of: product), product)
        return diagnostics
    }

    private func failure(_ product: String, _ status: Int, _ diagnostics: String) -> BuildFailure {
        if status == 127 { return BuildFailure(.noToolchain, "\(toolchain.swift) cannot be run; \(Toolchain.advice)") }
        if diagnostics.contains("error: no product named") {
            return BuildFailure(
                .package, "the package in \(directory) has no product \(product); add it to Package.swift, or correct functions.json",
                diagnostics: diagnostics)
        }
        if status > 128 {
            return BuildFailure(
                .packageManager, "the build of \(product) was ended by signal \(status - 128); try: \(command(for: product))",
                diagnostics: diagnostics)
        }
        // Diagnostics of the compiler name a position; others are the package manager's.
        let isCompiler = diagnostics.split(separator: "\n").contains { $0.contains(": error: ") && $0.first != "e" }
        let sentence =
            isCompiler
            ? "\(product) does not compile: correct the errors that the compiler reports"
            : "\(product) could not be built; try: \(command(for: product))"
        return BuildFailure(isCompiler ? .compile : .packageManager, sentence, diagnostics: diagnostics)
    }

    private func check(_ library: String, _ product: String) throws(BuildFailure) {
        guard access(library, R_OK) != 0 else { return }
        throw BuildFailure(
            .package, "the product \(product) is not a dynamic library; declare it in Package.swift with type: .dynamic")
    }
}

/// The lock that the package manager holds during a build, so that builds by hand and builds of the host exclude each other.
///
/// A file in the temporary folder, named after the path of `.build`; a file in `.build` names the holder.
struct PackageLock: ~Copyable {
    private let descriptor: Int32

    /// Nil if another build is running or the lock cannot be taken: then the package manager, which can wait for it, has to build.
    init?(directory: String) {
        guard let descriptor = Self.acquire(directory) else { return nil }
        self.descriptor = descriptor
    }

    private static func acquire(_ directory: String) -> Int32? {
        guard let path = path(directory) else { return nil }
        let descriptor = open(path, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o666)
        guard descriptor >= 0 else { return nil }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            close(descriptor)
            return nil
        }
        let owner = open("\(directory)/.build/.lock", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        guard owner >= 0 else { return descriptor }
        let pid = Array("\(getpid())".utf8)
        _ = write(owner, pid, pid.count)
        close(owner)
        return descriptor
    }

    /// The package manager's lock file; nil for a name that is too long, which it would shorten.
    static func path(_ directory: String) -> String? {
        let name = "\(directory)/.build.lock".split(separator: "/", omittingEmptySubsequences: false).joined(separator: "_")
        let variables: [String] = ["TMPDIR", "TEMP", "TMP"]
        let folder = variables.compactMap { getenv($0).map { String(cString: $0) } }.first ?? "/tmp"
        return name.utf8.count > 255 ? nil : "\(folder)/\(name)"
    }

    deinit { close(descriptor) }
}
