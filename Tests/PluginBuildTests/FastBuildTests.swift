import Foundation
import Testing

@testable import PluginBuild

/// A package of one product with a Swift target, one that it depends on, and one in C.
struct TinyPackage {
    let directory: String

    init() throws {
        directory = "/tmp/hearth-tiny-\(getpid())-\(UInt32.random(in: 0 ... .max))"
        try write(
            "Package.swift",
            """
            // swift-tools-version:6.2
            import PackageDescription
            let package = Package(
                name: "tiny", products: [.library(name: "Tiny", type: .dynamic, targets: ["Tiny"])],
                targets: [.target(name: "Shared"), .target(name: "Plain"), .target(name: "Tiny", dependencies: ["Shared", "Plain"])])
            """)
        try write("Sources/Shared/Shared.swift", "public func shared() -> Int { 1 }\n")
        try write("Sources/Plain/plain.c", "#include \"plain.h\"\nint plain(void) { return PLAIN; }\n")
        try write("Sources/Plain/include/plain.h", "#define PLAIN 1\nint plain(void);\n")
        let sum = "@c(tiny) public func tiny() -> Int { other() + shared() + Int(plain()) }"
        try write("Sources/Tiny/Tiny.swift", "import Shared\nimport Plain\n\(sum)\n")
        try write("Sources/Tiny/Other.swift", "func other() -> Int { 1 }\n")
    }

