import Configuration
import EventLoop
import FunctionDispatch
import FunctionWorker
import Glibc
import PluginBuild

/// A plugin of `functions.json` in its present state on the disk.
struct LocalPlugin {
    var settings: PluginSettings
    var artifact: Artifact
    var manifest: PluginManifest
    /// The variables of its `.env` files.
    var environment: [String: String]

    var isIsolated: Bool { settings.isolation == .process }

    /// - Parameter functions: the functions that are served.
    func sight(functions: [String]) -> LocalSight {
        LocalSight(
            artifact: artifact.hash, file: artifact.displayName, isIsolated: isIsolated, environment: environment, functions: functions)
    }
}

extension PluginSettings {
    /// Finds the library's file.
    ///
    /// - Parameter folders: the build folders of products, the preferred one first.
    /// - Throws: `PluginRefusal` if there is none.
    func libraryFile(in folders: [String]) throws(PluginRefusal) -> String {
        switch source {
        case .library(let path):
            guard access(path, R_OK) == 0 else { throw PluginRefusal("\(path): cannot be read: \(String(cString: strerror(errno)))") }
            return path
        case .product(let product):
            let builds = folders.map { "\($0)/lib\(product).so" }
            guard let file = builds.first(where: { access($0, R_OK) == 0 }) else {
                let command = PackageBuild.command(folders[0].hasSuffix("debug") ? .debug : .release, product: product)
                throw PluginRefusal("\(builds[0]): does not exist; build the product \(product) with: \(command)")
            }
            return file
        }
    }
}

extension Deployer {
    /// Loads a plugin of `functions.json`: copies its library into the store, and reads its environment files and manifest.
    ///
    /// - Throws: `PluginRefusal` with the first reason why the plugin cannot be served.
    func loadLocal(_ settings: PluginSettings, _ configuration: Configuration) async throws(PluginRefusal) -> LocalPlugin {
        let (artifact, environment) = try await storeTurns.together { () async throws(PluginRefusal) -> (Artifact, [String: String]) in
            let found = try await loop.offload { [store] () throws(PluginRefusal) -> (hash: String, file: String, environment: [String: String]) in
                let file = try settings.libraryFile(in: configuration.productFolders)
                let environment = try settings.variables(in: configuration)
                return (try store.admit(file: file).hash, file, environment)
            }
            return (leases.artifact(plugin: settings.name, hash: found.hash, file: found.file), found.environment)
        }
        let manifest = try await manifests.manifest(of: artifact)
        return LocalPlugin(settings: settings, artifact: artifact, manifest: manifest, environment: environment)
    }
}

extension PluginSettings {
    fileprivate func variables(in configuration: Configuration) throws(PluginRefusal) -> [String: String] {
        do throws(ConfigurationErrors) {
            return try PluginEnvironment.variables(of: self, in: configuration)
        } catch {
            throw PluginRefusal(error.sentence)
        }
    }
}
