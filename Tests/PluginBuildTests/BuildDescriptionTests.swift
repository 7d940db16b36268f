import Foundation
import Testing

@testable import PluginBuild

/// A description as the package manager writes it, cut down to one plugin with one module below it.
let exampleDescription: String = {
    let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    return (try? String(contentsOf: tests.appendingPathComponent("Fuzz/Build/corpus/tiny.yaml"), encoding: .utf8)) ?? ""
}()

@Suite("The package manager's plan")
struct BuildDescriptionTests {
    func plan(_ text: String = exampleDescription) throws -> ProductPlan? {
        ProductPlan(try BuildDescription(parsing: Array(text.utf8)), library: "/debug/libTiny.so", directory: "/p")
    }

    func modules(_ steps: [ProductPlan.Step]?) -> [String]? { steps?.map { $0.arguments.last ?? "" } }

    @Test("sources, guards and folders of a product")
    func reads() throws {
        let plan = try #require(try plan())
        #expect(Set(plan.sources) == ["/p/Sources/Tiny/Tiny.swift", "/p/Sources/Shared/Shared.swift"])
        #expect(plan.guards == ["/p/Package.swift"])
        #expect(plan.trees == ["/p/Sources/Tiny", "/p/Sources/Shared"])
    }

    @Test("only what a change concerns is run, in order")
    func chooses() throws {
        let plan = try #require(try plan())
        #expect(modules(plan.steps(for: ["/p/Sources/Tiny/Tiny.swift"])) == ["-parseable-output", "-emit-library"])
        #expect(modules(plan.steps(for: ["/p/Sources/Shared/Shared.swift"])) == ["Shared", "-parseable-output", "-emit-library"])
        #expect(modules(plan.steps(for: [])) == [])
    }

    @Test(
        "what is not understood is the package manager's",
        arguments: [
            ("tool: shell\n    inputs: [\"/p/Sources/Tiny", "tool: mystery\n    inputs: [\"/p/Sources/Tiny"),
            ("args: [\"/opt/swift/usr/bin/swiftc\",\"-module-name\",\"Tiny\"", "args: [\"/bin/sh\",\"-c\",\"Tiny\""),
            ("description: \"Compiling Swift Module 'Tiny' (1 sources)\"", "env: {\"A\": \"b\"}"),
        ])
    func declines(_ old: String, _ new: String) throws {
        let text = exampleDescription.replacingOccurrences(of: old, with: new)
        try #require(text != exampleDescription)
        #expect(try plan(text)?.steps(for: ["/p/Sources/Tiny/Tiny.swift"]) == nil)
    }

    @Test("there is no plan for a product that is not there, or is there twice")
    func noPlan() throws {
        #expect(try plan(exampleDescription.replacingOccurrences(of: "libTiny.so", with: "libTiny.a")) == nil)
        let again = "\"C.Again\":\n    tool: shell\n    outputs: [\"/q/debug/libTiny.so\"]\n\n  "
        let twice = exampleDescription.replacingOccurrences(of: "\"PackageStructure\":", with: "\(again)\"PackageStructure\":")
        #expect(try plan(twice) == nil)
    }

    @Test("circles end")
    func circles() throws {
        let text = exampleDescription.replacingOccurrences(
            of: "inputs: [\"/p/Sources/Shared/Shared.swift\"]", with: "inputs: [\"/p/.build/debug/Modules/Tiny.swiftmodule\"]")
        _ = try plan(text)
    }

    @Test("malformed text is refused with its line", arguments: [("  no quotes:", 2), ("  \"a\":\n    inputs: [1]", 3), ("      deep: 1", 2)])
    func malformed(_ text: String, _ line: Int) {
        #expect(throws: BuildDescription.Malformed(line: line)) { try BuildDescription(parsing: Array("commands:\n\(text)\n".utf8)) }
    }

    @Test("lists of read files, as compilers write them for make")
    func dependencies() {
        let text = "dependencies: /p/a.c \\\n  /p/with\\ space.h /p/dollar$$.h \\\n  /p/hash\\#.h\n"
        #expect(DependencyFile.parse(Array(text.utf8)) == ["/p/a.c", "/p/with space.h", "/p/dollar$.h", "/p/hash#.h"])
        #expect(DependencyFile.parse([]) == [])
    }
}

@Suite("Texts by chance")
struct BuildDescriptionFuzzTests {
    func number(_ name: String, _ otherwise: Int) -> Int {
        ProcessInfo.processInfo.environment[name].flatMap { Int($0) } ?? otherwise
    }

    /// Every text is refused or parsed, and a plan made from it ends.
    @Test("no text does harm")
    func mutations() {
        let seed = number("HEARTH_FUZZ_SEED", Int(Date().timeIntervalSince1970))
        var state = UInt64(bitPattern: Int64(seed)) | 1
        func random(_ bound: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % max(1, bound)
        }
        for round in 0..<number("HEARTH_FUZZ_ROUNDS", 3000) {
            var bytes = Array(exampleDescription.utf8)
            for _ in 0...random(6) {
                let at = random(bytes.count)
                switch random(4) {
                case 0: bytes[at] = UInt8(random(256))
                case 1: bytes.removeSubrange(at..<min(bytes.count, at + random(40)))
                case 2: bytes.insert(contentsOf: bytes[at..<min(bytes.count, at + random(60))], at: random(bytes.count))
                default: bytes.insert(contentsOf: Array("\n\":[]\\ ".utf8).shuffled().prefix(2), at: at)
                }
                if bytes.isEmpty { bytes = [10] }
            }
            guard let description = try? BuildDescription(parsing: bytes) else { continue }
            let plan = ProductPlan(description, library: "/debug/libTiny.so", directory: "/p")
            let steps = plan?.steps(for: ["/p/Sources/Tiny/Tiny.swift"]) ?? []
            let isPlain = steps.allSatisfy { $0.isPlain }
            let isApart = plan.map { $0.products.isDisjoint(with: $0.sources) } ?? true
            #expect(isPlain && isApart, "seed \(seed), round \(round)")
            _ = DependencyFile.parse(bytes)
        }
    }
}
