import CommandClient
import Configuration
import HearthJSON

/// Which plugins of `functions.json` a deployment needs.
struct PluginSelection {
    /// In the order of the file.
    let plugins: [PluginSettings]
    /// Whether some were left out because the host knows in which plugins the named functions are.
    let isNarrowed: Bool

    /// Those that can hold what is meant. A function that the host has is looked for in the plugin that it had: building the others
    /// would only take time.
    init(
        _ configuration: Configuration, only: FunctionFilter?, except: FunctionFilter?, on host: [HostFunction], isNarrowing: Bool = true
    ) {
        let names = configuration.plugins.map(\.name)
        var needed: Set<String> = []
        var isNarrowed = false
        for item in only?.items ?? [] {
            if let plugin = item.plugin {
                needed.insert(plugin)
            } else if isNarrowing, let found = host.first(where: { $0.name == item.name }), names.contains(found.plugin),
                !host.contains(where: { $0.plugin != found.plugin && item.matches(plugin: $0.plugin, function: $0.name) }) {
                needed.insert(found.plugin)
                isNarrowed = true
            } else {
                needed.formUnion(names)
            }
        }
        let whole = (except?.items ?? []).filter { $0.name == nil }
        plugins = configuration.plugins.filter { plugin in
            (only == nil || needed.contains(plugin.name)) && !whole.contains { $0.plugin == nil || $0.plugin == plugin.name }
        }
        self.isNarrowed = isNarrowed && plugins.count < configuration.plugins.count
    }
}
