import Files
import Glibc

/// The plan for one product: the commands up to its library, in a valid order, and their source files.
struct ProductPlan: Sendable {
    /// One command that can run without the package manager.
    struct Step: Sendable {
        var arguments: [String]
        var inputs: Set<String>
        var outputs: [String]
        /// Whether the command is known: a compiler or the linker.
        var isPlain: Bool
        var text: String

        /// Forces the compiler to examine every source. It detects changes by time stamps and would miss the replacement of a file by an
        /// older one.
        func forgetPrevious() {
            for folder in Set(outputs.filter { $0.hasSuffix(".o") }.map(Folder.parent)) { unlink("\(folder)/primary.priors") }
        }
    }

    /// The commands from the sources to the library.
    let steps: [Step]
    /// Files that no command creates: the sources.
    let sources: [String]
    /// Files that commands create.
    let products: Set<String>
    /// Files whose changes only the package manager handles: package descriptions, headers.
    let guards: Set<String>
    /// Folders, with their subfolders, in which a new or missing name requires a new plan.
    let trees: [String]
    /// The same without subfolders.
    let folders: [String]

    /// - Parameters:
    ///   - library: the end of the library's path, for example `/libMessages.so`.
    ///   - directory: the package's folder.
    /// Nil if the description has no such product, or uses unknown commands for it.
    init?(_ description: BuildDescription, library suffix: String, directory: String) {
        var makers: [String: Int] = [:]
        for (index, command) in description.commands.enumerated() {
            for output in command.outputs { makers[output] = index }
        }
        let links = description.commands.indices.filter { index in
            description.commands[index].tool == "shell" && description.commands[index].outputs.contains { $0.hasSuffix(suffix) }
        }
        guard links.count == 1, let link = links.first else { return nil }
        let structure = description.commands.first { $0.tool == "package-structure-tool" }
        guard let structure, let walk = Walk(description, makers, from: link) else { return nil }
        var guards = walk.headers
        var trees: [String] = []
        for input in structure.inputs {
            if input.hasSuffix("/") { trees.append(String(input.dropLast())) } else { guards.insert(input) }
        }
        let scratch = "\(directory)/.build/"
        let local = walk.sources.filter { !$0.hasPrefix(scratch) }
        for folder in Set(local.map(Folder.parent)) { guards.formUnion(Self.packageFiles(above: folder)) }
        // Files that build tool plugins of the package generate may change with any build.
        guard !walk.sources.contains(where: { $0.hasPrefix("\(scratch)plugins/") }) else { return nil }
        steps = walk.steps
        sources = walk.sources
        products = walk.products
        self.guards = guards
        self.trees = trees
        folders = Set(local.map(Folder.parent)).sorted()
    }

    /// The package descriptions of the package that contains a folder.
    private static func packageFiles(above folder: String) -> [String] {
        var folder = folder
        while folder != "/" && folder != "." {
            if access("\(folder)/Package.swift", F_OK) == 0 {
                return Folder.entries(folder).map(\.name).filter { $0.hasPrefix("Package") }.map { "\(folder)/\($0)" }
            }
            folder = Folder.parent(of: folder)
        }
        return []
    }

    /// The steps to run after changes of these sources, in order; nil if one of them needs the package manager.
    func steps(for changed: Set<String>) -> [Step]? {
        var dirty = changed
        var chosen: [Step] = []
        for step in steps where !step.inputs.isDisjoint(with: dirty) {
            guard step.isPlain else { return nil }
            chosen.append(step)
            dirty.formUnion(step.outputs)
        }
        return chosen
    }
}

/// Traverses the commands from the library back to the sources.
private struct Walk {
    var steps: [ProductPlan.Step] = []
    var sources: [String] = []
    var products: Set<String> = []
    var headers: Set<String> = []
    private let description: BuildDescription
    private let makers: [String: Int]
    private var seen: Set<Int> = []
    private var found: Set<String> = []

    init?(_ description: BuildDescription, _ makers: [String: Int], from link: Int) {
        self.description = description
        self.makers = makers
        // A plan is a few levels deep; refuse deep or circular ones.
        guard visit(link, depth: 0) else { return nil }
    }

    private mutating func visit(_ index: Int, depth: Int) -> Bool {
        guard depth < 200 else { return false }
        guard seen.insert(index).inserted else { return true }
        let command = description.commands[index]
        products.formUnion(command.outputs.filter { !$0.hasPrefix("<") })
        // These files are written during planning, independent of their inputs.
        if command.tool == "write-auxiliary-file" { return true }
        for input in command.inputs {
            if let maker = makers[input] {
                guard visit(maker, depth: depth + 1) else { return false }
            } else if !input.hasPrefix("<"), found.insert(input).inserted {
                sources.append(input)
            }
        }
        if command.tool == "phony" { return true }
        if let file = command.dependencyFile {
            guard let read = DependencyFile.read(file) else { return false }
            headers.formUnion(read.filter { makers[$0] == nil && !$0.hasPrefix("/usr/") && !command.inputs.contains($0) })
        }
        steps.append(
            ProductPlan.Step(
                arguments: command.arguments, inputs: Set(command.inputs), outputs: command.outputs, isPlain: Self.isPlain(command),
                text: command.text))
        return true
    }

    private static func isPlain(_ command: BuildDescription.Command) -> Bool {
        guard command.others.isEmpty, let program = command.arguments.first, program.hasPrefix("/") else { return false }
        switch command.tool {
        case "clang": return program.hasSuffix("/clang")
        case "shell": return program.hasSuffix("/swiftc") || program.hasSuffix("/clang")
        default: return false
        }
    }
}

/// A compiler's list of the files it has read, in `make` format.
enum DependencyFile {
    /// Nil when it cannot be read.
    static func read(_ path: String) -> [String]? {
        guard let bytes = try? WholeFile.read(path, sizeBytesMax: 16 << 20) else { return nil }
        return parse(bytes)
    }

    static func parse(_ bytes: [UInt8]) -> [String] {
        var names: [String] = []
        var name: [UInt8] = []
        var index = 0
        func end() {
            if !name.isEmpty { names.append(String(decoding: name, as: UTF8.self)) }
            name = []
        }
        // The part before the first colon is the target.
        let colon = bytes.firstIndex(of: UInt8(ascii: ":")).map { $0 + 1 } ?? bytes.count
        index = colon
        while index < bytes.count {
            let byte = bytes[index]
            let next = index + 1 < bytes.count ? bytes[index + 1] : 0
            switch byte {
            case UInt8(ascii: "\\") where next == UInt8(ascii: "\n"):
                end()
                index += 1
            case UInt8(ascii: "\\") where next == UInt8(ascii: " ") || next == UInt8(ascii: "#") || next == UInt8(ascii: "\\"):
                name.append(next)
                index += 1
            case UInt8(ascii: "$") where next == UInt8(ascii: "$"):
                name.append(byte)
                index += 1
            case UInt8(ascii: " "), UInt8(ascii: "\n"), UInt8(ascii: "\t"), UInt8(ascii: "\r"): end()
            default: name.append(byte)
            }
            index += 1
        }
        end()
        return names
    }
}
