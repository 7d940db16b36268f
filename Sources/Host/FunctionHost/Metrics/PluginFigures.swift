import Metrics

/// What is counted of the instances of one plugin, whatever version of it. Plain numbers, on the dispatcher's loop only.
final class PluginFigures {
    let plugin: String
    /// From an instance's start until its plugin is loaded.
    var starts = DurationHistogram()
    /// Instances that ended when they were told to.
    var ends = 0
    /// Instances that ended otherwise: crashes, kills, plugins that cannot be loaded.
    var crashes = 0

    init(plugin: String) { self.plugin = plugin }
}

/// How many instances of a pool are in which state, and what waits for them.
struct PoolFigures: Sendable {
    var plugin: String
    /// The first letters of the artifact's hash.
    var artifact: String
    var starting = 0
    var idle = 0
    var busy = 0
    var draining = 0
    var waiting = 0

    var empty: PoolFigures { PoolFigures(plugin: plugin, artifact: artifact) }

    mutating func merge(_ other: PoolFigures) {
        starting += other.starting
        idle += other.idle
        busy += other.busy
        draining += other.draining
        waiting += other.waiting
    }
}

extension WorkerPool {
    var figures: PoolFigures {
        var figures = PoolFigures(plugin: artifact.name, artifact: artifact.version)
        figures.waiting = waitingCount
        for worker in workers {
            switch worker.state {
            case .starting: figures.starting += 1
            case .ready where worker.inFlight == 0: figures.idle += 1
            case .ready: figures.busy += 1
            case .draining: figures.draining += 1
            case .ended: break
            }
        }
        return figures
    }
}
