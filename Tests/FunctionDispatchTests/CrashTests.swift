import FunctionWorker
import Glibc
import HearthBytes
import Testing

@testable import FunctionDispatch

@Suite("Crashes in words")
struct CrashTests {
    private func words(_ signal: Int32, code: Int32 = 1, address: UInt64 = 0, stack: UInt64 = 0, message: String? = nil) -> String {
        CrashWords.describe(CrashReport(signal: signal, code: code, address: address, stack: stack), message: message)
    }

    @Test("a signal says what happened")
    func signals() {
        #expect(words(SIGILL) == "it crashed: trap: a check of Swift's failed, such as an index out of range, an overflow, or nil (signal 4, SIGILL)")
        #expect(words(SIGILL, message: "fatal error: no") == "it crashed: fatal error: no (signal 4, SIGILL)")
        #expect(words(SIGSEGV, address: 8) == "it crashed: segmentation fault: access through a null pointer, at address 0x8 (signal 11, SIGSEGV)")
        #expect(words(SIGSEGV, address: 0x7FFF_0000, stack: 0x7FFF_1000).contains("stack overflow"))
        #expect(words(SIGSEGV, code: 128).contains("impossible address"))
        #expect(words(SIGSEGV, address: 0xABCDE, message: "fatal error: earlier").contains("access to address 0xabcde"))
        #expect(words(SIGFPE).contains("division by zero"))
    }

    @Test("the message of Swift's runtime is found in what it prints")
    func messages() {
        func found(_ text: String) -> String? { CrashWords.fatalMessage(in: Array(text.utf8).span) }
        #expect(found("Faults/Endings.swift:7: Fatal error: Index out of range\n") == "fatal error: Index out of range")
        #expect(found("Fatal error") == "fatal error")
        #expect(found("Fatal") == nil)
        #expect(found("FFatal erro") == nil)
        #expect(found("") == nil)
    }

    @Test("calls are cut to the author's, and a check that failed is named")
    func cutsCalls() {
        let answer = """
            0\tSwift runtime failure: Index out of range\tSwift runtime failure: Index out of range\t/<compiler-generated>\t0
            0\t$sSayxSicig\tSwift.Array.subscript.getter\t/<compiler-generated>\t0
            0\t$s3App4pickyS2iF\tApp.pick(Swift.Int) -> Swift.Int\t/app/a.swift\t3
            1\t$s15HearthFunctions3runyyF\tHearthFunctions.run() -> ()\t/sdk/r.swift\t9
            2\t$s3App4pickTR\tthunk for App.pick\t/<compiler-generated>\t0
            3\tmain\tmain\t\t0

            """
        let trace = CrashTrace(answer: answer, unnamed: ["lib.so+0x1"])
        #expect(trace.failure == "Index out of range")
        #expect(trace.calls == ["App.pick(Int) -> Int at /app/a.swift:3", "main"])
    }

    @Test("without an author's call all are shown, and offsets where nothing has a name")
    func showsWhatThereIs() {
        let foreign = CrashTrace(answer: "0\tswift_retain\tswift_retain\t\t0\n", unnamed: ["lib.so+0x1"])
        #expect(foreign.calls == ["swift_retain"])
        #expect(CrashTrace(answer: "0\t??\t??\t\t0\nnonsense\n\t\t\t\t\n", unnamed: ["lib.so+0x1"]).calls == ["lib.so+0x1"])
    }

    @Test(
        "names are cut to what tells functions apart",
        arguments: [
            (
                "closure #3 @Sendable (App.Request<Swift.Int>) -> Swift.Int in closure #1 () -> Swift.Array<App.Definition> in "
                    + "variable initialization expression of App.functions : App.Functions",
                "closure #3 (App.Request<Swift.Int>) -> Swift.Int in App.functions"
            ),
            (
                "function signature specialization <Arg[0] = Dead, Arg[1] = [Closure Propagated : () -> ()]> of "
                    + "closure #13 () -> () in App.functions.getter : X",
                "closure #13 () -> () in App.functions"
            ),
            ("(2) suspend resume partial function for generic specialization <[A<B>]> of App.run() async -> ()", "App.run() async -> ()"),
            ("(extension in App):Swift.Int.half() -> Swift.Int", "(extension in App):Swift.Int.half() -> Swift.Int"),
            ("closure #1 () -> () in static App.pick(Swift.Int) -> Swift.Int", "closure #1 () -> () in static App.pick(Swift.Int) -> Swift.Int"),
            ("generic specialization <", "generic specialization <"), ("", ""),
        ])
    func readableNames(name: String, expected: String) { #expect(CallName.readable(name[...]) == expected) }

    @Test("a long name ends with a whole word")
    func longNames() {
        let trace = CrashTrace(answer: "0\ts\t\(Array(repeating: "word", count: 100).joined(separator: " "))\t\t0\n", unnamed: [])
        #expect(trace.calls.first?.hasSuffix(" word ...") == true)
    }
}
