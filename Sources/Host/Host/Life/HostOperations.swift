import Administration
import AdminProtocol
import EventLoop
import HostCore

/// Passes on to the home loop what administrators ask of the host as a whole.
final class HostOperations: HostControl {
    private let host: LoopBound<HearthHost>
    private let home: EventLoop
    let dataDirectory: String

    init(_ host: HearthHost) {
        dataDirectory = host.data.path
        home = host.home
        self.host = LoopBound(host, loop: host.home)
    }

    /// Hands the host over to a new process; `completion` is called on `loop`.
    func upgrade(timeoutSeconds: Int, on loop: EventLoop, completion: @escaping (Result<UpgradeReport, UpgradeFailure>) -> Void) {
        let answer = LoopBound(completion, loop: loop)
        home.post { [host] in
            var request = UpgradeRequest()
            request.timeoutSeconds = timeoutSeconds
            // Whoever asks waits for the end.
            request.waitingRequests = 1
            host.value.startUpgrade(request) { result in loop.post { answer.value(result) } }
        }
    }

    // MARK: Restores

    /// Begins a restore; `completion` gets its id.
    func beginRestore(on loop: EventLoop, completion: @escaping (Result<String, AdminError>) -> Void) {
        let answer = LoopBound(completion, loop: loop)
        home.post { [host] in
            let result = host.value.restores.begin()
            loop.post { answer.value(result) }
        }
    }

    /// Takes a piece of a backup; `completion` hears how many bytes are there.
    func writeRestore(_ id: String, offset: Int, _ bytes: [UInt8], on loop: EventLoop, completion: @escaping (Result<Int, AdminError>) -> Void) {
        let answer = LoopBound(completion, loop: loop)
        home.post { [host] in
            host.value.restores.write(id, offset: offset, bytes) { result in loop.post { answer.value(result) } }
        }
    }

    /// Checks a backup and puts it in place of the data.
    func applyRestore(_ id: String, on loop: EventLoop, completion: @escaping (Result<RestoreReport, AdminError>) -> Void) {
        let answer = LoopBound(completion, loop: loop)
        home.post { [host] in
            host.value.restore(id) { result in loop.post { answer.value(result) } }
        }
    }

    /// Gives a restore up.
    func removeRestore(_ id: String) {
        home.post { [host] in host.value.restores.remove(id) }
    }
}
