import AdminProtocol
import Deployment
import EventLoop
import HearthJSON
import HTTP

/// `artifacts/SHA256`: uploads of libraries in pieces. Belongs to the home loop.
final class ArtifactAdministration {
    private let uploads: ArtifactUploads
    private let loop: EventLoop
    /// Handles one piece after the other: two clients that upload the same library must not write to it at the same time.
    private let turns = LoopTurns()

    init(uploads: ArtifactUploads, loop: EventLoop) {
        self.uploads = uploads
        self.loop = loop
    }

    func handle(_ call: HomeCall) async throws(AdminError) -> JSONValue {
        guard call.segments.count == 2 else { throw .noSuchResource }
        let hash = call.segments[1]
        guard ArtifactAnswer.isHash(hash) else { throw .invalid("an artifact is named by its SHA-256, in 64 hexadecimal digits") }
        switch (call.verb, call.method) {
        case (nil, .put):
            guard let offset = call.parameters["offset"].map({ Int($0) }) ?? 0, offset >= 0 else {
                throw .invalid("offset must be a whole number of at least 0")
            }
            guard !call.bytes.isEmpty, call.bytes.count <= ArtifactAnswer.pieceBytesMax else {
                throw .invalid("a piece must have 1 to \(ArtifactAnswer.pieceBytesMax) bytes")
            }
            return try await run { [bytes = call.bytes] (uploads) throws(ArtifactUploads.Failure) in
                try uploads.append(bytes, to: hash, at: offset)
            }
        case (nil, _):
            try call.allow(.get, .put)
            return try await run { (uploads) throws(ArtifactUploads.Failure) in uploads.status(of: hash) }
        case ("complete", _):
            try call.allow(.post)
            guard let size = ArtifactCompletion(call.body)?.sizeBytes, size > 0 else {
                throw .invalid("sizeBytes must be the size of the library in bytes")
            }
            return try await run { (uploads) throws(ArtifactUploads.Failure) in try uploads.complete(hash, sizeBytes: size) }
        default: throw .noSuchResource
        }
    }

    private func run(
        _ work: @escaping @Sendable (ArtifactUploads) throws(ArtifactUploads.Failure) -> ArtifactAnswer
    ) async throws(AdminError) -> JSONValue {
        do throws(ArtifactUploads.Failure) {
            return try await turns.alone { () async throws(ArtifactUploads.Failure) in
                try await loop.offload { [uploads] () throws(ArtifactUploads.Failure) in try work(uploads) }
            }.json
        } catch {
            throw AdminError(error)
        }
    }
}

extension AdminError {
    fileprivate init(_ failure: ArtifactUploads.Failure) {
        switch failure {
        case .invalid(let sentence): self.init(.invalidArgument, sentence)
        case .storage(let sentence): self.init(.unavailable, sentence)
        case .wrongOffset(let count):
            self.init(
                .aborted, "\(count) bytes of this library are here; the next piece begins there",
                details: ArtifactOffset(receivedBytes: count).json.object)
        }
    }
}
