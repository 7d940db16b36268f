import Configuration
import EventLoop
import FunctionDispatch
import FunctionWorker
import Glibc
import PluginBuild

/// A plugin of `functions.json` as it is on the disk now.
struct LocalPlugin {
    var settings: PluginSettings
    var artifact: Artifact
    var manifest: PluginManifest
    /// Of its `.env` files.
    var environment: [String: String]

    var isIsolated: Bool { settings.isolation == .process }

    /// - Parameter functions: those of its functions that are served.
    func sight(functions: [String]) -> LocalSight {
        LocalSight(
            artifact: artifact.hash, file: artifact.displayName, isIsolated: isIsolated, environment: environment, functions: functions)
    }
}

extension PluginSettings {
    /// The library's file.
    ///
    /// - Parameter folders: where those of products are, first the one that is wanted.
    /// - Throws: `PluginRefusal` when there is none.
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
    /// Loads a plugin of `functions.json`: its library into the store, its files, its manifest.
    func loadLocal(
        _ settings: PluginSettings, _ configuration: Configuration, completion: @escaping (Result<LocalPlugin, PluginRefusal>) -> Void
    ) {
        typealias Read = Result<(entry: ArtifactStore.Entry, file: String, environment: [String: String]), PluginRefusal>
        turns.comeIn { [self] isHeld in
            let store = store
            loop.offload { () -> Read in
                do throws(PluginRefusal) {
                    let file = try settings.libraryFile(in: configuration.productFolders)
                    let environment = try settings.variables(in: configuration)
                    return .success((try store.admit(file: file), file, environment))
                } catch {
                    return .failure(error)
                }
            } then: { [self] read in
                switch read {
                case .failure(let refusal):
                    isHeld()
                    completion(.failure(refusal))
                case .success(let found):
                    let artifact = leases.artifact(plugin: settings.name, hash: found.entry.hash, file: found.file)
                    isHeld()
                    manifests.manifest(of: artifact) { result in
                        completion(
                            result.map { LocalPlugin(settings: settings, artifact: artifact, manifest: $0, environment: found.environment) })
                    }
                }
            }
        }
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
