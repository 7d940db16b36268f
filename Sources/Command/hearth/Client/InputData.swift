import HearthBytes
import CommandClient
import Glibc
import HearthJSON

/// JSON input of a command: from `--data`, a file, or standard input.
final class InputData {
    /// The name for messages.
    let name: String
    /// The number of bytes, if known in advance.
    let length: Int?
    /// Whether it reads standard input.
    let isStandardInput: Bool
    private let descriptor: Int32
    private var inline: [UInt8]?

    private static let pieceBytes = 256 * 1024

    /// - Parameters:
    ///   - data: the value of `--data`.
    ///   - file: the name of a file; `-` and nil mean standard input.
    init(data: String?, file: String?) throws(ClientFailure) {
        if let data {
            name = "--data"
            // Keep valid JSON verbatim: a number may have more digits than a parsed value keeps.
            let isJSON = (try? JSONScan.validate(Array(data.utf8))) != nil
            inline = isJSON ? Array(data.utf8) : try Self.json(data, "--data").serialized()
            length = inline?.count
            isStandardInput = false
            descriptor = -1
        } else if let file, file != "-" {
            name = file
            descriptor = open(file, O_RDONLY | O_CLOEXEC)
            guard descriptor >= 0, let status = FileStatus(descriptor: descriptor) else {
                throw ClientFailure(.invalidInput, "\(file) cannot be read: \(String(cString: strerror(errno)).lowercased())")
            }
            guard status.kind != .folder else { throw ClientFailure(.invalidInput, "\(file) is a folder; name a file with JSON") }
            length = status.sizeBytes
            isStandardInput = false
        } else {
            name = "standard input"
            descriptor = STDIN_FILENO
            length = nil
            isStandardInput = true
            if isatty(STDIN_FILENO) == 1 { Terminal.writeError("Type JSON, and Ctrl-D on a line of its own to end it.") }
        }
    }

    /// The value of an option: JSON, or an object, array or string in relaxed form, such as `{uid: 'ada'}`.
    static func json(_ text: String, _ option: String) throws(ClientFailure) -> JSONValue {
        let strict: String
        do throws(JSONError) {
            return try JSONValue(parsing: text)
        } catch {
            strict = error.explanation(in: Array(text.utf8).span)
        }
        // A bare word is a mistake, even if the relaxed form allows it, such as `undefined`.
        guard let first = text.first(where: { !$0.isWhitespace }), "{['".contains(first) else {
            let hint = "a string needs its own quotes: \(option) '\"text\"'"
            throw ClientFailure(.invalidInput, "the value of \(option) is not JSON (\(strict)); \(hint)")
        }
        return try CallData.parsed(text, "the value of \(option)")
    }

    deinit { if descriptor > STDERR_FILENO { close(descriptor) } }

    /// Whether it can be read again from the start.
    var canRewind: Bool { length != nil && descriptor >= 0 }

    /// Returns to the start.
    func rewind() { lseek(descriptor, 0, SEEK_SET) }

    /// Appends the next bytes; nothing at the end.
    func read(into buffer: inout ByteBuffer) throws(ClientFailure) {
        if let bytes = inline {
            buffer.append(bytes)
            inline = []
            return
        }
        var failure: Int32 = 0
        buffer.appendUninitialized(minimum: Self.pieceBytes) { room in
            while true {
                let count = Glibc.read(descriptor, room.baseAddress, Self.pieceBytes)
                if count >= 0 { return count }
                guard errno == EINTR else { break }
            }
            failure = errno
            return 0
        }
        guard failure == 0 else {
            throw ClientFailure(.invalidInput, "\(name) cannot be read: \(String(cString: strerror(failure)).lowercased())")
        }
    }

    /// The input as the body of a request.
    func body(_ progress: Progress? = nil) -> HostRequest.Body {
        if let inline { return .bytes(inline) }
        var count = 0
        return .stream(length: length) { (buffer) throws(ClientFailure) in
            try self.read(into: &buffer)
            count += buffer.count
            progress?.update(count)
        }
    }
}

/// JSON that a person gives as an argument: as text, as `@FILE`, or as `-` for standard input.
enum CallData {
    private static let bytesMax = 64 << 20

    /// Nil if there is no argument.
    static func json(_ argument: String?) throws(ClientFailure) -> JSONValue? {
        guard let argument else { return nil }
        let (text, name) = try content(argument)
        return try parsed(text, name)
    }

    /// The content of an argument, and its name for messages.
    static func content(_ argument: String) throws(ClientFailure) -> (text: String, name: String) {
        guard argument == "-" || argument.hasPrefix("@") else { return (argument, "the data") }
        let input = try InputData(data: nil, file: argument == "-" ? "-" : String(argument.dropFirst()))
        var buffer = ByteBuffer()
        var count = -1
        while count != buffer.count {
            count = buffer.count
            try input.read(into: &buffer)
            if buffer.count > bytesMax { throw ClientFailure(.invalidInput, "\(input.name) has more than 64 MiB, which is the limit for a call") }
        }
        return (buffer.string(), input.name)
    }

    static func parsed(_ text: String, _ name: String) throws(ClientFailure) -> JSONValue {
        do throws(RelaxedJSONError) {
            return try RelaxedJSON.value(of: text)
        } catch {
            let place = text.utf8.prefix(error.offset)
            let line = place.count { $0 == UInt8(ascii: "\n") } + 1
            let column = place.reversed().prefix { $0 != UInt8(ascii: "\n") }.count + 1
            throw ClientFailure(.invalidInput, "\(name) is not JSON (\(line):\(column): \(error.message))")
        }
    }
}
