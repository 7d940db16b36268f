import Foundation
import Testing

@testable import FunctionDispatch

@Suite("Worker program")
struct WorkerProgramTests {
    @Test("workers are what runs now, also where that file is gone")
    func own() throws {
        let own = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        #expect(WorkerProgram.path(executable: own) == "/proc/self/exe")
        #expect(WorkerProgram.path(executable: "\(own) (deleted)") == "/proc/self/exe")
    }

    @Test("under an emulator workers are the program that it runs")
    func emulated() {
        #expect(WorkerProgram.path(executable: "/bin/sh") == "/bin/sh")
    }
}