    func write(_ name: String, _ text: String) throws {
        let path = "\(directory)/\(name)"
        try FileManager.default.createDirectory(
            atPath: (path as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
    }

    func remove(_ name: String) throws { try FileManager.default.removeItem(atPath: "\(directory)/\(name)") }

    /// The library without what the compiler makes anew each time: the hashes of modules and of the whole, and what debuggers read.
    func library() throws -> Data {
        let stripped = "\(directory)/stripped.so"
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/objcopy")
        process.arguments = [
            "--strip-debug", "--remove-section=.note.gnu.build-id", "--remove-section=.swift_modhash", "\(directory)/.build/debug/libTiny.so",
            stripped,
        ]
        try process.run()
        process.waitUntilExit()
        return try Data(contentsOf: URL(fileURLWithPath: stripped))
    }

    /// The result of a build of the same sources from nothing.
    func fromNothing() throws -> Data {
        try remove(".build")
        _ = try PackageBuild(directory: directory, configuration: .debug).build(products: ["Tiny"])
        return try library()
    }
}

@Suite("Builds without the package manager", .serialized)
struct FastBuildTests {
    func build(_ fast: FastBuild) throws -> FastBuild.Outcome {
        // The kernel's stamps of files lag: what is as young as this counts as changed during the build.
        usleep(50_000)
        return try fast.build("Tiny", cancellation: BuildCancellation())
    }

    @Test("an edit is built directly, with the library that a build from nothing would give")
    func edits() throws {
        let package = try TinyPackage()
        defer { try? package.remove("") }
        let fast = FastBuild(try PackageBuild(directory: package.directory, configuration: .debug))
        #expect(try !build(fast).isDirect)
        #expect(try build(fast).isDirect)
        let first = try package.library()
        try package.write("Sources/Tiny/Other.swift", "func other() -> Int { 2 }\nfunc unused() -> String { \"new\" }\n")
        #expect(try build(fast).isDirect)
        #expect(try package.library() != first)
        try package.write("Sources/Shared/Shared.swift", "public func shared() -> Int { 77 }\npublic func more() {}\n")
        _ = try build(fast)
        try package.write("Sources/Plain/plain.c", "#include \"plain.h\"\nint plain(void) { return PLAIN + 5; }\n")
        _ = try build(fast)
        let last = try package.library()
        #expect(try package.fromNothing() == last)
        // A build by hand in between is noticed.
        #expect(try !build(fast).isDirect)
    }

    @Test("what changes the plan goes to the package manager")
    func plans() throws {
        let package = try TinyPackage()
        defer { try? package.remove("") }
        let fast = FastBuild(try PackageBuild(directory: package.directory, configuration: .debug))
        _ = try build(fast)
        try package.write("Sources/Tiny/New.swift", "func added() -> Int { 5 }\n")
        #expect(try !build(fast).isDirect)
        try package.write("Sources/Tiny/.Other.swift.swp", "an editor's")
        try package.write("Sources/Tiny/Other.swift", "func other() -> Int { added() }\n")
        #expect(try build(fast).isDirect)
        try package.write("Sources/Plain/include/plain.h", "#define PLAIN 9\nint plain(void);\n")
        #expect(try !build(fast).isDirect)
        try package.write("Sources/Tiny/Other.swift", "func other() -> Int { 3 }\n")
        try package.remove("Sources/Tiny/New.swift")
        #expect(try !build(fast).isDirect)
        let description = try String(contentsOfFile: "\(package.directory)/Package.swift", encoding: .utf8)
        try package.write("Package.swift", description + "\n// touched\n")
        #expect(try !build(fast).isDirect)
        #expect(try build(fast).isDirect)
        let last = try package.library()
        #expect(try package.fromNothing() == last)
    }

    @Test("a file that is replaced by an older one is compiled")
    func older() throws {
        let package = try TinyPackage()
        defer { try? package.remove("") }
        try package.write("older", "func other() -> Int { 41 }\n")
        let fast = FastBuild(try PackageBuild(directory: package.directory, configuration: .debug))
        _ = try build(fast)
        try FileManager.default.removeItem(atPath: "\(package.directory)/Sources/Tiny/Other.swift")
        try FileManager.default.moveItem(atPath: "\(package.directory)/older", toPath: "\(package.directory)/Sources/Tiny/Other.swift")
        #expect(try build(fast).isDirect)
        let last = try package.library()
        #expect(try package.fromNothing() == last)
    }

    @Test("edits that follow each other within a second are all compiled, by the compiler and by the package manager")
    func quickEdits() throws {
        let package = try TinyPackage()
        defer { try? package.remove("") }
        let fast = FastBuild(try PackageBuild(directory: package.directory, configuration: .debug))
        _ = try build(fast)
        var last = try package.library()
        for number in 10..<20 {
            try package.write("Sources/Tiny/Other.swift", "func other() -> Int { \(number) }\n")
            if number == 15 { try package.write("Sources/Tiny/New.swift", "func added() -> Int { 5 }\n") }
            #expect(try build(fast).isDirect == (number != 15))
            let next = try package.library()
            #expect(next != last, "\(number) was not compiled")
            last = next
        }
    }

    @Test("errors are the compiler's own, and the next save goes on from them")
    func errors() throws {
        let package = try TinyPackage()
        defer { try? package.remove("") }
        let fast = FastBuild(try PackageBuild(directory: package.directory, configuration: .debug))
        _ = try build(fast)
        try package.write("Sources/Tiny/Other.swift", "func other() -> Int { \"x\" }\n")
        do {
            _ = try build(fast)
            Issue.record("it compiled")
        } catch let failure as BuildFailure {
            #expect(failure.reason == .compile)
            #expect(failure.diagnostics.hasPrefix("\(package.directory)/Sources/Tiny/Other.swift:1:23: error: cannot convert return expression"))
            let whole = #expect(throws: BuildFailure.self) { try fast.package.build(products: ["Tiny"]) }
            #expect(whole?.diagnostics == failure.diagnostics)
        }
        try package.write("Sources/Tiny/Other.swift", "func other() -> Int { 8 }\n")
        _ = try build(fast)
        let last = try package.library()
        #expect(try package.fromNothing() == last)
    }

    @Test("the build plugin of a plugin's package is not in the way")
    func buildPlugin() throws {
        let package = try TinyPackage()
        defer { try? package.remove("") }
        let source = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appending(path: "../../SDK/Plugins/HearthEntryPoint/HearthEntryPoint.swift")
        try package.write("Plugins/HearthEntryPoint/HearthEntryPoint.swift", String(contentsOf: source, encoding: .utf8))
        try package.write(
            "Package.swift",
            """
            // swift-tools-version:6.2
            import PackageDescription
            let package = Package(
                name: "tiny", products: [.library(name: "Tiny", type: .dynamic, targets: ["Tiny"])],
                targets: [
                    .target(name: "HearthFunctions"), .plugin(name: "HearthEntryPoint", capability: .buildTool()),
                    .target(name: "Tiny", dependencies: ["HearthFunctions"], plugins: ["HearthEntryPoint"]),
                ])
            """)
        try package.write(
            "Sources/HearthFunctions/HearthFunctions.swift",
            "public struct Functions: Sendable { public init() {}; public func attach(to host: UnsafeRawPointer) -> UnsafeRawPointer? { host } }\n")
        try package.write("Sources/Tiny/Tiny.swift", "import HearthFunctions\nlet functions = Functions()\n")
        let fast = FastBuild(try PackageBuild(directory: package.directory, configuration: .debug))
        _ = try build(fast)
        try package.write("Sources/Tiny/Other.swift", "func other() -> Int { 2 }\n")
        #expect(try build(fast).isDirect)
        let library = try package.library()
        #expect(library.firstRange(of: Data("hearth_plugin_entry".utf8)) != nil)
    }

    @Test("refusals say what to do")
    func refusals() throws {
        let package = try TinyPackage()
        defer { try? package.remove("") }
        let unknown = #expect(throws: BuildFailure.self) {
            try PackageBuild(directory: package.directory, configuration: .debug).build(products: ["Nope"])
        }
        #expect(unknown?.reason == .package)
        #expect(unknown?.description == "the package in \(package.directory) has no product Nope; add it to Package.swift, or correct functions.json")
        let none = #expect(throws: BuildFailure.self) { try PackageBuild(directory: "/tmp", configuration: .debug) }
        #expect(none?.reason == .package)
    }
}
