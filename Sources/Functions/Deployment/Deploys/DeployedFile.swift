import Files
import Glibc
import HearthJSON

/// `deployed.json` in the data directory: the authoritative record of the deployed functions.
package struct DeployedFile: Sendable {
    let path: String
    private let sizeMax: Int

    static let format = "hearth.deployed"
    static let formatVersion = 1
    /// The size limit of the file, for reading and writing.
    package static let sizeMax = 256 << 20

    private struct Head: Decodable {
        var format: String
        var formatVersion: Int
    }

    private struct Document: Codable {
        var format: String
        var formatVersion: Int
        var state: DeployedState
    }

    package init(path: String, sizeMax: Int = DeployedFile.sizeMax) {
        self.path = path
        self.sizeMax = sizeMax
    }

    /// The deployed state; an empty one if there is no file. Blocks.
    ///
    /// - Throws: `DeployedFileError` if the file cannot be understood.
    package func read() throws(DeployedFileError) -> DeployedState {
        // The remains of a host that was killed while it wrote.
        DurableFile.removeUnfinished(path)
        let bytes: [UInt8]?
        do throws(FileFailure) {
            bytes = try WholeFile.readIfAny(path, sizeBytesMax: sizeMax)
        } catch {
            throw DeployedFileError("\(path) \(error)")
        }
        guard let bytes else { return DeployedState() }
        do {
            let head = try JSONDecoder().decode(Head.self, from: bytes)
            guard head.format == Self.format else {
                throw DeployedFileError("\(path) is not a record of deployments; move it away to start with nothing deployed")
            }
            guard head.formatVersion == Self.formatVersion else {
                throw DeployedFileError(
                    "\(path) has format version \(head.formatVersion), this host understands \(Self.formatVersion); use the host that wrote it")
            }
            return try JSONDecoder().decode(Document.self, from: bytes).state
        } catch let error as DeployedFileError {
            throw error
        } catch {
            throw DeployedFileError("\(path) cannot be understood (\(Self.place(of: error))); move it away to start with nothing deployed")
        }
    }

    private static func place(of error: any Error) -> String {
        guard let error = error as? DecodingError else { return "\(error)" }
        switch error {
        case .dataCorrupted(let context), .keyNotFound(_, let context), .typeMismatch(_, let context), .valueNotFound(_, let context):
            let place = context.codingPath.map(\.stringValue).joined(separator: ".")
            return place.isEmpty ? context.debugDescription : "\(place): \(context.debugDescription)"
        @unknown default: return "\(error)"
        }
    }

    /// Encodes and writes the new contents, on any thread.
    ///
    /// - Throws: a sentence if they cannot be written. Then the file has its previous contents.
    func write(_ state: DeployedState) throws(FileFailure) {
        let document = Document(format: Self.format, formatVersion: Self.formatVersion, state: state)
        // A state consists of strings and numbers, which can all be encoded.
        guard let bytes = try? JSONEncoder().encode(document) else { throw FileFailure("made") }
        guard bytes.count <= sizeMax else {
            throw FileFailure("written", code: EFBIG)
        }
        try DurableFile.replace(path, with: bytes, mode: 0o600)
    }
}

/// The reason why the record of deployments cannot be used.
package struct DeployedFileError: Error, Sendable, CustomStringConvertible {
    /// One sentence for the user.
    package let description: String

    init(_ description: String) { self.description = description }
}
