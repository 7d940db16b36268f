import Configuration
import EventDelivery
import FunctionWorker
import Glibc
import PluginBuild
import Schedules

/// Checks a plugin of `functions.json` as a deployment would, without a host: the headers of its library, its manifest, its environment.
package struct PluginExamination {
    /// The functions with their effective options.
    package let functions: [(declaration: FunctionDeclaration, options: FunctionOptions)]
    /// Warnings about manifest and environment files.
    package let warnings: [String]

    /// Loads the library in a process of its own. Blocks.
    ///
    /// - Parameter program: as for `LibraryProbe`.
    /// - Throws: the first reason why the plugin cannot be served.
    package init(_ plugin: PluginSettings, in configuration: Configuration, program: String) throws(PluginRefusal) {
        let file = try plugin.libraryFile(in: configuration.productFolders)
        try Self.checkHeaders(file)
        let bytes: [UInt8]
        do throws(BuildFailure) {
            bytes = try LibraryProbe.manifest(of: file, program: program)
        } catch {
            let lines = error.diagnostics.split(separator: "\n")
            throw PluginRefusal(lines.last.map { "\($0)" } ?? error.description)
        }
        let manifest = try ManifestLibrary.checked(bytes, file)
        do throws(ConfigurationErrors) {
            let environment = try PluginEnvironment.load(
                plugin: plugin, manifest: manifest, configuration: configuration, address: "127.0.0.1:\(configuration.server.port)")
            var functions: [(FunctionDeclaration, FunctionOptions)] = []
            for declaration in manifest.functions {
                functions.append((declaration, try declaration.resolved(in: configuration, parameters: environment.parameters)))
            }
            self.functions = functions
            warnings = (manifest.warnings + environment.warnings).map(\.description)
        } catch {
            throw PluginRefusal(error.sentence)
        }
    }

    private static func checkHeaders(_ file: String) throws(PluginRefusal) {
        let descriptor = open(file, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw PluginRefusal("\(file): cannot be read: \(String(cString: strerror(errno)))") }
        defer { close(descriptor) }
        try LibraryFile(descriptor: descriptor, name: file).check()
    }
}
