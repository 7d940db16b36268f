import AdminProtocol
import HearthJSON

/// One plugin of a deployment, with its library on this machine.
package struct DeployedPlugin {
    /// The library; the host may lack it.
    package let file: ArtifactFile
    /// The plugin in the request to the host.
    package let request: DeploymentRequest.Plugin

    /// One plugin as `functions.json` describes it.
    ///
    /// - Parameters:
    ///   - environment: parameters and other variables; never secrets.
    ///   - manifest: the library's manifest, for a dry run: the host plans without the library.
    package init(
        name: String, file: ArtifactFile, environment: [String: String], functions: JSONObject, defaults: JSONObject = [:],
        manifest: JSONValue? = nil
    ) {
        self.file = file
        request = DeploymentRequest.Plugin(
            name: name, artifact: file.hash, file: file.name, environment: environment, functions: functions, defaults: defaults,
            manifest: manifest)
    }
}
