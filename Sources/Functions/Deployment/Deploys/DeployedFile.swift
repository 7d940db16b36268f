import Files
import Glibc
import HearthJSON

/// `deployed.json` in the data directory: the truth of what runs.
package struct DeployedFile: Sendable {
    let path: String
    private let sizeMax: Int

    static let format = "hearth.deployed"
    static let formatVersion = 1
    /// A longer one is neither read nor written.
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

    /// What is deployed; nothing where there is no file. Blocks.
    ///
    /// - Throws: `DeployedFileError` for a file that this host does not understand.
    package func read() throws(DeployedFileError) -> DeployedState {
        // What a host that was killed had begun to write.
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

    /// The file's new contents. May be made anywhere.
    ///
    /// - Throws: a sentence when they cannot be written; then the old ones are there.
    func write(_ state: DeployedState) throws(FileFailure) {
        let document = Document(format: Self.format, formatVersion: Self.formatVersion, state: state)
        // A state is made of texts and numbers, which all can be written.
        guard let bytes = try? JSONEncoder().encode(document) else { throw FileFailure("made") }
        guard bytes.count <= sizeMax else {
            throw FileFailure("written", code: EFBIG)
        }
        try DurableFile.replace(path, with: bytes, mode: 0o600)
    }

    /// The same, as a value that can cross threads.
    func result(of state: DeployedState) -> FileFailure? {
        do throws(FileFailure) {
            try write(state)
            return nil
        } catch {
            return error
        }
    }
}

/// Why the record of deployments cannot be used.
package struct DeployedFileError: Error, Sendable, CustomStringConvertible {
    /// One sentence for a person.
    package let description: String

    init(_ description: String) { self.description = description }
}
