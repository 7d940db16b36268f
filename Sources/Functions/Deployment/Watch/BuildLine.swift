import EventLoop
import PluginBuild

/// Builds one product after the other on a thread of its own. Belongs to the home loop.
final class BuildLine {
    /// What came of a build, with what the product is made from now.
    struct Ending: Sendable {
        var result: Result<FastBuild.Outcome, BuildFailure>
        var origins: ProductOrigins?
        var seconds: Double
    }

    let package: PackageBuild
    private let home: EventLoop
    private let thread: LoopThread
    private let builder: LoopBound<FastBuild>
    private var cancellation: BuildCancellation?

    /// - Throws: `LoopError` when there is no thread or descriptor left.
    init(_ package: PackageBuild, home: EventLoop) throws(LoopError) {
        self.package = package
        self.home = home
        thread = try LoopThread()
        builder = LoopBound(FastBuild(package), loop: thread.loop)
    }

    /// Builds, once what was asked before is done.
    ///
    /// - Parameter completion: called on the home loop.
    func build(
        _ product: String, progress: @escaping @Sendable (BuildProgress) -> Void, completion: @escaping (Ending) -> Void
    ) {
        let cancellation = BuildCancellation()
        self.cancellation = cancellation
        let done = LoopBound(completion, loop: home)
        thread.loop.post { [builder, home] in
            let start = EventLoop.monotonicNanoseconds()
            let result: Result<FastBuild.Outcome, BuildFailure>
            do throws(BuildFailure) {
                result = .success(try builder.value.build(product, cancellation: cancellation, progress: progress))
            } catch {
                result = .failure(error)
            }
            let seconds = Double(EventLoop.monotonicNanoseconds() - start) / 1e9
            let ending = Ending(result: result, origins: builder.value.origins(of: product), seconds: seconds)
            home.post { done.value(ending) }
        }
    }

    /// What products are made from, as far as a build has ever got to a plan.
    func origins(of products: [String], completion: @escaping ([String: ProductOrigins]) -> Void) {
        let done = LoopBound(completion, loop: home)
        thread.loop.post { [builder, home] in
            var origins: [String: ProductOrigins] = [:]
            for product in products { origins[product] = builder.value.origins(of: product) }
            home.post { [origins] in done.value(origins) }
        }
    }

    /// Stops what is being built, because it is out of date.
    func cancel() { cancellation?.cancel() }

    /// Ends the thread; waits the moment that it takes to kill a compiler.
    func stop() {
        cancel()
        thread.join()
    }
}
