import Foundation
import PackagePlugin

/// Adds the library's entry point to a plugin: the one C function that Hearth looks up, for the global `functions`.
@main
struct HearthEntryPoint: BuildToolPlugin {
    func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
        let source = """
            import HearthFunctions

            @c(hearth_plugin_entry)
            public func hearthPluginEntry(_ host: UnsafeRawPointer) -> UnsafeRawPointer? { functions.attach(to: host) }

            """
        let file = context.pluginWorkDirectoryURL.appending(path: "HearthEntry.swift")
        return [
            .buildCommand(
                displayName: "Adding the entry point of \(target.name)", executable: URL(filePath: "/bin/sh"),
                arguments: ["-c", "printf '%s' \"$1\" > \"$2\"", "sh", source, file.path(percentEncoded: false)], inputFiles: [],
                outputFiles: [file])
        ]
    }
}
