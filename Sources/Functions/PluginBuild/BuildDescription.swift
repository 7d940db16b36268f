import HearthJSON

/// The plan of the package manager: the commands of `.build/CONFIGURATION.yaml`, with their inputs and outputs.
///
/// The file is internal to the package manager and may change with its version. Anything unknown makes the description unusable; the
/// package manager then does the build.
struct BuildDescription {
    /// One command of the plan.
    struct Command: Equatable {
        var name: String
        /// `shell`, `clang`, `phony`, `write-auxiliary-file`, ...
        var tool: String
        var inputs: [String]
        var outputs: [String]
        var arguments: [String] = []
        /// The file in which a C compiler lists the headers that it has read.
        var dependencyFile: String?
        /// The package manager's text for the command.
        var text = ""
        /// Unknown keys.
        var others: [String] = []
    }

    struct Malformed: Error, Equatable {
        /// From 1.
        var line: Int
    }

    private(set) var commands: [Command] = []

    /// A larger plan is not read.
    static let sizeBytesMax = 256 << 20

    /// - Throws: `Malformed` unless the plan has the simple form that the package manager writes.
    init(parsing bytes: [UInt8]) throws(Malformed) {
        var isInCommands = false
        var number = 0
        var start = 0
        while start < bytes.count {
            number += 1
            let end = bytes[start...].firstIndex(of: UInt8(ascii: "\n")) ?? bytes.count
            let line = bytes[start..<end]
            start = end + 1
            if line.isEmpty { continue }
            if line.first != UInt8(ascii: " ") {
                isInCommands = line.elementsEqual("commands:".utf8)
            } else if isInCommands {
                guard take(line) else { throw Malformed(line: number) }
            }
        }
    }

    /// Parses a line of the form `  "NAME":` or `    KEY: VALUE`.
    private mutating func take(_ line: ArraySlice<UInt8>) -> Bool {
        let indent = line.prefix { $0 == UInt8(ascii: " ") }.count
        let text = line.dropFirst(indent)
        if indent == 2 {
            guard text.last == UInt8(ascii: ":"), case .string(let name)? = Self.value(text.dropLast()) else { return false }
            commands.append(Command(name: name, tool: "", inputs: [], outputs: []))
            return true
        }
        guard indent == 4, !commands.isEmpty, let colon = text.firstIndex(of: UInt8(ascii: ":")) else { return false }
        let key = String(decoding: text[..<colon], as: UTF8.self)
        let rest = text[(colon + 1)...].drop { $0 == UInt8(ascii: " ") }
        return set(key, rest, &commands[commands.count - 1])
    }

    private func set(_ key: String, _ rest: ArraySlice<UInt8>, _ command: inout Command) -> Bool {
        switch key {
        case "tool": command.tool = String(decoding: rest, as: UTF8.self)
        case "inputs", "outputs", "args":
            guard let list = Self.strings(rest) else { return false }
            if key == "inputs" { command.inputs = list } else if key == "outputs" { command.outputs = list } else { command.arguments = list }
        case "deps", "description":
            guard case .string(let text)? = Self.value(rest) else { return false }
            if key == "deps" { command.dependencyFile = text } else { command.text = text }
        default: command.others.append(key)
        }
        return true
    }

    private static func value(_ bytes: ArraySlice<UInt8>) -> JSONValue? { try? JSONValue(parsing: Array(bytes)) }

    private static func strings(_ bytes: ArraySlice<UInt8>) -> [String]? {
        guard case .array(let values)? = value(bytes) else { return nil }
        var strings: [String] = []
        strings.reserveCapacity(values.count)
        for value in values {
            guard case .string(let string) = value else { return nil }
            strings.append(string)
        }
        return strings
    }
}
