import CLinux
import Testing

@testable import FunctionWorker

@Suite("What a crashed worker leaves behind")
struct CrashReportTests {
    private func report(_ crash: linux_crash) -> CrashReport? { withUnsafeBytes(of: crash) { CrashReport($0) } }

    @Test("nothing is reported while nothing has happened")
    func isEmpty() { #expect(report(linux_crash()) == nil) }

    @Test("frames are told by the file that they are from")
    func namesObjects() throws {
        var crash = linux_crash()
        (crash.state, crash.signal, crash.is_first_thread, crash.address) = (2, 11, 1, 8)
        (crash.frame_count, crash.object_count) = (3, 2)
        crash.frames.0 = linux_crash_frame(offset: 0x10, object: 1)
        crash.frames.1 = linux_crash_frame(offset: 0x20, object: 0)
        crash.frames.2 = linux_crash_frame(offset: 0x30, object: UInt64(LINUX_CRASH_OBJECTS_MAX))
        crash.objects.1.0 = 0x61
        let found = try #require(report(crash))
        #expect(found.isOnLoop)
        #expect(found.address == 8)
        #expect(found.frames == [.init(object: "a", offset: 0x10), .init(object: "", offset: 0x20), .init(object: nil, offset: 0x30)])
    }

    @Test("a worker may write whatever it likes")
    func believesNothing() {
        var random = SystemRandomNumberGenerator()
        for _ in 0..<200 {
            let bytes = (0..<MemoryLayout<linux_crash>.size).map { _ in UInt8.random(in: .min ... .max, using: &random) }
            let found = bytes.withUnsafeBytes { CrashReport($0) }
            #expect((found?.frames.count ?? 0) <= Int(LINUX_CRASH_FRAMES_MAX))
        }
        let ones = [UInt8](repeating: 0xFF, count: MemoryLayout<linux_crash>.size)
        #expect(ones.withUnsafeBytes { CrashReport($0) } == nil)
    }
}
