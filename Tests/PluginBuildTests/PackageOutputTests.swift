import Testing

@testable import PluginBuild

@Suite("What swift build prints")
struct PackageOutputTests {
    /// Reads `text` in pieces of `size` bytes.
    func read(_ text: String, pieces size: Int = 7) -> (steps: [PackageOutput.Step], diagnostics: String) {
        var output = PackageOutput()
        var steps: [PackageOutput.Step] = []
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            output.read(Array(rest.prefix(size))) { steps.append($0) }
            rest = rest.dropFirst(size)
        }
        output.finish { steps.append($0) }
        return (steps, String(decoding: output.diagnostics, as: UTF8.self))
    }

    @Test("steps on one side, diagnostics exactly on the other")
    func takesApart() {
        let diagnostics = """
            /p/S.swift:26:24: error: cannot convert return expression of type 'String' to return type 'Int'
            24 |     return clean
               |            `- error: cannot convert

            [not a step]
            """
        let (steps, rest) = read("[0/1] Planning build\nBuilding for debugging...\n[3/5] Compiling Messages S.swift\n\(diagnostics)\n")
        #expect(steps.map(\.text) == ["Planning build", "Building for debugging...", "Compiling Messages S.swift"])
        #expect(steps.last == PackageOutput.Step(number: 3, count: 5, text: "Compiling Messages S.swift"))
        #expect(rest == diagnostics + "\n")
    }

    @Test("a last line without an end counts")
    func unfinished() {
        #expect(read("error: no product named 'X'").diagnostics == "error: no product named 'X'\n")
    }

    @Test("what only looks like a step is none", arguments: ["[1/2]", "[2/1] text", "[a/2] text", "[1/2]text", "[-1/2] text", "[/] text", "]1/[ "])
    func lookalikes(_ line: String) {
        #expect(PackageOutput.step(Array(line.utf8)) == nil)
    }
}
