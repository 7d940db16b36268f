import Metrics

/// Metrics of the instances of a plugin, over all its versions. Used on the dispatcher's loop only.
package final class PluginFigures {
    package let plugin: String
    /// Times from the start of an instance to the end of loading its plugin.
    package var starts = DurationHistogram()
    /// Instances that ended because the host asked them to.
    package var ends = 0
    /// Instances that ended in another way: crashes, kills, plugins that cannot be loaded.
    package var crashes = 0

    init(plugin: String) { self.plugin = plugin }
}

/// The numbers of a pool's instances in each state, and of the invocations that wait.
package struct PoolFigures: Sendable {
    package var plugin: String
    /// The first digits of the artifact's hash.
    package var artifact: String
    package var starting = 0
    package var idle = 0
    package var busy = 0
    package var draining = 0
    package var waiting = 0
    /// The ids of the worker processes.
    package var processes: [Int32] = []

    var empty: PoolFigures { PoolFigures(plugin: plugin, artifact: artifact) }

    mutating func merge(_ other: PoolFigures) {
        starting += other.starting
        idle += other.idle
        busy += other.busy
        draining += other.draining
        waiting += other.waiting
        processes += other.processes
    }
}
