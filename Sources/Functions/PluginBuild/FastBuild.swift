import Files
import Glibc

/// Builds products of a package repeatedly and fast: if only the contents of known sources have changed, it runs the compiler and linker
/// commands of the package manager's plan without the package manager.
///
/// Blocks. Belongs to one thread at a time.
public final class FastBuild {
    /// The result of a build.
    public struct Outcome: Sendable {
        /// The path of the library.
        public var library: String
        /// Warnings, verbatim.
        public var diagnostics: String
        /// Whether the package manager was skipped.
        public var isDirect: Bool
        /// Whether nothing had to be built.
        public var isUnchanged = false
    }

    /// The full build, used when more than contents has changed.
    public let package: PackageBuild
    private var states: [String: ProductState] = [:]

    /// The first build uses the package manager.
    public init(_ package: PackageBuild) { self.package = package }

    /// Builds a product.
    ///
    /// - Throws: `BuildFailure`; the library may then be missing or incomplete, but artifacts copied from it before are unaffected.
    public func build(
        _ product: String, cancellation: BuildCancellation, progress: (BuildProgress) -> Void = { _ in }
    ) throws(BuildFailure) -> Outcome {
        if let outcome = try buildDirectly(product, cancellation, progress) { return outcome }
        states[product]?.forgetUnseen()
        defer { states[product]?.didEnd() }
        let start = FileStamp.now()
        let outcome = try package.build(products: [product], cancellation: cancellation, progress: progress)
        states[product] = plan(of: product).map { ProductState($0, description: descriptionFile, start: start) }
        return Outcome(library: package.libraryPath(of: product), diagnostics: outcome.diagnostics, isDirect: false)
    }

    /// The files and folders that a product is built from, outside `.build`; nil until a build has made a plan.
    public func origins(of product: String) -> ProductOrigins? {
        guard let plan = states[product]?.plan ?? plan(of: product) else { return nil }
        return ProductOrigins(plan, directory: package.directory)
    }

    private var descriptionFile: String { "\(package.directory)/.build/\(package.configuration.rawValue).yaml" }

    private func plan(of product: String) -> ProductPlan? {
        guard let bytes = try? WholeFile.read(descriptionFile, sizeBytesMax: BuildDescription.sizeBytesMax),
            let description = try? BuildDescription(parsing: bytes)
        else { return nil }
        return ProductPlan(description, library: "/\(package.configuration.rawValue)/lib\(product).so", directory: package.directory)
    }

    /// Nil if the package manager has to build.
    private func buildDirectly(
        _ product: String, _ cancellation: BuildCancellation, _ progress: (BuildProgress) -> Void
    ) throws(BuildFailure) -> Outcome? {
        guard states[product] != nil, let lock = PackageLock(directory: package.directory) else { return nil }
        defer { withExtendedLifetime(lock) {} }
        guard var state = states[product], let changed = state.changes() else { return nil }
        guard let steps = state.plan.steps(for: Set(changed.keys)) else { return nil }
        var diagnostics: [UInt8] = []
        state.forgetUnseen()
        // Keep the state also after a failure, so that the next build redoes partial outputs.
        defer { states[product] = state }
        for (index, step) in steps.enumerated() {
            progress(BuildProgress(product: product, step: index, steps: steps.count, text: step.text))
            let status = try run(step, cancellation, &diagnostics)
            state.didRun([step])
            let text = String(decoding: diagnostics, as: UTF8.self)
            if cancellation.isCancelled { throw BuildFailure(.cancelled, "the build of \(product) was cancelled") }
            guard status == 0 else {
                throw BuildFailure(.compile, "\(product) does not compile: correct the errors that the compiler reports", diagnostics: text)
            }
        }
        state.didBuild(changed, steps)
        return Outcome(
            library: package.libraryPath(of: product), diagnostics: String(decoding: diagnostics, as: UTF8.self), isDirect: true,
            isUnchanged: steps.isEmpty)
    }

    private func run(
        _ step: ProductPlan.Step, _ cancellation: BuildCancellation, _ diagnostics: inout [UInt8]
    ) throws(BuildFailure) -> Int {
        // The plan requests machine-readable messages; these are for people.
        let arguments = step.arguments.filter { $0 != "-parseable-output" }
        let process = try KeptProcess(
            arguments, environment: Environment.inherited(), directory: package.directory, cancellation: cancellation)
        var written: [UInt8] = []
        let status = process.run { bytes in
            if written.count < PackageOutput.diagnosticsBytesMax { written += bytes }
        }
        diagnostics += written
        return status
    }
}
