import Administration
import AdminProtocol
import EventLoop
import HostCore

/// Passes the operations on the host as a whole to the home loop.
final class HostOperations: HostControl {
    private let host: LoopBound<HearthHost>
    private let home: EventLoop
    let dataDirectory: String

    init(_ host: HearthHost) {
        dataDirectory = host.data.path
        home = host.home
        self.host = LoopBound(host, loop: host.home)
    }

    func upgrade(timeoutSeconds: Int) async throws(AdminError) -> UpgradeReport {
        try await home.perform { [host] () async throws(AdminError) in
            var request = UpgradeRequest()
            request.timeoutSeconds = timeoutSeconds
            // The administrator's own request is answered only at the end of the upgrade.
            request.waitingRequests = 1
            do throws(UpgradeFailure) {
                return try await host.value.startUpgrade(request)
            } catch {
                throw AdminError(.failedPrecondition, error.description)
            }
        }
    }

    // MARK: Restores

    func beginRestore() async throws(AdminError) -> String {
        try await home.perform { [host] () async throws(AdminError) in try await host.value.restores.begin() }
    }

    func writeRestore(_ id: String, offset: Int, _ bytes: [UInt8]) async throws(AdminError) -> Int {
        try await home.perform { [host] () async throws(AdminError) in try await host.value.restores.write(id, offset: offset, bytes) }
    }

    func applyRestore(_ id: String) async throws(AdminError) -> RestoreReport {
        try await home.perform { [host] () async throws(AdminError) in try await host.value.restore(id) }
    }

    func removeRestore(_ id: String) async throws(AdminError) {
        try await home.perform { [host] () async throws(AdminError) in try await host.value.restores.remove(id) }
    }
}
