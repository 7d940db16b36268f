import AdminProtocol
import HearthBytes

/// Uploads a library to a host in pieces, and resumes an interrupted upload.
package struct ArtifactUpload {
    private let functions: FunctionsClient
    private let file: ArtifactFile
    private let pieceBytes: Int
    private let report: (Int) -> Void
    private var patience = Patience()
    /// How often the host has discarded its copy because the hash was wrong.
    private var rejections = 0

    private static let readBytes = 256 << 10

    /// - Parameter report: called with the number of bytes that the host has or is about to get.
    package init(_ client: HostClient, _ file: ArtifactFile, pieceBytes: Int = 4 << 20, report: @escaping (Int) -> Void = { _ in }) {
        functions = FunctionsClient(client)
        self.file = file
        self.pieceBytes = min(pieceBytes, ArtifactAnswer.pieceBytesMax)
        self.report = report
    }

    /// Whether the host has the whole library.
    package func isComplete() throws(ClientFailure) -> Bool { try functions.state(of: file.hash) .state == .complete }

    /// Uploads the missing bytes.
    ///
    /// - Throws: `ClientFailure` if the host refuses it or is unreachable for half a minute.
    /// - Returns: the number of bytes sent; 0 if the host had the library.
    package mutating func run() throws(ClientFailure) -> Int {
        var sent = 0
        var furthest = -1
        while true {
            do throws(ClientFailure) {
                var state = try functions.state(of: file.hash)
                while state.state != .complete {
                    let received = state.receivedBytes
                    if received > furthest { patience.renew() }
                    furthest = max(furthest, received)
                    report(received)
                    if received < file.sizeBytes {
                        state = try send(from: received)
                        sent += pieceLength(from: received)
                    } else {
                        state = try complete()
                    }
                }
                return sent
            } catch {
                // Another client may be uploading the same library: the host's state tells where to continue.
                let isOutOfStep = error.kind == .refused(status: 409)
                try patience.wait(after: isOutOfStep ? ClientFailure(.refused(status: 503), error.message) : error)
            }
        }
    }

    private func pieceLength(from offset: Int) -> Int { min(pieceBytes, file.sizeBytes - offset) }

    private func send(from offset: Int) throws(ClientFailure) -> ArtifactAnswer {
        let length = pieceLength(from: offset)
        var done = 0
        let (file, report) = (file, report)
        return try functions.put(
            file.hash, offset: offset,
            .stream(length: length) { (buffer) throws(ClientFailure) in
                try file.read(at: offset + done, count: min(Self.readBytes, length - done), into: &buffer)
                done += buffer.count
                report(offset + done)
            })
    }

    private mutating func complete() throws(ClientFailure) -> ArtifactAnswer {
        do throws(ClientFailure) {
            let state = try functions.complete(file.hash, sizeBytes: file.sizeBytes)
            guard state.state == .complete else {
                throw ClientFailure(.notHTTP, "the host at \(functions.client.url) does not say that it has \(file.name); see its log")
            }
            return state
        } catch {
            guard error.kind == .refused(status: 400) else { throw error }
            guard try file.isUnchanged() else {
                throw ClientFailure(.invalidInput, "\(file.path) changed while it was uploaded; try again when no program writes to it")
            }
            // The host's copy from before this upload may have been damaged; start again.
            rejections += 1
            guard rejections < 2 else { throw error }
            return try functions.state(of: file.hash)
        }
    }
}
