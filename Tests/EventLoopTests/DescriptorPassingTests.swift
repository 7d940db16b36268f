import CLinux
import EventLoop
import Glibc
import Testing

/// Descriptors that arrive where they cannot be used are closed: the sender chooses their number.
@Suite("Passing of descriptors")
struct DescriptorPassingTests {
    /// Whether the writing end of the pipe of `reading` is still open anywhere.
    private func hasWriter(_ reading: Int32) -> Bool {
        var watched = pollfd(fd: reading, events: Int16(POLLIN), revents: 0)
        poll(&watched, 1, 0)
        return watched.revents & Int16(POLLHUP) == 0
    }

    @Test("a message that was cut leaves none open")
    func cutMessage() throws {
        let (one, other) = try MessageChannel.pair()
        defer { for end in [one, other] { close(end) } }
        var ends: [Int32] = [-1, -1]
        #expect(pipe(&ends) == 0)
        defer { close(ends[0]) }
        let bytes = [UInt8](repeating: 1, count: 100)
        #expect(linux_send_descriptors(one, bytes, bytes.count, [ends[1]], 1) == 100)
        close(ends[1])
        #expect(hasWriter(ends[0]))
        var room = [UInt8](repeating: 0, count: 10)
        var descriptors = [Int32](repeating: -1, count: Int(LINUX_DESCRIPTORS_MAX))
        var count = 0
        #expect(linux_receive_descriptors(other, &room, room.count, &descriptors, &count) == -Int(EMSGSIZE))
        #expect(count == 0)
        #expect(!hasWriter(ends[0]))
    }

    @Test("a descriptor that cannot become a stream is closed")
    func refusedStream() throws {
        let loop = try EventLoop()
        // O_PATH, which Glibc's module does not have: nothing can be read or written through such a descriptor.
        var template = Array("/tmp/hearth-path-XXXXXX".utf8CString)
        let folder = try #require(mkdtemp(&template).map { String(cString: $0) })
        defer { rmdir(folder) }
        let file = open(folder, 0o10000000 | O_CLOEXEC)
        #expect(file >= 0)
        var (before, after) = (stat(), stat())
        #expect(fstat(file, &before) == 0)
        #expect(throws: LoopError.self) { try Stream.adopting(descriptor: file, loop: loop) }
        // Another test may have got the number since.
        #expect(fstat(file, &after) != 0 || after.st_ino != before.st_ino || after.st_dev != before.st_dev)
    }
}
