import Glibc
import Synchronization
import Testing

@testable import AccountNotices

@Suite struct NoticeQueueTests {
    /// Results in order, and the notices and reports that came.
    private final class Record: Sendable {
        let results: Mutex<[NoticeAttempt]>
        let sent = Mutex<[String]>([])
        let reports = Mutex<[String]>([])

        init(_ results: [NoticeAttempt]) { self.results = Mutex(results) }

        func queue(_ limits: NoticeQueue.Limits) -> NoticeQueue {
            NoticeQueue(limits: limits) { [self] notice in
                sent.withLock { $0.append(notice.secret) }
                return results.withLock { $0.isEmpty ? .sent : $0.removeFirst() }
            } report: { [self] _, attempts, reason, isFinal in
                reports.withLock { $0.append("\(attempts) \(reason)\(isFinal ? " final" : "")") }
            }
        }

        func until(_ condition: (Record) -> Bool) -> Bool {
            for _ in 0..<5000 {
                if condition(self) { return true }
                usleep(2000)
            }
            return false
        }
    }

    private func notice(_ secret: String = "1") -> Notice { Notice(.textMessage, to: "+491", secret: secret) }

    private func limits(waiting: Int = 10, attempts: Int = 3) -> NoticeQueue.Limits {
        NoticeQueue.Limits(threadsMax: 1, waitingMax: waiting, attempts: attempts, pauseMilliseconds: 1)
    }

    @Test func failuresAreTriedAgain() {
        let record = Record([.failed("a"), .failed("b"), .sent])
        let queue = record.queue(limits())
        #expect(queue.add(notice()))
        #expect(record.until { $0.sent.withLock { $0.count } == 3 })
        #expect(record.reports.withLock { $0 } == ["1 a", "2 b"])
    }

    @Test func lastAttemptIsFinal() {
        let record = Record([.failed("a"), .failed("b"), .failed("c"), .sent])
        let queue = record.queue(limits())
        #expect(queue.add(notice()))
        #expect(record.until { $0.reports.withLock { $0.count } == 3 })
        #expect(record.reports.withLock { $0 } == ["1 a", "2 b", "3 c final"])
        #expect(record.sent.withLock { $0.count } == 3)
        #expect(queue.waiting == 0)
    }

    @Test func refusalIsFinal() {
        let record = Record([.refused("a")])
        #expect(record.queue(limits()).add(notice()))
        #expect(record.until { $0.reports.withLock { $0 } == ["1 a final"] })
        #expect(record.sent.withLock { $0.count } == 1)
    }

    @Test func waitingNoticesAreBounded() {
        let gate = Mutex(true)
        let queue = NoticeQueue(limits: limits(waiting: 2)) { _ in
            while gate.withLock({ $0 }) { usleep(1000) }
            return .sent
        } report: { _, _, _, _ in }
        #expect(queue.add(notice("0")))
        while queue.waiting > 0 { usleep(1000) }
        #expect(queue.add(notice("1")))
        #expect(queue.add(notice("2")))
        #expect(!queue.add(notice("3")))
        gate.withLock { $0 = false }
        while queue.waiting > 0 { usleep(1000) }
        #expect(queue.add(notice("4")))
    }

    @Test func closedQueueTakesNothing() {
        let record = Record([.failed("a"), .failed("b")])
        var slow = limits()
        slow.pauseMilliseconds = 60_000
        let queue = record.queue(slow)
        #expect(queue.add(notice()))
        #expect(record.until { $0.reports.withLock { $0 } == ["1 a"] })
        #expect(queue.close() == 1)
        #expect(!queue.add(notice()))
        #expect(queue.waiting == 0)
    }

    @Test func nothingConfigured() throws {
        let service = NoticeService(mail: nil, texts: nil, templates: try NoticeTemplates(), applicationName: "App") { _ in }
        #expect(service.send(notice()) == .notConfigured)
        #expect(service.send(Notice(.signIn, to: "a@b", secret: "x")) == .notConfigured)
    }
}
