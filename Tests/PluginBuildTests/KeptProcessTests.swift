import Foundation
import Testing

@testable import PluginBuild

@Suite("A kept process")
struct KeptProcessTests {
    func run(_ script: String, cancellation: BuildCancellation = BuildCancellation(), received: ([UInt8]) -> Void = { _ in }) throws -> Int {
        try KeptProcess(["/bin/sh", "-c", script], environment: ["A=b"], directory: "/tmp", cancellation: cancellation).run(received)
    }

    func isAlive(_ pid: Int32) -> Bool { kill(pid, 0) == 0 }

    @Test("its outputs, environment, folder and status come back")
    func output() throws {
        var bytes: [UInt8] = []
        let status = try run("echo $A; pwd >&2; exit 7") { bytes += $0 }
        #expect(String(decoding: bytes, as: UTF8.self) == "b\n/tmp\n")
        #expect(status == 7)
    }

    @Test("a signal that ended it is told apart")
    func signal() throws {
        #expect(try run("kill -TERM $$") == 128 + Int(SIGTERM))
    }

    @Test("a program that is not there")
    func missing() throws {
        let process = try KeptProcess(["/nothing/here"], environment: [], directory: "/tmp", cancellation: BuildCancellation())
        #expect(process.run { _ in } == 127)
    }

    @Test("nothing that it started is left when it ends, whatever session that made for itself")
    func noOrphans() throws {
        var bytes: [UInt8] = []
        let status = try run("setsid sh -c 'echo $$; sleep 1000 & echo $!; wait' & sleep 0.2") { bytes += $0 }
        let pids = String(decoding: bytes, as: UTF8.self).split(separator: "\n").compactMap { Int32($0) }
        #expect(status == 0)
        #expect(pids.count == 2)
        for pid in pids { #expect(!isAlive(pid)) }
    }

    @Test("cancelling ends it and all that it started")
    func cancelled() throws {
        let cancellation = BuildCancellation()
        var pids: [Int32] = []
        var text = ""
        _ = try run("setsid sh -c 'trap \"\" TERM INT; echo $$; sleep 1000 & echo $!; wait' & wait", cancellation: cancellation) {
            text += String(decoding: $0, as: UTF8.self)
            pids = text.split(separator: "\n").compactMap { Int32($0) }
            if pids.count == 2 { cancellation.cancel() }
        }
        #expect(pids.count == 2)
        for pid in pids { #expect(!isAlive(pid)) }
    }

    @Test("what was cancelled before does not run on")
    func cancelledBefore() throws {
        let cancellation = BuildCancellation()
        cancellation.cancel()
        #expect(try run("sleep 1000", cancellation: cancellation) == 128 + Int(SIGKILL))
    }
}
