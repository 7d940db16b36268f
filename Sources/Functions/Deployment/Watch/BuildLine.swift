import EventLoop
import PluginBuild

/// Builds one product after the other on a separate thread. Belongs to the home loop.
final class BuildLine {
    /// The outcome of a build, with the current sources of the product.
    struct Ending: Sendable {
        var result: Result<FastBuild.Outcome, BuildFailure>
        var origins: ProductOrigins?
        var seconds: Double
    }

    let package: PackageBuild
    private let thread: LoopThread
    private let builder: LoopBound<FastBuild>
    private var cancellation: BuildCancellation?

    /// - Throws: `LoopError` if no thread or descriptor is left.
    init(_ package: PackageBuild) throws(LoopError) {
        self.package = package
        thread = try LoopThread()
        builder = LoopBound(FastBuild(package), loop: thread.loop)
    }

    /// Builds a product, after the builds that were requested before.
    func build(_ product: String, progress: @escaping @Sendable (BuildProgress) -> Void) async -> Ending {
        let cancellation = BuildCancellation()
        self.cancellation = cancellation
        return await onThread { builder in
            let start = EventLoop.monotonicNanoseconds()
            let result: Result<FastBuild.Outcome, BuildFailure>
            do throws(BuildFailure) {
                result = .success(try builder.build(product, cancellation: cancellation, progress: progress))
            } catch {
                result = .failure(error)
            }
            let seconds = Double(EventLoop.monotonicNanoseconds() - start) / 1e9
            return Ending(result: result, origins: builder.origins(of: product), seconds: seconds)
        }
    }

    /// The sources of products, if a build has ever computed them.
    func origins(of products: [String]) async -> [String: ProductOrigins] {
        await onThread { builder in
            var origins: [String: ProductOrigins] = [:]
            for product in products { origins[product] = builder.origins(of: product) }
            return origins
        }
    }

    private func onThread<Answer: Sendable>(_ work: @escaping @Sendable (FastBuild) -> Answer) async -> Answer {
        await withCheckedContinuation { continuation in
            thread.loop.post { [builder] in continuation.resume(returning: work(builder.value)) }
        }
    }

    /// Stops the current build, because it is out of date.
    func cancel() { cancellation?.cancel() }

    /// Ends the thread. Waits the short time that it takes to kill a compiler.
    func stop() {
        cancel()
        thread.join()
    }
}
