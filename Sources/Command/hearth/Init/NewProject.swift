import ArgumentParser
import CommandClient
import Configuration
import Files
import Glibc

/// The files of a new project.
struct NewProject {
    /// The language of the plugin.
    enum Language: String, CaseIterable, ExpressibleByArgument {
        case swift, c

        var title: String { self == .swift ? "Swift" : "C" }
        var exampleCall: String { self == .swift ? "greet '{\"name\": \"Ada\"}'" : "increment '{\"by\": 5}'" }
    }

    /// The name of the plugin: an identifier.
    let name: String
    /// The project id, which is part of URLs.
    let id: String
    let files: [ProjectFile]

    init(folder: String, name: String?, language: Language, source: HearthSource?) throws(ClientFailure) {
        let folderName = folder.split(separator: "/").last.map(String.init) ?? "functions"
        if let name {
            guard Self.isIdentifier(name) else {
                throw ClientFailure(.invalidInput, "\(name) cannot be the name of a plugin; use letters and digits, a letter first, as in Greetings")
            }
            if let taken = TakenModule.named(name) {
                throw ClientFailure(.invalidInput, "\(name) is the name of a module of \(taken.owner); choose another one")
            }
            self.name = name
        } else {
            self.name = Self.identifier(from: folderName)
        }
        id = Self.projectID(from: folderName)
        let values = [
            "NAME": self.name, "PROJECT": id, "PACKAGE": Self.words(folderName).joined(separator: "-").lowercased(),
            "DEPENDENCY": source?.dependency ?? "", "SDK": source?.package ?? "",
            "HEARTH": Self.quoted(Terminal.executable),
            "PLUGIN": language == .swift ? "{ \"product\": \"\(self.name)\" }" : "{ \"library\": \"build/lib\(self.name).so\" }",
            "SWIFT": language == .swift ? "PATH=$PATH:/opt/swift/usr/bin:${HOME:-/root}/.local/share/swiftly/bin\n" : "",
        ]
        files = Self.files(language, name: self.name).map { $0.filled(values) }
    }

    private static func files(_ language: Language, name: String) -> [ProjectFile] {
        let own: [ProjectFile] =
            switch language {
            case .swift:
                [
                    ProjectFile("Package.swift", PackageResources.Package_swift_template),
                    ProjectFile("Sources/\(name)/\(name).swift", PackageResources.Functions_swift_template),
                    ProjectFile("scripts/build", PackageResources.build_swift_template, isProgram: true),
                    ProjectFile("Tests/\(name)Tests/\(name)Tests.swift", PackageResources.Tests_swift_template),
                    ProjectFile("scripts/test", PackageResources.test_swift_template, isProgram: true),
                    ProjectFile("README.md", PackageResources.README_swift_md_template),
                ]
            case .c:
                [
                    ProjectFile("src/\(name).c", PackageResources.plugin_c_template),
                    ProjectFile("include/hearth.h", PackageResources.hearth_h_template),
                    ProjectFile("scripts/build", PackageResources.build_c_template, isProgram: true),
                    ProjectFile("Tests/run", PackageResources.run_c_template, isProgram: true),
                    ProjectFile("scripts/test", PackageResources.test_c_template, isProgram: true),
                    ProjectFile("README.md", PackageResources.README_c_md_template),
                ]
            }
        let common = [
            ProjectFile("functions.json", PackageResources.functions_json_template),
            ProjectFile("functions.schema.json", Configuration.schema),
            ProjectFile("database.rules.json", PackageResources.database_rules_json_template),
            ProjectFile("scripts/hearth", PackageResources.hearth_template, isProgram: true),
            ProjectFile("scripts/hearth.sh", PackageResources.hearth_sh_template),
            ProjectFile("scripts/serve", PackageResources.serve_template, isProgram: true),
            ProjectFile(".gitignore", PackageResources.gitignore_template),
        ]
        return (own + common).sorted { $0.path < $1.path }
    }

    // MARK: Names

    private static func isIdentifier(_ name: String) -> Bool {
        guard let first = name.utf8.first, isLetter(first), name.utf8.count <= 60 else { return false }
        return name.utf8.allSatisfy { isLetter($0) || isDigit($0) || $0 == UInt8(ascii: "_") }
    }

    /// `my-functions` becomes `MyFunctions`.
    private static func identifier(from folder: String) -> String {
        var name = words(folder).map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
        if let first = name.utf8.first, isDigit(first) { name = "Functions\(name)" }
        return TakenModule.named(name) == nil ? String(name.prefix(60)) : "\(name)Plugin"
    }

    /// Keeps the characters that a project id allows: lower-case letters, digits and dashes.
    private static func projectID(from folder: String) -> String {
        String("demo-\(words(folder).joined(separator: "-").lowercased())".prefix(30).reversed().drop { $0 == "-" }.reversed())
    }

    private static func words(_ text: String) -> [String] {
        let words = text.utf8.split { !isLetter($0) && !isDigit($0) }.map { String(decoding: $0, as: UTF8.self) }
        return words.isEmpty ? ["functions"] : words
    }

    private static func isLetter(_ byte: UInt8) -> Bool { (byte | 0x20) &- UInt8(ascii: "a") < 26 }
    private static func isDigit(_ byte: UInt8) -> Bool { byte &- UInt8(ascii: "0") < 10 }

    /// Quotes a word for a shell script.
    static func quoted(_ text: String) -> String {
        "'" + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
    }
}

/// A file of a new project.
struct ProjectFile {
    let path: String
    private var content: [UInt8]
    private let isProgram: Bool

    init(_ path: String, _ content: [UInt8], isProgram: Bool = false) {
        self.path = path
        self.content = content
        self.isProgram = isProgram
    }

    /// The file with each `{{NAME}}` replaced.
    func filled(_ values: [String: String]) -> ProjectFile {
        var copy = self
        var text = String(decoding: content, as: UTF8.self)[...]
        var filled = ""
        while let start = text.firstRange(of: "{{"), let end = text[start.upperBound...].firstRange(of: "}}") {
            let value = values[String(text[start.upperBound..<end.lowerBound])]
            filled += text[..<start.lowerBound]
            filled += value ?? String(text[start.lowerBound..<end.upperBound])
            text = text[end.upperBound...]
        }
        copy.content = Array((filled + text).utf8)
        return copy
    }

    /// Writes the file below a folder, completely or not at all.
    func write(in folder: String) throws(ClientFailure) {
        var parent = folder
        for name in path.split(separator: "/").dropLast() {
            parent += "/\(name)"
            if mkdir(parent, 0o777) != 0, errno != EEXIST { throw failure(parent, errno) }
        }
        let target = "\(folder)/\(path)"
        let temporary = "\(target).\(getpid()).part"
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, isProgram ? 0o777 : 0o666)
        guard descriptor >= 0 else { throw failure(target, errno) }
        let isWritten = content.withUnsafeBytes { DurableFile.writeAll($0, to: descriptor) }
        let code = errno
        close(descriptor)
        guard isWritten, rename(temporary, target) == 0 else {
            let failure = failure(target, isWritten ? errno : code)
            unlink(temporary)
            throw failure
        }
    }

    private func failure(_ path: String, _ code: Int32) -> ClientFailure {
        ClientFailure(.invalidInput, "\(path) cannot be written: \(String(cString: strerror(code)).lowercased())")
    }
}
