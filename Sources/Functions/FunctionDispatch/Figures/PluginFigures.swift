import Metrics

/// What is counted of the instances of one plugin, whatever version of it. Plain numbers, on the dispatcher's loop only.
package final class PluginFigures {
    package let plugin: String
    /// From an instance's start until its plugin is loaded.
    package var starts = DurationHistogram()
    /// Instances that ended when they were told to.
    package var ends = 0
    /// Instances that ended otherwise: crashes, kills, plugins that cannot be loaded.
    package var crashes = 0

    init(plugin: String) { self.plugin = plugin }
}

/// How many instances of a pool are in which state, and what waits for them.
package struct PoolFigures: Sendable {
    package var plugin: String
    /// The first letters of the artifact's hash.
    package var artifact: String
    package var starting = 0
    package var idle = 0
    package var busy = 0
    package var draining = 0
    package var waiting = 0

    var empty: PoolFigures { PoolFigures(plugin: plugin, artifact: artifact) }

    mutating func merge(_ other: PoolFigures) {
        starting += other.starting
        idle += other.idle
        busy += other.busy
        draining += other.draining
        waiting += other.waiting
    }
}
