import Deployment
import EventLoop
import HostCore

/// The start of accepting requests.
extension HearthHost {
    /// Accepts connections. Deployed functions can be called, and writes raise their events. Writes that may run a function of a plugin
    /// that is not deployed yet wait in the database.
    ///
    /// - Returns: false if a socket cannot be listened on; the host stops then.
    func startAccepting() async -> Bool {
        let errors = await home.concurrently(shards) { shard in await shard.startAccepting() }.compactMap { $0 }
        guard let error = errors.first else { return life.goesOn }
        startError = startError ?? HostStartError(Self.advice(error))
        if life.goesOn { stop() }
        return false
    }

    /// Raises the limit of open files.
    ///
    /// - Throws: `HostStartError` if it is too low for connections.
    static func raiseDescriptorLimit() throws(HostStartError) {
        let openFilesMax = DescriptorLimit.raise()
        guard openFilesMax >= DescriptorLimit.least else {
            throw HostStartError(
                "this process may have \(openFilesMax) open files; at least \(DescriptorLimit.least) are needed: raise the hard limit "
                    + "(ulimit -Hn, or LimitNOFILE of the service)")
        }
    }
}
