import AdminProtocol
import Deployment
import EventLoop
import HearthJSON
import HTTP

/// `artifacts/SHA256`: libraries that come in piece by piece. Belongs to the home loop.
final class ArtifactAdministration {
    private let uploads: ArtifactUploads
    private let loop: EventLoop
    private var waiting: [(@escaping () -> Void) -> Void] = []
    private var isBusy = false

    init(uploads: ArtifactUploads, loop: EventLoop) {
        self.uploads = uploads
        self.loop = loop
    }

    func handle(_ call: HomeCall, completion: @escaping FunctionAdministration.Completion) throws(AdminError) {
        guard call.segments.count == 2 else { throw .noSuchResource }
        let hash = call.segments[1]
        guard ArtifactUploads.isHash(hash) else {
            throw AdminError(.invalidArgument, "an artifact is named by its SHA-256, in 64 hexadecimal digits")
        }
        switch (call.verb, call.method) {
        case (nil, .put):
            guard let offset = call.parameters["offset"].map({ Int($0) }) ?? 0, offset >= 0 else {
                throw AdminError(.invalidArgument, "offset must be a whole number of at least 0")
            }
            guard !call.bytes.isEmpty, call.bytes.count <= ArtifactUploads.pieceBytesMax else {
                throw AdminError(.invalidArgument, "a piece must have 1 to \(ArtifactUploads.pieceBytesMax) bytes")
            }
            run(completion) { [bytes = call.bytes] (uploads) throws(ArtifactUploads.Failure) in
                try uploads.append(bytes, to: hash, at: offset)
            }
        case (nil, _):
            try call.allow(.get, .put)
            run(completion) { (uploads) throws(ArtifactUploads.Failure) in uploads.status(of: hash) }
        case ("complete", _):
            try call.allow(.post)
            guard let size = call.body["sizeBytes"]?.int, size > 0 else {
                throw AdminError(.invalidArgument, "sizeBytes must be the size of the library in bytes")
            }
            run(completion) { (uploads) throws(ArtifactUploads.Failure) in try uploads.complete(hash, sizeBytes: size) }
        default: throw .noSuchResource
        }
    }

    /// One after the other: two that send the same library must not write into it at once.
    private func run(
        _ completion: @escaping FunctionAdministration.Completion,
        _ work: @escaping @Sendable (ArtifactUploads) throws(ArtifactUploads.Failure) -> ArtifactUploads.Status
    ) {
        waiting.append { [loop, uploads] done in
            loop.offload { () -> Result<ArtifactUploads.Status, ArtifactUploads.Failure> in
                do throws(ArtifactUploads.Failure) { return .success(try work(uploads)) } catch { return .failure(error) }
            } then: { result in
                completion(result.map(\.json).mapError(AdminError.init))
                done()
            }
        }
        goOn()
    }

    private func goOn() {
        guard !isBusy, !waiting.isEmpty else { return }
        isBusy = true
        let act = waiting.removeFirst()
        act { [self] in
            isBusy = false
            goOn()
        }
    }
}

extension ArtifactUploads.Status {
    fileprivate var json: JSONValue { ["state": .string(state.rawValue), "receivedBytes": JSONValue(receivedBytes)] }
}

extension AdminError {
    fileprivate init(_ failure: ArtifactUploads.Failure) {
        switch failure {
        case .invalid(let sentence): self.init(.invalidArgument, sentence)
        case .storage(let sentence): self.init(.unavailable, sentence)
        case .wrongOffset(let count):
            let details: JSONObject = ["receivedBytes": JSONValue(count)]
            self.init(.aborted, "\(count) bytes of this library are here; the next piece begins there", details: details)
        }
    }
}
