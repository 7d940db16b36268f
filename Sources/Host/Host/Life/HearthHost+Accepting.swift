import Deployment
import EventLoop
import HostCore

/// When the host begins to take requests.
extension HearthHost {
    /// What is deployed is known: calls find it, and writes raise its events. Writes that may run a function of a plugin that is still
    /// looked at wait in the database.
    func startAccepting(completion: @escaping () -> Void) {
        let countdown = LoopBound(Countdown(shards.count, completion: completion), loop: home)
        let reference = LoopBound(self, loop: home)
        for shard in shards {
            shard.startAccepting { [home] error in
                home.post {
                    if let error { return reference.value.cannotAccept(error) }
                    countdown.value.hit()
                }
            }
        }
    }

    private func cannotAccept(_ error: LoopError) {
        startError = startError ?? HostStartError(Self.advice(error))
        if !isStopping { stop() }
    }

    /// Raises the limit of open files.
    ///
    /// - Throws: `HostStartError` where it leaves none for connections.
    static func raiseDescriptorLimit() throws(HostStartError) {
        let openFilesMax = DescriptorLimit.raise()
        guard openFilesMax >= DescriptorLimit.least else {
            throw HostStartError(
                "this process may have \(openFilesMax) open files; at least \(DescriptorLimit.least) are needed: raise the hard limit "
                    + "(ulimit -Hn, or LimitNOFILE of the service)")
        }
    }
}
