import AdminProtocol
import ArgumentParser
import CommandClient
import HearthJSON

/// `hearth upgrade`: replaces the running host by the installed program.
struct Upgrade: HostCommand {
    static let configuration = CommandConfiguration(
        commandName: "upgrade", abstract: "Replaces the running host by the installed program, without a failed request.",
        discussion: """
            The new process starts while the old one serves; then it takes over sockets, connections and databases. If it fails, the
            old one continues, and this command reports why. Use it also to reload functions.json completely.

            Examples:
              hearth upgrade
              hearth upgrade --timeout 300 --data-dir /var/lib/hearth
            """)

    @Option(help: ArgumentHelp("How long the new process may take to get ready.", valueName: "seconds"))
    var timeout = 60

    @OptionGroup var connection: ConnectionOptions

    func validate() throws {
        if !UpgradeOrder.timeoutSecondsRange.contains(timeout) { throw ValidationError("--timeout must be a number of seconds from 1 to 3600") }
    }

    func perform(_ client: HostClient) throws(ClientFailure) -> Outcome {
        let report = try client.administer(UpgradeReport.self, "POST", "host:upgrade", UpgradeOrder(timeoutSeconds: timeout).json)
        return Outcome(
            text: "Upgraded: process \(report.pid) serves now. Requests waited at most \(report.heldMilliseconds) ms.", json: report.json)
    }
}
