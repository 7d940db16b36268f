import Testing
import WorkerProtocol

@testable import FunctionWorker

@Suite("Open invocations")
struct OpenInvocationsTests {
    let id = InvocationID(slot: 3, generation: 9)

    @Test("an answer counts once, and only for who is open")
    func answersOnce() {
        var open = OpenInvocations()
        open.open(id, takesChunks: false)
        let closed = [open.close(id), open.close(id), open.close(InvocationID(slot: 3, generation: 8)), open.close(InvocationID(rawValue: 0))]
        #expect(closed == [true, false, false, false])
        #expect(open.count == 0)
    }

    @Test("a slot that is used again belongs to the newcomer alone")
    func forgetsPredecessor() {
        var open = OpenInvocations()
        open.open(id, takesChunks: true)
        let next = InvocationID(slot: 3, generation: 10)
        open.open(next, takesChunks: false)
        #expect(open.count == 1)
        #expect(!open.contains(id))
        #expect(open.contains(next))
        let flow = open.send(id, size: 1)
        #expect(flow == .gone)
    }

    @Test("chunks go through until the window is full, and again when half of it was read")
    func holdsBack() {
        var open = OpenInvocations()
        open.open(id, takesChunks: true)
        let first = open.send(id, size: OpenInvocations.windowBytes)
        let second = open.send(id, size: 1)
        let early = open.acknowledge(id, size: 1)
        let late = open.acknowledge(id, size: OpenInvocations.windowBytes / 2)
        let again = open.acknowledge(id, size: 1)
        #expect(first == .goOn)
        #expect(second == .pressure)
        #expect([early, late, again] == [false, true, false])
    }

    @Test("who does not wait is not listened to for ever")
    func isBounded() {
        var open = OpenInvocations()
        open.open(id, takesChunks: true)
        var flows: Set<PluginFlow> = []
        for _ in 0..<20 { flows.insert(open.send(id, size: 1 << 20)) }
        #expect(flows == [.pressure, .gone])
    }

    @Test("nobody gets chunks who has not asked for them, or who left")
    func needsReader() {
        var open = OpenInvocations()
        open.open(id, takesChunks: false)
        let unasked = open.send(id, size: 1)
        open.open(id, takesChunks: true)
        open.stopChunks(id)
        let left = open.send(id, size: 1)
        let response = open.allowChunks(id)
        #expect([unasked, left, response] == [.gone, .gone, .gone])
    }
}
