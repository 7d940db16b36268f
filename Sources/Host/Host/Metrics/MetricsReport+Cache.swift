import FunctionServices
import Metrics

extension MetricsReport {
    func writeCache(_ all: [(plugin: String, figures: CacheFigures)], to set: inout MetricSet) {
        set.begin("hearth_cache_entries", .gauge, "Values in the cache of a plugin.")
        for (plugin, figures) in all { set.sample([("plugin", plugin)], figures.entries) }
        set.begin("hearth_cache_bytes", .gauge, "The memory of these values.")
        for (plugin, figures) in all { set.sample([("plugin", plugin)], figures.bytes) }
        set.begin("hearth_cache_reads_total", .counter, "Reads of the cache, by whether there was a value.")
        for (plugin, figures) in all {
            set.sample([("plugin", plugin), ("outcome", "hit")], figures.hits)
            set.sample([("plugin", plugin), ("outcome", "miss")], figures.misses)
        }
        set.begin("hearth_cache_removals_total", .counter, "Values that were removed for newer ones, or because their time was over.")
        for (plugin, figures) in all {
            set.sample([("plugin", plugin), ("reason", "evicted")], figures.evictions)
            set.sample([("plugin", plugin), ("reason", "expired")], figures.expirations)
        }
    }
}
